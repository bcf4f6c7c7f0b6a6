import { recordAction } from '../../../accounts/people-context.ts';
import { ServiceError } from '../../../domain/errors.ts';
import { currencies } from '../../../domain/money.ts';
import { parsePayoutAddress } from '../../../domain/payout-address.ts';
import { shortCodeOf } from '../../../domain/short-code.ts';
import { createPayment } from '../../../payments/create-payment.ts';
import { providerChoices } from '../../../payments/parse-payment-query.ts';
import { readPaymentStory } from '../../../payments/read-payment-story.ts';
import { parseCreateRequest } from '../../api/parse-create-request.ts';
import { type Html, html, nothing } from '../../design/html.ts';
import type { DashboardContext, DashboardRoutes } from '../context.ts';
import {
  type DashboardView,
  dashboardForm,
  dashboardPage,
  type SeeOther,
  seeOther,
} from '../dashboard-page.ts';
import { notice, textField } from '../fields.ts';
import type { FormFields } from '../form-fields.ts';
import { formTokenField } from '../form-token.ts';
import { formatMoney } from '../format-amount.ts';
import { providerName } from '../payments/payment-words.ts';
import { DASHBOARD_PATH } from '../sections.ts';
import type { Visit } from '../visit.ts';
import { qrCode } from './qr-code.ts';

/** A checkout made by hand, to be sent to somebody or shown to them. */
export function registerLinkPages(routes: DashboardRoutes): void {
  const { context } = routes;
  const own = { section: 'links', role: 'developer' } as const;
  dashboardPage(routes, { ...own, path: '/links', show: async (visit) => formView(visit, null) });
  dashboardForm(routes, { ...own, path: '/links', act: (visit, form) => makeLink(context, visit, form) });
  dashboardPage(routes, { ...own, path: '/links/:paymentId', show: (visit) => showLink(context, visit) });
}

/** Through the API's own checks and the API's own step. */
async function makeLink(
  context: DashboardContext,
  visit: Visit,
  form: FormFields,
): Promise<DashboardView | SeeOther> {
  const given = (name: string) => form.text(name).trim() || null;
  try {
    const parameters = {
      address: visit.account.wallet ?? given('address'),
      callback: visit.account.defaultCallbackUrl ?? given('callback'),
      amount: given('amount'),
      currency: given('currency'),
      provider: given('provider'),
      email: given('email'),
      note: given('note'),
      passFeeToCustomer: form.has('passFeeToCustomer'),
    };
    const parsing = { callbacks: context.callbacks, parsePayoutAddress };
    const request = await parseCreateRequest(parsing, parameters, 'json', null);
    const payment = await createPayment(context.create, visit.account, request);
    await recordAction(context, visit.account.id, visit.actor, 'link.created', payment.id);
    return seeOther(`/links/${payment.id}`);
  } catch (error) {
    if (!(error instanceof ServiceError) || error.status === 500) throw error;
    return { ...formView(visit, form, notice('bad', error.message)), status: error.status };
  }
}

function formView(
  { account, formToken }: Visit,
  form: FormFields | null,
  said: Html = nothing,
): DashboardView {
  const value = (name: string) => form?.text(name) ?? '';
  return {
    title: 'Payment links',
    main: html`${said}<p>Make a checkout by hand and send its link, or show its QR code.</p>
<form class="card" method="post" action="${DASHBOARD_PATH}/links">${formTokenField(formToken)}
<div class="grid">${textField({ name: 'amount', label: 'Amount', value: value('amount'), hint: 'From 0.01 to 10000' })}
${choice('currency', 'Currency', currencies, value('currency'), (name) => name)}
${choice('provider', 'Provider', providerChoices, value('provider'), providerName)}
${textField({ name: 'email', label: 'Customer’s e-mail address', type: 'email', value: value('email'), isOptional: true, hint: 'Fills in the field at the provider' })}</div>
<div class="field"><label for="note">Note</label><textarea id="note" name="note" rows="2" maxlength="1000" aria-describedby="note-hint">
${value('note')}</textarea>
<p class="hint" id="note-hint">Public: whoever gets the short link sees it in previews. Not on the checkout page itself; at most 500 characters.</p></div>
<p><label><input type="checkbox" name="passFeeToCustomer" value="1"${form?.has('passFeeToCustomer') ? html` checked` : nothing}> The customer pays the fee on top</label></p>
${account.wallet === null ? textField({ name: 'address', label: 'Payout wallet', value: value('address'), hint: 'A Polygon address (0x…); the settings can keep one' }) : html`<p>Paid out to <code>${account.wallet}</code></p>`}
${account.defaultCallbackUrl === null ? textField({ name: 'callback', label: 'Webhook address', type: 'url', value: value('callback'), hint: 'https; gets the signed event. The settings can keep one' }) : html`<p>The event goes to <code>${account.defaultCallbackUrl}</code></p>`}
<p class="actions"><button class="button primary">Make the link</button></p></form>`,
  };
}

function choice<Value extends string>(
  name: string,
  label: string,
  values: readonly Value[],
  chosen: string,
  wordsOf: (value: Value) => string,
): Html {
  return html`<div class="field"><label for="${name}">${label}</label><select id="${name}" name="${name}">${values.map(
    (value) =>
      html`<option value="${value}"${value === chosen ? html` selected` : nothing}>${wordsOf(value)}</option>`,
  )}</select></div>`;
}

async function showLink(context: DashboardContext, visit: Visit): Promise<DashboardView> {
  const { payment } = await readPaymentStory(context, visit.account.id, visit.params['paymentId'] ?? '');
  const url = `${context.baseUrl}/s/${shortCodeOf(payment.id)}`;
  return {
    title: 'Your payment link',
    main: html`<section class="card"><h2>${formatMoney(payment.amountCents, payment.currency)} ${payment.currency}</h2>
<p><a href="${url}"><code>${url}</code></a></p>
${qrCode(url)}
${payment.note === null ? nothing : html`<p class="notice plain">In previews of this link anybody can read: <bdi>${payment.note}</bdi></p>`}
<p class="actions"><a class="button" href="${DASHBOARD_PATH}/payments/${payment.id}">The payment</a><a class="button" href="${DASHBOARD_PATH}/links">Make another</a></p></section>`,
  };
}
