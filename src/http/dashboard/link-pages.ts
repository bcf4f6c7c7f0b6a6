import { recordAction } from '../../accounts/people-context.ts';
import type { Account } from '../../domain/account.ts';
import { currencies } from '../../domain/money.ts';
import { isDirect, type Payment } from '../../domain/payment.ts';
import { shortCodeOf } from '../../domain/payment-id.ts';
import { parsePayoutAddress } from '../../domain/payout-address.ts';
import { createDirectPayment } from '../../payments/create-direct-payment.ts';
import {
  type CreatePaymentContext,
  type CreatePaymentRequest,
  createPayment,
} from '../../payments/create-payment.ts';
import { providerChoices } from '../../payments/parse-payment-query.ts';
import { readPaymentHistory } from '../../payments/payment-history.ts';
import { parseCreateRequest } from '../api/parse-create-request.ts';
import { type Html, html, nothing } from '../design/html.ts';
import { qrCode } from '../design/qr-code.ts';
import {
  DASHBOARD_PATH,
  type DashboardContext,
  type DashboardRoutes,
  type Visit,
} from '../signed-in/context.ts';
import { formatMoney } from '../signed-in/format.ts';
import {
  banner,
  type FormFields,
  formTokenField,
  optionsOf,
  selectField,
  textField,
} from '../signed-in/forms.ts';
import { dashboardPages, type PageView, type SeeOther, seeOther } from '../signed-in/signed-in-page.ts';
import { walletCard } from './payment-page.ts';
import { providerName } from './payment-words.ts';

/** A checkout link created by hand. */
export function registerLinkPages(routes: DashboardRoutes): void {
  const pages = dashboardPages(routes, 'links', 'developer');
  const formAt = (path: string, create: CreateByHand, view: typeof cardFormView) => {
    pages.page(path, async (_context, visit) => view(visit));
    pages.form(
      path,
      (context, visit, form) => answerCreate(context, visit, form, create),
      async (_context, visit, { message }, form) => view(visit, form, banner('bad', message)),
    );
  };
  formAt('/links', createPayment, cardFormView);
  formAt('/links/direct', createDirectPayment, directFormView);
  pages.page('/links/:paymentId', showLink);
}

function cardFormView({ account, formToken }: Visit, form?: FormFields, message: Html = nothing): PageView {
  const value = (name: string) => form?.text(name) ?? '';
  return {
    title: 'Payment links',
    main: html`${message}<p>Create a checkout and send its link, or show its QR code.</p>
<form class="card" method="post" action="${DASHBOARD_PATH}/links">${formTokenField(formToken)}
<div class="grid">${textField({ name: 'amount', label: 'Amount', value: value('amount'), hint: 'From 0.01 to 10000' })}
${selectField('currency', 'Currency', optionsOf(currencies, value('currency'), String))}
${selectField('provider', 'Provider', optionsOf(providerChoices, value('provider'), providerName))}
${textField({ name: 'email', label: 'Customer’s e-mail address', type: 'email', value: value('email'), isOptional: true, hint: 'Prefilled at the provider' })}</div>
${noteField(value('note'))}
<p><label><input type="checkbox" name="passFeeToCustomer" value="1"${form?.has('passFeeToCustomer') ? html` checked` : nothing}> The customer pays the account’s fee on top</label></p>
<p class="hint">This covers the account’s fee only. The provider’s fee is separate and reduces what you receive.</p>
${destinationFields(account, value)}
<p class="actions"><button class="button primary">Create link</button><a class="button" href="${DASHBOARD_PATH}/links/direct">USDC from a wallet instead</a></p></form>`,
  };
}

async function showLink(context: DashboardContext, visit: Visit): Promise<PageView> {
  const history = await readPaymentHistory(context, visit.account.id, visit.params['paymentId'] ?? '');
  const { payment } = history;
  const url = `${context.baseUrl}/s/${shortCodeOf(payment.id)}`;
  return {
    title: 'Your payment link',
    main: html`<section class="card"><h2>${formatMoney(payment.amountCents, payment.currency)} ${payment.currency}</h2>
<p><a href="${url}"><code>${url}</code></a></p>
${qrCode(url, 'QR code of the link')}
${payment.note === null ? nothing : html`<p class="banner plain">Previews of this link show the note: <bdi>${payment.note}</bdi></p>`}
<p class="actions"><a class="button" href="${DASHBOARD_PATH}/payments/${payment.id}">The payment</a><a class="button" href="${DASHBOARD_PATH}/links${isDirect(payment) ? '/direct' : ''}">Create another</a></p></section>
${walletCard(context, history)}`,
  };
}

/** A direct USDC payment created by hand. */
function directFormView({ account, formToken }: Visit, form?: FormFields, message: Html = nothing): PageView {
  const value = (name: string) => form?.text(name) ?? '';
  return {
    title: 'USDC from a wallet',
    main: html`${message}<p>Request USDC from a customer’s own wallet, without a card. The full amount must arrive. Your account’s fee is deducted when the USDC is forwarded to you.</p>
<form class="card" method="post" action="${DASHBOARD_PATH}/links/direct">${formTokenField(formToken)}
<div class="grid">${textField({ name: 'amount', label: 'Amount', value: value('amount'), hint: 'From 0.01 to 10000' })}
${selectField('currency', 'Currency', optionsOf(currencies, value('currency'), String))}
${textField({ name: 'email', label: 'Customer’s e-mail address', type: 'email', value: value('email'), isOptional: true, hint: 'Included in your webhooks' })}</div>
<p class="hint">Other currencies are converted to USDC once, at creation.</p>
${noteField(value('note'))}
${destinationFields(account, value)}
<p class="actions"><button class="button primary">Create payment</button><a class="button" href="${DASHBOARD_PATH}/links">By card instead</a></p></form>`,
  };
}

type CreateByHand = (
  context: CreatePaymentContext,
  account: Account,
  request: CreatePaymentRequest,
) => Promise<Payment>;

/** Applies the API's rules. */
async function answerCreate(
  context: DashboardContext,
  visit: Visit,
  form: FormFields,
  create: CreateByHand,
): Promise<SeeOther> {
  const request = await readLinkForm(context, visit.account, form);
  const payment = await create(context.create, visit.account, request);
  await recordAction(context, visit.account.id, visit.actor, 'link.created', payment.id);
  return seeOther(`/links/${payment.id}`);
}

/** The parameters of a form, validated like the API's; the account's settings come first. Throws `ServiceError`. */
async function readLinkForm(
  { callbacks }: DashboardContext,
  account: Account,
  form: FormFields,
): Promise<CreatePaymentRequest> {
  const given = (name: string) => form.text(name).trim() || null;
  const parameters = {
    address: account.wallet ?? given('address'),
    callback: account.defaultCallbackUrl ?? given('callback'),
    amount: given('amount'),
    currency: given('currency'),
    provider: given('provider'),
    email: given('email'),
    note: given('note'),
    passFeeToCustomer: form.has('passFeeToCustomer'),
  };
  return parseCreateRequest({ callbacks, parsePayoutAddress }, parameters, 'json', null);
}

// The fields of both forms that create a payment by hand.

function noteField(value: string): Html {
  return html`<div class="field"><label for="note">Note</label><textarea id="note" name="note" rows="2" maxlength="1000" aria-describedby="note-hint">
${value}</textarea>
<p class="hint" id="note-hint">Public: previews of the short link show it. Not shown on the checkout page. At most 500 characters.</p></div>`;
}

/** The payout wallet and the webhook URL: the account's settings, or fields of the form. */
function destinationFields(account: Account, value: (name: string) => string): Html {
  return html`${account.wallet === null ? textField({ name: 'address', label: 'Payout wallet', value: value('address'), hint: 'A Polygon address (0x…). You can save one in the settings.' }) : html`<p>Paid out to <code>${account.wallet}</code></p>`}
${account.defaultCallbackUrl === null ? textField({ name: 'callback', label: 'Webhook address', type: 'url', value: value('callback'), hint: 'The https URL that receives the signed event. You can save one in the settings.' }) : html`<p>The event goes to <code>${account.defaultCallbackUrl}</code></p>`}`;
}
