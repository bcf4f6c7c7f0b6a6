import { currencies } from '../../../domain/money.ts';
import { isDirect } from '../../../domain/payment.ts';
import { shortCodeOf } from '../../../domain/short-code.ts';
import { createPayment } from '../../../payments/create-payment.ts';
import { providerChoices } from '../../../payments/parse-payment-query.ts';
import { readPaymentStory } from '../../../payments/read-payment-story.ts';
import { type Html, html, nothing } from '../../design/html.ts';
import { qrCode } from '../../design/qr-code.ts';
import type { DashboardContext, DashboardRoutes } from '../context.ts';
import { type DashboardView, dashboardForm, dashboardPage } from '../dashboard-page.ts';
import { textField } from '../fields.ts';
import type { FormFields } from '../form-fields.ts';
import { formTokenField } from '../form-token.ts';
import { formatMoney } from '../format-amount.ts';
import { providerName } from '../payments/payment-words.ts';
import { walletCard } from '../payments/wallet-card.ts';
import { DASHBOARD_PATH } from '../sections.ts';
import type { Visit } from '../visit.ts';
import { registerDirectPages } from './direct-pages.ts';
import { makeByHand } from './make-by-hand.ts';
import { choice, destinationFields, noteField } from './shared-fields.ts';

/** A checkout made by hand, to be sent to somebody or shown to them. */
export function registerLinkPages(routes: DashboardRoutes): void {
  const { context } = routes;
  const own = { section: 'links', role: 'developer' } as const;
  dashboardPage(routes, { ...own, path: '/links', show: async (visit) => formView(visit, null) });
  dashboardForm(routes, {
    ...own,
    path: '/links',
    act: (visit, form) => makeByHand(context, visit, form, { create: createPayment, formView }),
  });
  registerDirectPages(routes);
  dashboardPage(routes, { ...own, path: '/links/:paymentId', show: (visit) => showLink(context, visit) });
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
${noteField(value('note'))}
<p><label><input type="checkbox" name="passFeeToCustomer" value="1"${form?.has('passFeeToCustomer') ? html` checked` : nothing}> The customer pays the account’s fee on top</label></p>
<p class="hint">It covers the account’s fee only: what the provider deducts from the payment is separate, and comes off what you receive.</p>
${destinationFields(account, value)}
<p class="actions"><button class="button primary">Make the link</button><a class="button" href="${DASHBOARD_PATH}/links/direct">USDC from a wallet instead</a></p></form>`,
  };
}

async function showLink(context: DashboardContext, visit: Visit): Promise<DashboardView> {
  const story = await readPaymentStory(context, visit.account.id, visit.params['paymentId'] ?? '');
  const { payment } = story;
  const url = `${context.baseUrl}/s/${shortCodeOf(payment.id)}`;
  return {
    title: 'Your payment link',
    main: html`<section class="card"><h2>${formatMoney(payment.amountCents, payment.currency)} ${payment.currency}</h2>
<p><a href="${url}"><code>${url}</code></a></p>
${qrCode(url, 'QR code of the link')}
${payment.note === null ? nothing : html`<p class="notice plain">In previews of this link anybody can read: <bdi>${payment.note}</bdi></p>`}
<p class="actions"><a class="button" href="${DASHBOARD_PATH}/payments/${payment.id}">The payment</a><a class="button" href="${DASHBOARD_PATH}/links${isDirect(payment) ? '/direct' : ''}">Make another</a></p></section>
${walletCard(context, story)}`,
  };
}
