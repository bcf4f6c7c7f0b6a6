import { parseCreateRequest } from '../../api/parse-create-request.ts';
import { readOwnHistory, walletCard } from '../../pages/dashboard/payment-detail.ts';
import { paymentTable } from '../../pages/dashboard/payment-list-page.ts';
import { confirmedForm, requirePasswordAndFactor } from '../../pages/dashboard/security-pages.ts';
import { meantField, meantWalletOf } from '../../pages/dashboard/settings-pages.ts';
import {
  type CreatePaymentRequest,
  createDirectPayment,
  createPayment,
} from '../../payment/create-payment.ts';
import { currencies, formatCents } from '../../payment/money.ts';
import { isDirect, LINK_ORIGIN, type Payment } from '../../payment/payment.ts';
import { shortCodeOf } from '../../payment/payment-id.ts';
import { ORDER_LINE_CHARACTERS, parseLine, parseTypedAmount } from '../../payment/typed-input.ts';
import { providerChoices } from '../../reports/parse-payment-query.ts';
import { type Html, html, nothing } from '../../web/design/html.ts';
import { qrCodeToSave } from '../../web/design/qr-code.ts';
import { DASHBOARD_PATH, record, type Visit } from '../../web/signed-in/context.ts';
import { moneyText } from '../../web/signed-in/format.ts';
import { type Field, type Fields, type FormFields, formFields, optional } from '../../web/signed-in/forms.ts';
import {
  type DashboardRoutes,
  type FormHandler,
  type PageView,
  seeOther,
} from '../../web/signed-in/pages.ts';
import { copyField, providerName } from '../../web/signed-in/payment-words.ts';
import type { PaymentPage } from './payment-page.ts';

const LINKS_SHOWN = 20;

export const getPaidSection = { after: 'analytics', group: 'Get paid', role: 'developer' } as const;

export function registerLinkPages(routes: DashboardRoutes): void {
  const pages = routes.pages({ ...getPaidSection, label: 'Payment links', path: '/links' }, 'developer');
  for (const kind of Object.values(kinds)) {
    const show = async (visit: Visit) => {
      const links = await visit.context.payments.listByOrigin(visit.account.id, LINK_ORIGIN, LINKS_SHOWN);
      const main = await formView(kind, visit);
      return { title: kind.title, main: html`${main}${await linksCard(links, visit)}` };
    };
    pages.page(kind.path, show);
    pages.form(kind.path, answerCreate(kind), show);
  }
  pages.page('/links/:paymentId', showLink);
}

const kinds = {
  card: {
    create: createPayment,
    path: '/links',
    title: 'Payment links',
    intro: 'Create a checkout and send its link, or show its QR code.',
    button: 'Create link',
    other: html`<a class="button" href="${DASHBOARD_PATH}/links/direct">USDC from a wallet instead</a>`,
  },
  direct: {
    create: createDirectPayment,
    path: '/links/direct',
    title: 'USDC from a wallet',
    intro:
      'Request USDC from a customer’s own wallet, without a card. The full amount must arrive; ' +
      'other currencies are converted once, at creation. Your account’s fee is deducted when the USDC is forwarded to you.',
    button: 'Create payment',
    other: html`<a class="button" href="${DASHBOARD_PATH}/links">By card instead</a>`,
  },
} as const;
type Kind = (typeof kinds)[keyof typeof kinds];

/** Renders the form. A wallet field requires the password, because a stolen session must not redirect money. */
async function formView(kind: Kind, visit: Visit): Promise<Html> {
  const action = `${DASHBOARD_PATH}${kind.path}`;
  const fields = kind === kinds.card ? linkFields : commonFields;
  const { amount, currency, email, ...others } = fields;
  const form = await confirmedForm(visit, {
    action,
    style: 'card',
    introduction: html`<div class="grid">${formFields(visit, action, { amount, currency, email })}</div>
${formFields(visit, action, others)}
${destinationFields(visit, action)}`,
    isConfirmed: visit.account.wallet === null,
    button: kind.button,
    more: kind.other,
  });
  return html`<p>${kind.intro}</p>${form}`;
}

const orderLineHint = `The customer sees it. At most ${ORDER_LINE_CHARACTERS} characters.`;

const commonFields = {
  amount: { label: 'Amount', hint: 'From 0.01 to 10000, for example 12.50' },
  currency: { label: 'Currency', type: 'select', options: currencies },
  email: optional('Customer’s email', '', 'Included in your webhooks', 'email'),
  order_line: optional('What the customer pays for', '', orderLineHint),
  note: {
    label: 'Note',
    type: 'textarea',
    hint: 'Public: previews of the short link show it. Not shown on the checkout page. At most 500 characters.',
  },
} satisfies Fields;

export const linkFields = {
  ...commonFields,
  email: { ...commonFields.email, hint: 'Prefilled at the provider' },
  provider: {
    label: 'Provider',
    type: 'select',
    options: providerChoices,
    wordsOf: (provider) => providerName(provider as Payment['provider']),
  },
  passFeeToCustomer: {
    label: 'The customer pays the account’s fee on top',
    type: 'checkbox',
    hint: 'This covers the account’s fee only. The provider’s fee is separate and reduces what you receive.',
  },
} satisfies Fields;

/** Renders the account's payout wallet and webhook URL, or form fields for those that are not set. */
export function destinationFields(
  visit: Visit,
  action: string,
  { payoutAddress, callbackUrl }: Partial<Pick<PaymentPage, 'payoutAddress' | 'callbackUrl'>> = {},
): Html {
  const { wallet, defaultCallbackUrl } = visit.account;
  return html`${formFields(visit, action, {
    ...(wallet === null
      ? { address: { ...address, value: payoutAddress ?? '' }, ...meantField(visit, 'address') }
      : {}),
    ...(defaultCallbackUrl === null
      ? { callback: optional('Webhook address', callbackUrl, callbackHint, 'url') }
      : {}),
  })}
${wallet === null ? nothing : html`<p>Paid out to <code>${wallet}</code></p>`}
${defaultCallbackUrl === null ? nothing : html`<p>The event goes to <code>${defaultCallbackUrl}</code></p>`}`;
}

const address: Field = {
  label: 'Payout wallet',
  hint: 'A Polygon address (0x…). You can save one in the settings.',
};
const callbackHint =
  'The https URL that receives the signed event. Without one, no event is sent. You can save one in the settings.';

async function showLink(visit: Visit): Promise<PageView> {
  const { context } = visit;
  const history = await readOwnHistory(visit);
  const { payment } = history;
  const url = `${context.baseUrl}/s/${shortCodeOf(payment.id)}`;
  return {
    title: 'Your payment link',
    main: html`<section class="card"><h2>${moneyText(payment.amountCents, payment.currency)}</h2>
${payment.orderLine === null ? nothing : html`<p><bdi>${payment.orderLine}</bdi></p>`}
${copyField('link-url', 'Link', url)}
<p class="actions"><button class="button primary" type="button" data-copies="link-url" hidden>Copy link</button><a class="button"
href="${DASHBOARD_PATH}/payments/${payment.id}">View payment</a><a class="button"
href="${DASHBOARD_PATH}/links${isDirect(payment) ? '/direct' : ''}">Create another</a><span id="copied" role="status"></span></p>
${qrCodeToSave(url, 'QR code of the link')}
${payment.note === null ? nothing : html`<p class="banner plain">Previews of this link show the note: <bdi>${payment.note}</bdi></p>`}</section>
${walletCard(context, history)}`,
  };
}

const answerCreate =
  ({ create }: Kind): FormHandler =>
  async (visit, form) => {
    const request = await readLinkForm(visit, form);
    if (visit.account.wallet === null)
      await requirePasswordAndFactor(visit, form, { address: () => meantWalletOf(form, 'address') });
    const payment = await create(visit.context.create, visit.account, request);
    await record(visit, 'link.created', payment.id);
    return seeOther(`/links/${payment.id}`);
  };

/** Reads the form with the API's validation. Settings of the account take precedence. Throws `ServiceError`. */
async function readLinkForm({ context, account }: Visit, form: FormFields): Promise<CreatePaymentRequest> {
  const given = (name: string) => form.text(name).trim() || null;
  const callbackUrl = account.defaultCallbackUrl ?? given('callback');
  const orderLine = given('order_line');
  const order = {
    origin: LINK_ORIGIN,
    orderLine: orderLine === null ? null : parseLine('order line', orderLine, ORDER_LINE_CHARACTERS),
  };
  const parameters = {
    address: account.wallet ?? given('address'),
    callback: callbackUrl ?? '',
    amount: formatCents(parseTypedAmount('amount', form.text('amount'), given('currency'))),
    currency: given('currency'),
    provider: given('provider'),
    email: given('email'),
    note: given('note'),
    passFeeToCustomer: form.has('passFeeToCustomer'),
  };
  // Skips the host check without a callback URL, because no webhook is sent.
  const guard = callbackUrl === null ? { refusalOf: async () => null } : context.callbacks;
  const request = await parseCreateRequest({ callbacks: guard }, parameters, 'json', null);
  return { ...request, callbackUrl, order };
}

export async function linksCard(
  payments: readonly Payment[],
  visit: Visit,
  label = 'Newest links',
  path = '/links',
): Promise<Html> {
  if (payments.length === 0) return nothing;
  return html`<section class="card"><h2>${label}</h2>${await paymentTable(visit, payments, path)}</section>`;
}
