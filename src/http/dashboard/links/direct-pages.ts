import { currencies } from '../../../domain/money.ts';
import { createDirectPayment } from '../../../payments/create-direct-payment.ts';
import { type Html, html, nothing } from '../../design/html.ts';
import type { DashboardRoutes } from '../context.ts';
import { type DashboardView, dashboardForm, dashboardPage } from '../dashboard-page.ts';
import { textField } from '../fields.ts';
import type { FormFields } from '../form-fields.ts';
import { formTokenField } from '../form-token.ts';
import { DASHBOARD_PATH } from '../sections.ts';
import type { Visit } from '../visit.ts';
import { makeByHand } from './make-by-hand.ts';
import { choice, destinationFields, noteField } from './shared-fields.ts';

/** A payment that the customer pays in USDC from a wallet, made by hand: the API knows none. */
export function registerDirectPages(routes: DashboardRoutes): void {
  const { context } = routes;
  const own = { section: 'links', role: 'developer', path: '/links/direct' } as const;
  dashboardPage(routes, { ...own, show: async (visit) => formView(visit, null) });
  dashboardForm(routes, {
    ...own,
    act: (visit, form) => makeByHand(context, visit, form, { create: createDirectPayment, formView }),
  });
}

function formView(
  { account, formToken }: Visit,
  form: FormFields | null,
  said: Html = nothing,
): DashboardView {
  const value = (name: string) => form?.text(name) ?? '';
  return {
    title: 'USDC from a wallet',
    main: html`${said}<p>Ask a customer for USDC from a wallet of their own, without a card. The whole amount has to arrive; your fee is taken when it is forwarded to you.</p>
<form class="card" method="post" action="${DASHBOARD_PATH}/links/direct">${formTokenField(formToken)}
<div class="grid">${textField({ name: 'amount', label: 'Amount', value: value('amount'), hint: 'From 0.01 to 10000' })}
${choice('currency', 'Currency', currencies, value('currency'), (name) => name)}
${textField({ name: 'email', label: 'Customer’s e-mail address', type: 'email', value: value('email'), isOptional: true, hint: 'In your events' })}</div>
<p class="hint">Another currency than USD is converted into USDC once, now.</p>
${noteField(value('note'))}
${destinationFields(account, value)}
<p class="actions"><button class="button primary">Make the payment</button><a class="button" href="${DASHBOARD_PATH}/links">By card instead</a></p></form>`,
  };
}
