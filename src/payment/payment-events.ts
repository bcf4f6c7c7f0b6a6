import { formatCents, formatOptionalCents, formatUnits, UNITS_PER_CENT } from './money.ts';
import { isDirect, type Payment, type PaymentId } from './payment.ts';

/** Descriptions of the core's payment events. Features define further events. */
export const paymentEventTypes = {
  'payment.deposit_seen': 'The deposits seen reach the paid threshold. They are not final yet.',
  'payment.deposit_reverted':
    'A reorganization removed a deposit. The deposits seen are below the threshold.',
  'payment.partially_paid': 'A part of the paid threshold is seen: at least 0.10 USDC, or a tenth of it.',
  'payment.overpaid': 'Clearly more than the price, or a second full deposit, is seen.',
  'payment.paid': 'The payment is paid. Fulfill the order.',
  'payment.forwarded': 'The money of a direct payment, or of a canceled payment, reached the payout wallet.',
  'payment.canceled': 'The payment expired or was canceled.',
  'payment.attention_required': 'The release of the money needs attention.',
  'payment.updated': 'The payment came into another state that no other event describes.',
} as const satisfies Record<string, string>;

export type PaymentEventType = keyof typeof paymentEventTypes;

export interface NumberedEvent {
  /** Position in commit order: the time in ms since 1970, or the last number plus one if that is larger. */
  readonly number: number;
  /** A `PaymentEventType`, or a feature's own type. */
  readonly type: string;
  readonly paymentId: PaymentId;
  /** Id of the feature's object, such as a refund, that the event is about; null for the payment itself. */
  readonly subjectId: string | null;
  readonly atMs: number;
}

type EventFields = Pick<
  Payment,
  'provider' | 'status' | 'forwardStatus' | 'amountMismatch' | 'receivedUnits'
>;

export function eventsOfChange(before: EventFields, after: EventFields): PaymentEventType[] {
  const events: PaymentEventType[] = [];
  const isOtherState = before.status !== after.status || before.forwardStatus !== after.forwardStatus;
  // A payment that expired while partially paid already has this state when the rest arrives.
  const isMoreLateMoney =
    after.status === 'canceled' &&
    after.forwardStatus === 'manual_required' &&
    after.receivedUnits - before.receivedUnits >= UNITS_PER_CENT;
  if (isOtherState || isMoreLateMoney) events.push(eventOfState(before, after));
  if (after.amountMismatch !== null && after.amountMismatch !== before.amountMismatch) {
    events.push(`payment.${after.amountMismatch}`);
  }
  // After an outage or a restore, a single scan may find both the deposit and the release of a direct payment.
  if (isDirect(after) && events[0] === 'payment.paid' && after.forwardStatus === 'completed')
    events.push('payment.forwarded');
  return events;
}

function eventOfState(before: EventFields, after: EventFields): PaymentEventType {
  if (after.forwardStatus === 'manual_required') return 'payment.attention_required';
  if (after.status !== before.status) return after.status === 'paid' ? 'payment.paid' : 'payment.canceled';
  switch (after.forwardStatus) {
    case 'completed':
      return 'payment.forwarded';
    case 'pending':
    case 'canceled':
      return 'payment.deposit_reverted';
    case 'ready':
      return before.forwardStatus === 'pending' ? 'payment.deposit_seen' : 'payment.updated';
    default:
      return 'payment.updated';
  }
}

/** Webhook to queue in the transaction that makes its payment paid or forwarded. */
export interface NewWebhook {
  readonly event: 'payment.paid' | 'payment.forwarded';
  /** Fields of the body except the timestamp, which is set when the event is sent. */
  readonly fields: Readonly<Record<string, string | boolean | null>>;
}

export const SETTLEMENT_COIN = 'polygon_usdc';

/** Builds the webhook of a paid payment. The money of a direct payment is not forwarded yet. */
export function paidWebhook(payment: Payment): NewWebhook {
  return {
    event: 'payment.paid',
    fields: {
      event: 'payment.paid',
      id: payment.id,
      paymentId: payment.id,
      status: 'paid',
      amount: formatCents(payment.amountCents),
      originalAmount: formatOptionalCents(payment.originalAmountCents),
      customerFeeAmount: formatOptionalCents(payment.customerFeeCents),
      passFeeToCustomer: payment.passFeeToCustomer,
      currency: payment.currency,
      coin: SETTLEMENT_COIN,
      receivedAmount: formatUnits(payment.receivedUnits),
      forwardedAmount: isDirect(payment) ? null : formatUnits(payment.forwardedUnits),
      txidIn: payment.txidIn,
      txidOut: isDirect(payment) ? null : payment.txidOut,
      note: payment.note,
      email: payment.email,
    },
  };
}

export function forwardedWebhook(payment: Payment): NewWebhook {
  return {
    event: 'payment.forwarded',
    fields: {
      event: 'payment.forwarded',
      paymentId: payment.id,
      forwardTxid: payment.txidOut,
      amountForwarded: formatUnits(payment.forwardedUnits),
      toWallet: payment.payoutAddress,
    },
  };
}
