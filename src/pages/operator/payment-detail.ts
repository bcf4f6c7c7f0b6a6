import { recordAction } from '../../accounts/people-context.ts';
import { cancelPayment } from '../../payment/cancel-payment.ts';
import { ServiceError } from '../../payment/errors.ts';
import { isDust } from '../../payment/fees-and-paid-threshold.ts';
import type { Payment, PaymentId } from '../../payment/payment.ts';
import { isPaymentId } from '../../payment/payment-id.ts';
import { stateOf } from '../../payment/payment-states.ts';
import type { PaymentView } from '../../payment/payment-store.ts';
import { releasePayment } from '../../payment/release-payment.ts';
import { sumObservations } from '../../payment/settle.ts';
import { parseRescuedToken } from '../../settlement/rescue-token.ts';
import { type Html, html, nothing } from '../../web/design/html.ts';
import { formatUsdc, moneyText, utcTime } from '../../web/signed-in/format.ts';
import { type Fields, flashOf, foldedAction, foldedForm, formFields } from '../../web/signed-in/forms.ts';
import { type PageView, seeOther } from '../../web/signed-in/pages.ts';
import { displayStatusBadges, providerName, stateSentence } from '../../web/signed-in/payment-words.ts';
import { OPERATOR_PATH, type OperatorRoutes, type OperatorVisit } from './operator-page.ts';

const flashMessages = {
  released: 'The release is scheduled for the next batch.',
  canceled: 'The payment is canceled.',
  rescued: 'The rescue transaction is sent. It is listed under releases in flight until it is final.',
};

export function registerPaymentDetail(routes: OperatorRoutes): void {
  const { context } = routes;
  const pages = routes.pages('settlement');
  pages.page('/payments/:paymentId', showPayment);
  const action = (
    name: string,
    done: string,
    act: (id: PaymentId, visit: OperatorVisit, token: string) => Promise<void>,
  ) =>
    pages.form(
      `/payments/:paymentId/${name}`,
      async (visit, form) => {
        await act(idOf(visit), visit, form.text('token'));
        return seeOther(`/payments/${idOf(visit)}?flash=${done}`);
      },
      showPayment,
    );
  action('release', 'released', async (id, visit) => {
    const { accountId } = await releasePayment(context, id);
    await recordAction(context, accountId, visit.actor, 'payment.released', id);
  });
  action('cancel', 'canceled', async (id, visit) => {
    const { accountId } = await cancelPayment(context, id, 'operator');
    await recordAction(context, accountId, visit.actor, 'payment.canceled', id);
  });
  action('rescue', 'rescued', async (id, visit, token) => {
    const hash = await context.rescue(id, parseRescuedToken(token));
    const { payment } = await readView(visit);
    await recordAction(context, payment.accountId, visit.actor, 'payment.rescued', `${id} by ${hash}`);
  });
}

function idOf({ params }: OperatorVisit): PaymentId {
  const id = params['paymentId'] ?? '';
  if (!isPaymentId(id)) throw new ServiceError('not_found');
  return id;
}

async function readView(visit: OperatorVisit): Promise<PaymentView> {
  const { payments } = visit.context;
  const view = await payments.viewPayment(idOf(visit));
  if (view === null) throw new ServiceError('not_found');
  return view;
}

async function showPayment(visit: OperatorVisit): Promise<PageView> {
  const view = await readView(visit);
  const { payment } = view;
  return {
    title: moneyText(payment.amountCents, payment.currency),
    main: html`${flashOf(visit, flashMessages)}${factsCard(view, visit.context)}${actionsCard(view, visit)}
<p><a class="button" href="${OPERATOR_PATH}/settlement">Back to settlement</a></p>`,
  };
}

function factsCard(
  { payment, observations, sessions }: PaymentView,
  { nowMs, paymentHints }: OperatorVisit['context'],
): Html {
  const isOverpaid = payment.amountMismatch === 'overpaid' && stateOf(payment) === 'paid/completed';
  const { heldUnits, seenUnits } = sumObservations(observations);
  return html`<section class="card"><h2>Payment</h2>
<p>${displayStatusBadges(payment, sessions.at(-1), nowMs())} ${stateSentence(payment, 'the merchant’s wallet')}</p><dl class="facts">
<div><dt>Payment ID</dt><dd><code>${payment.id}</code></dd></div>
<div><dt>Account</dt><dd><a href="${OPERATOR_PATH}/accounts/${payment.accountId}"><code>${payment.accountId}</code></a></dd></div>
<div><dt>Created</dt><dd>${utcTime(payment.createdAtMs)}</dd></div>
<div><dt>Provider</dt><dd>${providerName(payment.provider)}</dd></div>
<div><dt>Required</dt><dd>${formatUsdc(payment.paidThresholdUnits, 'up')}</dd></div>
<div><dt>Arrived</dt><dd>${formatUsdc(seenUnits)} of ${formatUsdc(payment.usdUnits)}</dd></div>
<div><dt>Held at deposit address</dt><dd>${formatUsdc(heldUnits)}</dd></div>
<div><dt>Deposit address</dt><dd><code>${payment.depositAddress}</code></dd></div>
<div><dt>Payout wallet</dt><dd><code>${payment.payoutAddress}</code></dd></div>
<div><dt>Next step</dt><dd>${isOverpaid ? paymentHints.overpaidForOperator : adviceFor(payment)}</dd></div></dl></section>`;
}

const rescueFields: Fields = {
  token: {
    label: 'Token',
    hint: 'The address of the token contract, or pol.',
  },
};

function actionsCard({ payment, observations }: PaymentView, visit: OperatorVisit): Html {
  const { id, status, forwardStatus, relayBatchId } = payment;
  const path = `${OPERATOR_PATH}/payments/${id}`;
  const rescue = `${path}/rescue`;
  const isPending = status === 'unpaid' && forwardStatus === 'pending';
  const { seenUnits, heldUnits } = sumObservations(observations);
  const canCancel = isPending && isDust(payment, seenUnits);
  const isEmpty = heldUnits === 0n || forwardStatus === 'canceled';
  const canRelease = !isPending && relayBatchId === null && !isEmpty;
  const release = html`<form class="actions switch" method="post" action="${path}/release">
<span>Release the USDC held at the deposit address to the merchant, less the fee.</span><button class="button">Release</button></form>`;
  const cancel = foldedAction({
    action: `${path}/cancel`,
    summary: 'Cancel payment…',
    effect: html`<p>Possible until 0.01 USDC has arrived or a customer starts to pay. The customer can no longer pay it, and its checkout page says so.
The merchant’s next status request shows it as canceled. This cannot be undone: a later deposit needs a release by hand.</p>`,
    button: 'Cancel the payment',
  });
  return html`<section class="card"><h2>Actions</h2>
${canRelease ? release : nothing}
${canCancel ? cancel : nothing}
${foldedForm(
  visit,
  rescue,
  'Rescue another token',
  html`<form class="fields" method="post" action="${rescue}">
${formFields(visit, rescue, rescueFields)}
<p>A transaction sends all of the token at the deposit address to the payout wallet, without a fee.
The relayer pays the gas. This cannot be undone.</p>
<div class="actions"><button class="button danger">Send the token</button></div></form>`,
)}</section>`;
}

export function adviceFor(payment: Payment): string {
  const reason = payment.releaseRefusalReason === null ? '' : ` (${payment.releaseRefusalReason})`;
  switch (stateOf(payment)) {
    case 'canceled/manual_required':
      return 'The deposit arrived after the payment ended. Release it to the merchant, who resolves it with the customer.';
    case 'unpaid/failed':
    case 'paid/failed':
      return `The token rejected the release${reason}. The service retries automatically.`;
    case 'unpaid/manual_required':
    case 'paid/manual_required':
      return (
        `The token rejected the release repeatedly${reason}. ` +
        `Ask the merchant why the wallet is blocked. Release the deposit when it is no longer blocked.`
      );
    case 'unpaid/pending':
      return payment.amountMismatch === 'partially_paid'
        ? 'Nothing while it is open: the customer can pay the rest on the checkout page, at a provider or from a wallet. ' +
            'If the payment expires first, release what arrived to the merchant. It cannot be canceled, because a deposit has arrived.'
        : 'Nothing: the customer has not paid yet. Until a deposit arrives, the payment can be canceled.';
    case 'paid/completed':
      return 'Nothing: the payment is paid.';
    case 'canceled/canceled':
      return 'Nothing: the payment is canceled, and the deposit address is empty.';
    case 'canceled/completed':
      return 'Nothing: the deposit was released to the merchant.';
    default:
      return 'Nothing: the service continues automatically.';
  }
}
