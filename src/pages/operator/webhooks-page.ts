import type { FailingWebhook } from '../../payment/payment-search-store.ts';
import { dataTable, headings, numbers, sentences } from '../../web/design/data-table.ts';
import { type Html, html } from '../../web/design/html.ts';
import { utcTime } from '../../web/signed-in/format.ts';
import type { PageView } from '../../web/signed-in/pages.ts';
import { webhookBadge } from '../../web/signed-in/payment-words.ts';
import { reasonSentence } from '../../webhooks/delivery-reasons.ts';
import { accountLink, type OperatorRoutes, type OperatorVisit, paymentLink } from './operator-page.ts';

const READ_LIMIT = 500;
const SHOWN = 50;

export function registerWebhooksPage(routes: OperatorRoutes): void {
  routes.pages('webhooks').page('/webhooks', showWebhooks);
}

async function showWebhooks({ context }: OperatorVisit): Promise<PageView> {
  const failing = await context.search.listFailingWebhooks(null, READ_LIMIT);
  return {
    title: 'Webhooks',
    main: html`<p>An event is sent at most once. If it does not arrive, the shop reads the payment’s status.
“Unknown” means that delivery was interrupted and the event may have arrived.</p>
${
  failing.length === 0
    ? html`<p class="banner plain">All webhooks were delivered.</p>`
    : html`${hostTable(failing)}<h2>Latest</h2>${webhookTable(failing.slice(0, SHOWN))}`
}`,
  };
}

const countOf = (webhooks: readonly FailingWebhook[], status: FailingWebhook['status']) =>
  webhooks.filter((webhook) => webhook.status === status).length;

function hostTable(failing: readonly FailingWebhook[]): Html {
  const hosts = [...Map.groupBy(failing, ({ host }) => host)];
  return html`<h2>By host</h2><p class="soft small">Among the last ${READ_LIMIT} that did not arrive.</p>
${dataTable('Hosts', hosts.slice(0, SHOWN), {
  Host: headings(([host]) => html`<bdi>${host === '' ? 'not kept' : host}</bdi>`),
  Failed: numbers(([, webhooks]) => countOf(webhooks, 'failed')),
  Blocked: numbers(([, webhooks]) => countOf(webhooks, 'blocked')),
  Unknown: numbers(([, webhooks]) => countOf(webhooks, 'unknown')),
  'Last reason': sentences(([, [newest]]) => reasonSentence(newest?.reason ?? null)),
  Last: ([, [newest]]) => (newest === undefined ? null : utcTime(newest.finishedAtMs)),
})}`;
}

function webhookTable(webhooks: readonly FailingWebhook[]): Html {
  return dataTable('Webhooks', webhooks, {
    When: ({ finishedAtMs }) => utcTime(finishedAtMs),
    Outcome: sentences(
      ({ status, reason }) =>
        html`${webhookBadge(status)} <span class="small">${reasonSentence(reason)}</span>`,
    ),
    Host: ({ host }) => (host === '' ? null : html`<bdi>${host}</bdi>`),
    Payment: ({ paymentId }) => paymentLink(paymentId),
    Account: ({ accountId }) => accountLink(accountId),
  });
}
