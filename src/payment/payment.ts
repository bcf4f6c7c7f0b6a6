import type { Address } from './address.ts';
import { UnknownStateError } from './errors.ts';
import type { Currency } from './money.ts';
import { DIRECT_PROVIDER, type ProviderChoice } from './provider-catalog.ts';

// Glossary
//
// - Payment: one checkout of a merchant, from `unpaid` to `paid` or `canceled`.
// - Deposit: a USDC transfer to the payment's deposit address, seen on chain.
// - Release: the deposit contract's transfer of the address's balance to the merchant, less the fee.
// - Paid threshold: the USDC amount from which a payment counts as paid in full (see `paidThresholdUnits`).
// - Seen: in a block of the current chain, which a reorganization may still remove.
// - Final: in a scanned block that the chain calls finalized.
// - Held: seen deposits less seen releases, still at the deposit address.
// - Surplus: deposits after the payment was paid; also released, without changing a field.
// - Session: a customer's session at an on-ramp, started by a click on the checkout page.
// - Relayer: the key that sends releases; it can spend only its own gas balance.

/** Progress of a payment, with the values of a new one. */
export const untouchedProgress = {
  status: 'unpaid' as PaymentStatus,
  forwardStatus: 'pending' as ForwardStatus,
  paidAtMs: null as number | null,
  /**
   * To the merchant plus fee, as counted when it became paid (or was released after cancellation). Before that, the
   * units seen at the deposit address, which a reorganization may reverse.
   */
  receivedUnits: 0n,
  /** The merchant's part of `receivedUnits` once final; zero before. */
  forwardedUnits: 0n,
  /** Deposit that reached the paid threshold; before that, the last one seen. */
  txidIn: null as string | null,
  txidOut: null as string | null,
  /** Whether clearly less or more than the threshold was seen; null for neither. */
  amountMismatch: null as AmountMismatch | null,
  /** Time of the next attempt to release the held units; null without any. */
  releaseDueAtMs: null as number | null,
  /** Refused simulations of the release in a row (blocklisted wallet, paused token). */
  releaseRefusals: 0,
  /** Reason of the last refused simulation, for operator and merchant. */
  releaseRefusalReason: null as string | null,
  /** Final batches in a row that did not release it, for any reason; changes no state. */
  noOpBatches: 0,
  /** Relay batch that carries its release now, or null. */
  relayBatchId: null as number | null,
  cancelReason: null as CancelReason | null,
  /** Whether merchant or operator requested the release of a canceled payment, a deferred one, or a small surplus. */
  releaseRequested: false,
};

/** A payment as stored: the merchant's request, its terms, and its progress. */
export interface Payment extends Readonly<typeof untouchedProgress> {
  readonly id: PaymentId;
  readonly accountId: string;
  readonly createdAtMs: number;

  /** The customer's charge in cents of `currency`; includes the fee under pass-through. */
  readonly amountCents: number;
  readonly currency: Currency;
  /** Requested net under pass-through, otherwise null. */
  readonly originalAmountCents: number | null;
  /** Fee added by pass-through, otherwise null. */
  readonly customerFeeCents: number | null;
  readonly passFeeToCustomer: boolean;
  readonly feeBasisPoints: number;
  readonly provider: ProviderChoice | typeof DIRECT_PROVIDER;
  /** Receives the signed event; null for a payment created without an API key, which sends none. */
  readonly callbackUrl: string | null;
  readonly email: string | null;
  readonly note: string | null;
  /** Description of the order for the customer; null for payments of the API. */
  readonly orderLine: string | null;
  /** `LINK_ORIGIN` for a payment link of the dashboard, the id of its payment page, otherwise null. */
  readonly origin: string | null;
  /** Identifies the secret of its ipn_token. */
  readonly tokenFingerprint: string;

  readonly chainId: number;
  readonly factory: Address;
  readonly payoutAddress: Address;
  readonly feeWallet: Address;
  readonly depositAddress: Address;
  /** The charge's value in USD at creation, in 10⁻⁶ units. */
  readonly usdUnits: bigint;
  /** Shortfall that counts as paid in full. */
  readonly toleranceBasisPoints: number;
  /** Maximum share of the charge that a provider may keep. */
  readonly maxProviderFeeBasisPoints: number;
  /** Sum of deposits from which the payment is paid in full, in 10⁻⁶ USDC units. */
  readonly paidThresholdUnits: bigint;
}

/** A payment as addressed by a merchant: ids of other accounts are unknown. */
export type PaymentReference = Pick<Payment, 'id' | 'accountId'>;

/** Origin of payment links created in the dashboard. */
export const LINK_ORIGIN = 'link';

/** Prefix of the ids of payment pages, which are the origins of their payments. */
export const PAGE_ID_PREFIX = 'page_';

/** Payment page of a payment; null for every other payment. */
export function pageIdOf({ origin }: Pick<Payment, 'origin'>): string | null {
  return origin?.startsWith(PAGE_ID_PREFIX) === true ? origin : null;
}

/** Order fields of API payments. */
export const noOrder = { orderLine: null, origin: null } as const satisfies Partial<Payment>;

/** Difference between received and requested amount that the merchant should know. */
export const amountMismatches = ['partially_paid', 'overpaid'] as const;
export type AmountMismatch = (typeof amountMismatches)[number];

export const cancelReasons = ['expired', 'merchant', 'operator'] as const;
export type CancelReason = (typeof cancelReasons)[number];

/** Whether the customer pays from a wallet: the payment is paid when its deposit is final, and forwarded later. */
export function isDirect({ provider }: Pick<Payment, 'provider'>): boolean {
  return provider === DIRECT_PROVIDER;
}

/** Value of a USDC amount in the payment's currency, at the rate of its creation. Rounded. */
export function aboutCents(
  { amountCents, usdUnits }: Pick<Payment, 'amountCents' | 'usdUnits'>,
  units: bigint,
): number {
  return usdUnits === 0n ? 0 : Number((units * BigInt(amountCents) + usdUnits / 2n) / usdUnits);
}

/** Fields of a payment that change after its creation. */
export const changingFields = [
  ...(Object.keys(untouchedProgress) as (keyof typeof untouchedProgress)[]),
  'paidThresholdUnits',
  'note',
] as const;
export type PaymentChange = Partial<Pick<Payment, (typeof changingFields)[number]>>;

/** Position in the chain. A negative log index marks a sum of final dust rows, at the position of the last of them. */
export interface ChainPosition {
  readonly blockNumber: number;
  readonly logIndex: number;
  readonly transactionHash: string;
}

/** A USDC transfer to a deposit address. */
export interface Deposit extends ChainPosition {
  readonly units: bigint;
}

/** A `Forwarded` event of a payment's deposit address, triggered by any account. */
export interface Release extends ChainPosition {
  readonly toMerchantUnits: bigint;
  readonly feeUnits: bigint;
}

/** A `Rescued` event of a payment's deposit address: another token went to the merchant. */
export interface Rescue extends ChainPosition {
  /** The zero address for POL. */
  readonly token: Address;
  readonly units: bigint;
}

/** All observed deposits and releases of one payment, in chain order. Rows up to `finalBlock` are final. */
export interface ChainObservations {
  readonly deposits: readonly Deposit[];
  readonly releases: readonly Release[];
  readonly finalBlock: number;
}

/** A UUIDv7 in its canonical lower-case text (`payment-id.ts`). */
export type PaymentId = string;

export type PaymentStatus = 'unpaid' | 'paid' | 'canceled';

/** Progress of the money to the merchant; `completed` is final for a paid payment. */
export type ForwardStatus =
  | 'pending'
  | 'ready'
  | 'processing'
  | 'completed'
  | 'failed'
  | 'manual_required'
  | 'canceled';

/** States in progress, which few payments are in at a time. */
export const unsettledStatuses = ['ready', 'processing', 'failed', 'manual_required'] as const;
export type UnsettledStatus = (typeof unsettledStatuses)[number];

/** States after a refused release: the money needs attention, or may soon. */
export const refusedStatuses = ['failed', 'manual_required'] as const satisfies readonly UnsettledStatus[];

/** Pairs of both fields; no others exist. */
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

export interface Transition {
  readonly from: PaymentState;
  readonly event: PaymentEvent;
  readonly to: PaymentState;
  /** Effects committed in the same transaction. */
  readonly effects: string;
}

const PAID_EFFECTS = 'paid_at, value_coin, forwarded_amount, txid_in, txid_out and the webhook row';
const DIRECT_PAID_EFFECTS = 'paid_at, value_coin, txid_in and the webhook row of payment.paid';
const FORWARDED_EFFECTS = 'value_coin, forwarded_amount, txid_out and the webhook row of payment.forwarded';
const CANCELED_RELEASE_EFFECTS = 'the amounts and txid_out; no event is sent';

function row(from: PaymentState, event: PaymentEvent, to: PaymentState, effects = ''): Transition {
  return { from, event, to, effects };
}

/** State table with every transition, shared by code and documentation. */
export const paymentTransitions: readonly Transition[] = [
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

/** State after an event; throws `UnknownStateError` for a missing row. */
export function nextState(from: PaymentState, event: PaymentEvent): PaymentState {
  const to = targets.get(`${from} ${event}`);
  if (to === undefined) throw new UnknownStateError(`no transition for ${event} in ${from}`);
  return to;
}

/** State of two stored fields; throws `UnknownStateError` for an invalid pair. */
export function stateOf(payment: { status: PaymentStatus; forwardStatus: ForwardStatus }): PaymentState {
  const state = `${payment.status}/${payment.forwardStatus}`;
  if (!Object.hasOwn(paymentStates, state)) throw new UnknownStateError(`no such payment state: ${state}`);
  return state as PaymentState;
}

export function fieldsOf(state: PaymentState): { status: PaymentStatus; forwardStatus: ForwardStatus } {
  const [status, forwardStatus] = state.split('/') as [PaymentStatus, ForwardStatus];
  return { status, forwardStatus };
}
