import { recordAction } from '../../accounts/people-context.ts';
import { ServiceError } from '../../domain/errors.ts';
import { formatUnits } from '../../domain/money.ts';
import { cancelPayment } from '../../payments/cancel-payment.ts';
import { eraseEmail } from '../../payments/erase-emails.ts';
import { readPaymentHistory, verifyWebhookSignature } from '../../payments/payment-history.ts';
import { parseNote } from '../api/parse-create-request.ts';
import { type Html, html, nothing } from '../design/html.ts';
import {
  DASHBOARD_PATH,
  type DashboardContext,
  type DashboardRoutes,
  type Visit,
} from '../signed-in/context.ts';
import { moment } from '../signed-in/format.ts';
import { banner, type FormFields } from '../signed-in/forms.ts';
import { dashboardPages, type PageView, type SeeOther, seeOther } from '../signed-in/signed-in-page.ts';
import { sendPaymentsCsv, showPayments } from './payment-list-page.ts';
import { amountFacts, showPayment, timeline, transactionLink } from './payment-page.ts';
import { fact, providerName, stateSentence } from './payment-words.ts';

/** A printable proof of one payment, for a bank, a provider or a customer, with the means to verify it. */
async function showEvidence(context: DashboardContext, visit: Visit): Promise<PageView> {
  const history = await readPaymentHistory(context, visit.account.id, visit.params['paymentId'] ?? '');
  const { payment, observations, sessions } = history;
  const moved = [
    ...observations.deposits.map(({ units, ...place }) => ({ ...place, what: 'arrived', units })),
    ...observations.releases.map(({ toMerchantUnits, feeUnits, ...place }) => ({
      ...place,
      what: `released, less a fee of ${formatUnits(feeUnits)}`,
      units: toMerchantUnits,
    })),
  ].sort((one, other) => one.blockNumber - other.blockNumber || one.logIndex - other.logIndex);
  return {
    title: 'Evidence of a payment',
    main: html`<p class="screen-only"><a href="${DASHBOARD_PATH}/payments/${payment.id}">Back to the payment</a>. Print this page with your browser (Ctrl+P).</p>
<section class="card"><h2>Payment</h2><dl class="facts">
${fact('Merchant', html`<bdi>${visit.account.name}</bdi>`)}
${fact('Payment id', html`<code>${payment.id}</code>`)}
${fact('State', `${payment.status}: ${stateSentence(payment)}`)}
${amountFacts(payment)}
${fact('Customer', html`<bdi>${payment.email ?? 'not known'}</bdi>`)}
${fact('Note', html`<bdi class="lines">${payment.note ?? 'none'}</bdi>`)}
${fact('Printed', moment(context.nowMs(), visit.timeZone))}
</dl></section>
<section class="card"><h2>At the on-ramp</h2>
${sessions.length === 0 ? html`<p>No provider session was started.</p>` : html`<dl class="facts">${sessions.map(({ provider, providerReference, createdAtMs }) => fact(providerName(provider), html`${moment(createdAtMs, visit.timeZone)}, reference <code>${providerReference}</code>`))}</dl>`}</section>
<section class="card"><h2>On the chain</h2>
<p>USDC on chain ${payment.chainId}. The deposit address is computed from the merchant’s wallet, the fee and the payment id by the factory’s contract, so the money cannot go elsewhere. <code>${context.baseUrl}/.well-known/card-checkout.json</code> describes how to verify it.</p>
<dl class="facts">${fact('Deposit address', html`<code>${payment.depositAddress}</code>`)}${fact('Merchant’s wallet', html`<code>${payment.payoutAddress}</code>`)}
${fact('Fee wallet', html`<code>${payment.feeWallet}</code>`)}${fact('Factory', html`<code>${payment.factory}</code>`)}
${moved.map(({ what, units, transactionHash, blockNumber }) => fact(`${formatUnits(units)} USDC`, html`${what}, block ${blockNumber}${blockNumber <= observations.finalBlock ? ' (final)' : ' (not final yet)'}: ${transactionLink(context, transactionHash)}`))}</dl></section>
<section class="card"><h2>Timeline</h2>${timeline(history, visit.timeZone)}</section>`,
  };
}

const flashMessages: ReadonlyMap<string | null, Html> = new Map([
  ['noted', banner('good', 'The note is saved.')],
  ['canceled', banner('good', 'The payment is canceled.')],
  ['erased', banner('good', 'The customer’s e-mail address is erased.')],
]);

/** The account's payments: the list, its CSV, and each of them. */
export function registerPaymentPages(routes: DashboardRoutes): void {
  const { context } = routes;
  const seen = dashboardPages(routes, 'payments', 'viewer');
  const changed = dashboardPages(routes, 'payments', 'developer');
  seen.page('/payments', (visit) => showPayments(context, visit));
  seen.page('/payments.csv', (visit, reply) => sendPaymentsCsv(context, visit, reply));
  seen.page('/payments/:paymentId', (visit) =>
    showPayment(context, visit, { message: flashMessages.get(visit.query.get('flash')) ?? nothing }),
  );
  seen.page('/payments/:paymentId/evidence', (visit) => showEvidence(context, visit));
  changed.form('/payments/:paymentId/note', (visit, form) => saveNote(context, visit, form));
  changed.form('/payments/:paymentId/cancel', (visit) => cancel(context, visit));
  dashboardPages(routes, 'payments', 'owner').form('/payments/:paymentId/erase-email', (visit) =>
    erase(context, visit),
  );
  seen.form('/payments/:paymentId/verify-signature', (visit) => verifySignature(context, visit));
}

async function saveNote(
  context: DashboardContext,
  visit: Visit,
  form: FormFields,
): Promise<PageView | SeeOther> {
  const { payment } = await readPaymentHistory(context, visit.account.id, visit.params['paymentId'] ?? '');
  return orShown(context, visit, async () => {
    await context.search.editNote(payment, parseNote(form.text('note').trim() || null));
    await recordAction(context, visit.account.id, visit.actor, 'payment.noted', payment.id);
    return seeOther(`/payments/${payment.id}?flash=noted`);
  });
}

async function cancel(context: DashboardContext, visit: Visit): Promise<PageView | SeeOther> {
  // Checks the account before any detail is shown.
  const { payment } = await readPaymentHistory(context, visit.account.id, visit.params['paymentId'] ?? '');
  return orShown(context, visit, async () => {
    await cancelPayment(context, payment.id, 'merchant');
    await recordAction(context, visit.account.id, visit.actor, 'payment.canceled', payment.id);
    return seeOther(`/payments/${payment.id}?flash=canceled`);
  });
}

async function erase(context: DashboardContext, visit: Visit): Promise<PageView | SeeOther> {
  const { payment } = await readPaymentHistory(context, visit.account.id, visit.params['paymentId'] ?? '');
  return orShown(context, visit, async () => {
    const isErased = await eraseEmail(context, payment);
    if (isErased)
      await recordAction(context, visit.account.id, visit.actor, 'payment.email_erased', payment.id);
    return seeOther(`/payments/${payment.id}?flash=erased`);
  });
}

async function verifySignature(context: DashboardContext, visit: Visit): Promise<PageView> {
  const { webhooks } = await readPaymentHistory(context, visit.account.id, visit.params['paymentId'] ?? '');
  const [webhook] = webhooks;
  if (webhook === undefined) throw new ServiceError('not_found');
  return showPayment(context, visit, { check: verifyWebhookSignature(context.tokens, webhook) });
}

/** Errors appear on the payment's own page. */
async function orShown(
  context: DashboardContext,
  visit: Visit,
  act: () => Promise<SeeOther>,
): Promise<PageView | SeeOther> {
  try {
    return await act();
  } catch (error) {
    if (!(error instanceof ServiceError) || error.status >= 500) throw error;
    return showPayment(context, visit, { status: error.status, message: banner('bad', error.message) });
  }
}
