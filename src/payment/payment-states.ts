import { UnknownStateError } from './errors.ts';

export type PaymentStatus = 'unpaid' | 'paid' | 'canceled';

/** Progress of the release to the merchant. `completed` is final for a paid payment. */
export type ForwardStatus =
  | 'pending'
  | 'ready'
  | 'processing'
  | 'completed'
  | 'failed'
  | 'manual_required'
  | 'canceled';

/** Statuses of a release that is due or in progress. Only a few payments have such a status at any time. */
export const unsettledStatuses = ['ready', 'processing', 'failed', 'manual_required'] as const;
export type UnsettledStatus = (typeof unsettledStatuses)[number];

/** Statuses in which the operator may have to act. `failed` precedes `manual_required` after refused releases. */
export const refusedStatuses = ['failed', 'manual_required'] as const satisfies readonly UnsettledStatus[];

export const paymentStates = {
  'unpaid/pending': 'The deposits seen are below the paid threshold.',
  'unpaid/ready': 'The deposits seen reach the paid threshold. The release is due.',
  'unpaid/processing': 'A release is broadcast, or seen in a block that is not final yet.',
  'unpaid/failed':
    'The token rejected a simulated release (blocklisted wallet, paused token). The service retries.',
  'unpaid/manual_required':
    'The token rejected the release repeatedly. It needs attention; the service retries hourly.',
  'paid/ready': 'Direct payments only: the deposit is final. The release is due.',
  'paid/processing':
    'Direct payments only: a release is broadcast, or seen in a block that is not final yet.',
  'paid/failed': 'Direct payments only: the token rejected a simulated release. The service retries.',
  'paid/manual_required':
    'Direct payments only: the token rejected the release repeatedly. The service retries hourly.',
  'paid/completed':
    'Final releases reach the paid threshold: the merchant has the money. This state never changes.',
  'canceled/canceled': 'Expired or canceled, and nothing has arrived, or dust.',
  'canceled/manual_required':
    'Canceled, and the deposit address holds a deposit. The operator or merchant releases it.',
  'canceled/completed': 'Canceled, and the deposit was released to the merchant. Never counts as paid.',
} as const satisfies { readonly [State in `${PaymentStatus}/${ForwardStatus}`]?: string };
export type PaymentState = keyof typeof paymentStates;

export const paymentEvents = {
  deposit_final: 'Direct payments only: final deposits reach the paid threshold.',
  threshold_reached: 'The sum of seen deposits reaches the paid threshold.',
  deposit_reverted:
    'A reorganization removed a deposit: the sum of seen deposits is below the paid threshold (canceled: nothing is left, or dust).',
  release_sent: 'A batch with the release is committed for broadcast, or a release by any sender is seen.',
  release_dropped:
    'No release is broadcast or seen any more (the batch ended without it, or a reorganization removed it).',
  release_refused: 'The service’s simulation of the release failed.',
  release_abandoned: 'The service’s simulation failed in all quick retries.',
  release_possible: 'The service’s simulation succeeds again.',
  released_finally:
    'Final releases reach the paid threshold, and so do final deposits (canceled: all deposits are released, but for dust).',
  expired_empty:
    'The deadline passed, every block up to a final block after it was read twice, and nothing has arrived, or dust.',
  expired_underpaid: 'The same, with deposits below the paid threshold that are more than dust.',
  canceled_by_request:
    'The merchant or operator cancels. The chain was just scanned, nothing has arrived, or dust, and no session can still pay or was open in the last half hour.',
  deposit_after_cancel:
    'More than dust has arrived at the address of a canceled payment since its last release, or a reorganization removed its release.',
} as const satisfies Record<string, string>;

export type PaymentEvent = keyof typeof paymentEvents;

const PAID_EFFECTS = 'paid_at, value_coin, forwarded_amount, txid_in, txid_out and the webhook row';
const DIRECT_PAID_EFFECTS = 'paid_at, value_coin, txid_in and the webhook row of payment.paid';
const FORWARDED_EFFECTS = 'value_coin, forwarded_amount, txid_out and the webhook row of payment.forwarded';
const CANCELED_RELEASE_EFFECTS = 'the amounts and txid_out; no event is sent';

/** @param effects committed in the same transaction */
function row(from: PaymentState, event: PaymentEvent, to: PaymentState, effects = '') {
  return { from, event, to, effects };
}

/** All transitions between payment states, used by the code and the documentation. */
export const paymentTransitions: readonly ReturnType<typeof row>[] = [
  row('unpaid/pending', 'threshold_reached', 'unpaid/ready', 'the release becomes due'),
  row('unpaid/pending', 'expired_empty', 'canceled/canceled'),
  row('unpaid/pending', 'expired_underpaid', 'canceled/manual_required'),
  row('unpaid/pending', 'canceled_by_request', 'canceled/canceled'),
  row('unpaid/pending', 'released_finally', 'paid/completed', PAID_EFFECTS),

  row('unpaid/ready', 'release_sent', 'unpaid/processing'),
  row('unpaid/ready', 'release_refused', 'unpaid/failed', 'the next retry is scheduled'),
  row('unpaid/ready', 'deposit_reverted', 'unpaid/pending', 'the release is no longer due'),
  row('unpaid/ready', 'released_finally', 'paid/completed', PAID_EFFECTS),

  row('unpaid/processing', 'release_dropped', 'unpaid/ready', 'the release becomes due again'),
  row('unpaid/processing', 'deposit_reverted', 'unpaid/pending'),
  row('unpaid/processing', 'released_finally', 'paid/completed', PAID_EFFECTS),

  row('unpaid/failed', 'release_sent', 'unpaid/processing'),
  row('unpaid/failed', 'release_possible', 'unpaid/ready'),
  row('unpaid/failed', 'release_abandoned', 'unpaid/manual_required'),
  row('unpaid/failed', 'deposit_reverted', 'unpaid/pending'),
  row('unpaid/failed', 'released_finally', 'paid/completed', PAID_EFFECTS),

  row('unpaid/manual_required', 'release_sent', 'unpaid/processing'),
  row('unpaid/manual_required', 'release_possible', 'unpaid/ready'),
  row('unpaid/manual_required', 'deposit_reverted', 'unpaid/pending'),
  row('unpaid/manual_required', 'released_finally', 'paid/completed', PAID_EFFECTS),

  row('unpaid/pending', 'deposit_final', 'paid/ready', DIRECT_PAID_EFFECTS),
  row('paid/ready', 'release_sent', 'paid/processing'),
  row('paid/ready', 'release_refused', 'paid/failed', 'the next retry is scheduled'),
  row('paid/ready', 'released_finally', 'paid/completed', FORWARDED_EFFECTS),
  row('paid/processing', 'release_dropped', 'paid/ready', 'the release becomes due again'),
  row('paid/processing', 'released_finally', 'paid/completed', FORWARDED_EFFECTS),
  row('paid/failed', 'release_sent', 'paid/processing'),
  row('paid/failed', 'release_possible', 'paid/ready'),
  row('paid/failed', 'release_abandoned', 'paid/manual_required'),
  row('paid/failed', 'released_finally', 'paid/completed', FORWARDED_EFFECTS),
  row('paid/manual_required', 'release_sent', 'paid/processing'),
  row('paid/manual_required', 'release_possible', 'paid/ready'),
  row('paid/manual_required', 'released_finally', 'paid/completed', FORWARDED_EFFECTS),

  row('canceled/canceled', 'deposit_after_cancel', 'canceled/manual_required'),
  row('canceled/manual_required', 'deposit_reverted', 'canceled/canceled'),
  row('canceled/manual_required', 'released_finally', 'canceled/completed', CANCELED_RELEASE_EFFECTS),
  row('canceled/completed', 'deposit_after_cancel', 'canceled/manual_required'),
];

const targets = new Map(paymentTransitions.map(({ from, event, to }) => [`${from} ${event}`, to]));

/** Returns the state after an event. Throws `UnknownStateError` if the table has no such transition. */
export function nextState(from: PaymentState, event: PaymentEvent): PaymentState {
  const to = targets.get(`${from} ${event}`);
  if (to === undefined) throw new UnknownStateError(`no transition for ${event} in ${from}`);
  return to;
}

/** Combines the two stored fields into a state. Throws `UnknownStateError` for an invalid pair. */
export function stateOf(payment: { status: PaymentStatus; forwardStatus: ForwardStatus }): PaymentState {
  const state = `${payment.status}/${payment.forwardStatus}`;
  if (!Object.hasOwn(paymentStates, state)) throw new UnknownStateError(`no such payment state: ${state}`);
  return state as PaymentState;
}

export function fieldsOf(state: PaymentState): { status: PaymentStatus; forwardStatus: ForwardStatus } {
  const [status, forwardStatus] = state.split('/') as [PaymentStatus, ForwardStatus];
  return { status, forwardStatus };
}
