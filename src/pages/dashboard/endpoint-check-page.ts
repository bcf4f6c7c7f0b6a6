import { invalidField } from '../../payment/errors.ts';
import { type Html, html, nothing } from '../../web/design/html.ts';
import { enforceRateLimit } from '../../web/rate-windows.ts';
import { DASHBOARD_PATH, type Visit } from '../../web/signed-in/context.ts';
import { banner, cardForm } from '../../web/signed-in/forms.ts';
import type { DashboardRoutes, PageView } from '../../web/signed-in/pages.ts';
import type { EndpointStep } from '../../webhooks/delivery-types.ts';
import { readPaymentHistory } from '../../webhooks/payment-history.ts';
import { registerSigningSecret, signingSecretCard } from './signing-secret-card.ts';

/** Path of the page that tests the default endpoint, or a payment's endpoint with `?payment=`. */
export const ENDPOINT_CHECK_PATH = `${DASHBOARD_PATH}/webhook-check`;

export function registerEndpointCheckPage(routes: DashboardRoutes): void {
  registerSigningSecret(routes, showForm);
  const pages = routes.pages('webhooks', 'developer');
  pages.page('/webhook-check', showForm);
  pages.form(
    '/webhook-check',
    async (visit, form) => {
      const url = form.text('url').trim();
      await enforceRateLimit(visit.context.limits.endpointChecksOfAccount, visit.account.id);
      const steps = await visit.context.checkEndpoint(url);
      const [first] = steps;
      if (first?.name === 'URL' && first.level === 'fail') throw invalidField('url', first.detail);
      return checkView(visit, url, steps);
    },
    showForm,
  );
}

async function showForm(visit: Visit): Promise<PageView> {
  const id = visit.query.get('payment');
  const payment =
    id === null ? null : (await readPaymentHistory(visit.context, visit.account.id, id)).payment;
  return checkView(visit, (payment === null ? visit.account.defaultCallbackUrl : payment.callbackUrl) ?? '');
}

const badges = {
  ok: html`<span class="badge good">OK</span>`,
  warn: html`<span class="badge warn">warning</span>`,
  fail: html`<span class="badge bad">failed</span>`,
} as const;

function verdict(steps: readonly EndpointStep[]): Html {
  if (steps.some(({ level }) => level === 'fail'))
    return banner('bad', 'Webhooks to this endpoint fail. See the failed step below.');
  return steps.some(({ level }) => level === 'warn')
    ? banner('warn', 'Webhooks to this endpoint may fail. See the warnings below.')
    : banner('good', 'This endpoint can receive webhooks.');
}

async function checkView(
  visit: Visit,
  value: string,
  steps: readonly EndpointStep[] = [],
): Promise<PageView> {
  const results = html`<section class="card" aria-labelledby="result"><h2 id="result">Result</h2>
<dl class="facts">${steps.map(
    ({ name, level, detail }) => html`<div><dt>${name}</dt><dd>${badges[level]} ${detail}</dd></div>`,
  )}</dl></section>`;
  return {
    title: 'Test your endpoint',
    main: html`${steps.length === 0 ? nothing : verdict(steps)}
<p>The test connects to your endpoint as a webhook does, and sends a POST without body and signature.
It is not an event. An endpoint that verifies signatures refuses it.</p>
${cardForm(visit, { action: ENDPOINT_CHECK_PATH, fields: { url: { label: 'Webhook URL', type: 'url', value } }, button: 'Test endpoint' })}
${steps.length === 0 ? await signingSecretCard(visit) : results}`,
  };
}
