import type { Address } from '../../payment/address.ts';
import {
  type DescribedError,
  errorTable,
  ServiceError,
  stateConflict,
  UnknownStateError,
} from '../../payment/errors.ts';
import { formatUnits, smaller } from '../../payment/money.ts';
import type { Payment, PaymentId } from '../../payment/payment.ts';
import { DAY_MS } from '../../platform/time-zone.ts';
import type { TransferLog } from '../../settlement/chain/chain.ts';
import type { BlockReference } from '../../settlement/settlement-store.ts';

export const refundStatuses = {
  awaiting_address: 'The customer has not named an address yet. Send them the link.',
  awaiting_confirmation: 'The customer named an address. Check it with them, then confirm it.',
  awaiting_transfer: 'Transfer exactly this amount from your wallet. It is booked when it is final.',
  paid: 'The transfer is final.',
  canceled: 'The refund is canceled.',
  expired: 'The address or the transfer did not come in time.',
} as const satisfies Record<string, string>;
export type RefundStatus = keyof typeof refundStatuses;

export const refundEventTypes = {
  'refund.opened': 'A refund is opened.',
  'refund.address_named': 'The customer named an address for a refund. Confirm it before you pay.',
  'refund.address_confirmed': 'The address of a refund is confirmed. The transfer is expected.',
  'refund.transaction_refused': "The submitted transaction, or a transfer that arrived, is not the refund's.",
  'refund.paid': "The refund's transfer is final.",
  'refund.transfer_reverted': "A reorganization removed the refund's transfer. It is expected again.",
  'refund.canceled': 'The refund is canceled.',
} as const satisfies Record<string, string>;
export type RefundEventType = keyof typeof refundEventTypes;

/** Text for merchants that explains who bears the fees of a refund. */
export const REFUND_RULE =
  'A share of the charge is the same share of the USDC that arrived for it, rounded down. So the provider’s fee is ' +
  'borne by the customer, and the service’s fee, which is not returned, by you.';

export const refundDiscrepancies = {
  refunded_too_much: 'Paid refunds exceed final deposits.',
  refund_not_on_chain: 'The transfer of a paid refund is not on the chain.',
} as const satisfies Record<string, string>;
export type RefundDiscrepancy = keyof typeof refundDiscrepancies;

export const refundCommands = {
  shown: 'refunds',
  sandbox: [['refund <refund>', 'transfer what a refund of the demo account asks for']],
  eventFields: { refund: null },
} as const;

export const transactionProblems = {
  no_transfer: 'The submitted transaction contains no USDC transfer to the address.',
  too_early: 'The submitted transfer is older than the deposit.',
  exceeds_received: 'The transfer is larger than what can still be refunded, so it is not booked.',
  already_counted: 'The submitted transfer already belongs to another refund.',
} as const satisfies Record<string, string>;
export type TransactionProblem = keyof typeof transactionProblems;

/** Fields about a refund's transfer, with their values before the transfer. */
export const noTransfer = {
  /** Hash of a submitted transaction that has not been checked yet. */
  submittedHash: null as string | null,
  transactionProblem: null as TransactionProblem | null,
  /** Sender of the transfer, only for information. It may be an exchange. */
  sender: null as string | null,
  transactionHash: null as string | null,
  logIndex: null as number | null,
  blockNumber: null as number | null,
  paidAtMs: null as number | null,
};

/** Refund that merchants pay from their own wallets. The service only observes the transfer. */
export interface Refund extends Readonly<typeof noTransfer> {
  readonly id: string;
  readonly accountId: string;
  readonly paymentId: PaymentId;
  readonly createdAtMs: number;
  /** Amount to transfer, or once the refund is paid, the amount transferred, in 10⁻⁶ USDC units. */
  readonly units: bigint;
  readonly reason: string | null;
  /** Stored status. `refundStatusAt` adds `expired`, which depends on the time and is never stored. */
  readonly status: RefundStatus;
  readonly expiresAtMs: number;
  readonly idempotencyKey: string | null;
  readonly fingerprint: string;
  /** Customer's wallet address, from the merchant or the customer; null while unknown. */
  readonly destination: Address | null;
  /** Block above which the search for the transfer continues. Submitted transactions may be in any block. */
  readonly scannedBlock: number;
}

export type RefundReference = Pick<Refund, 'id' | 'accountId'>;

/** Input of a decision on a refund, read under a lock that is held until the decision is stored. */
export interface RefundView {
  readonly refund: Refund;
  readonly others: readonly Refund[];
  /** Refunds of any account stored as awaiting a transfer to the same address. Some may have expired. */
  readonly rivals: readonly Refund[];
}

export interface RefundDecision {
  readonly refund: Refund;
  readonly event: RefundEventType | null;
}

/** General errors that have refund-specific names and texts in the API description. */
export const refundErrors = {
  notFound: { ...errorTable.not_found, name: 'refund_not_found', text: 'Refund not found.' },
  conflict: {
    ...errorTable.payment_state_conflict,
    name: 'refund_state_conflict',
    text: 'The state of the refund does not allow this.',
  },
} as const satisfies Readonly<Record<string, DescribedError>>;

export const ADDRESS_LINK_MS = 7 * DAY_MS;
/** Time for the merchant to confirm an address, and then again for the transfer. */
export const TRANSFER_MS = 30 * DAY_MS;
const MAXIMUM_REFUNDS = 20;
export const MAXIMUM_REASON_LENGTH = 200;
/** Maximum open refunds of one amount to one address. Reductions of up to 0.000999 USDC tell their transfers apart. */
const MAXIMUM_RIVALS = 1_000n;

/** Returns the status at this time. Throws `UnknownStateError` for an unknown stored status. */
export function refundStatusAt({ status, expiresAtMs }: Refund, nowMs: number): RefundStatus {
  if (!Object.hasOwn(refundStatuses, status)) throw new UnknownStateError(`no such refund state: ${status}`);
  return status.startsWith('awaiting_') && expiresAtMs <= nowMs ? 'expired' : status;
}

/** Returns how much of the received amount is neither refunded nor in an open refund, in 10⁻⁶ USDC units. */
export function refundableUnits(
  finalReceivedUnits: bigint,
  refunds: readonly Refund[],
  nowMs: number,
): bigint {
  const counted = refunds.filter(
    (refund) => !['canceled', 'expired'].includes(refundStatusAt(refund, nowMs)),
  );
  const taken = counted.reduce((sum, { units }) => sum + units, 0n);
  return taken < finalReceivedUnits ? finalReceivedUnits - taken : 0n;
}

/** Returns a share of what arrived for the charge, without any surplus, in 10⁻⁶ USDC units, rounded down. */
export function refundShareUnits(
  { usdUnits }: Pick<Payment, 'usdUnits'>,
  finalReceivedUnits: bigint,
  [part, whole]: readonly [bigint, bigint],
): bigint {
  return (smaller(finalReceivedUnits, usdUnits) * part) / whole;
}

/** Throws `payment_state_conflict` unless the refund has one of these statuses. */
export function requireRefundStatus(
  refund: Refund,
  nowMs: number,
  ...allowed: readonly RefundStatus[]
): void {
  const status = refundStatusAt(refund, nowMs);
  if (!allowed.includes(status)) throw stateConflict(`The refund is ${status.replace('_', ' ')}.`);
}

export const refundNotFound = (): ServiceError => new ServiceError('not_found', refundErrors.notFound.text);

/** Opens a refund of these units; null for all that is left. Throws `payment_state_conflict` beyond a limit. */
export function decideOpening(
  { refund, others, rivals }: RefundView,
  askedUnits: bigint | null,
  finalReceivedUnits: bigint,
): RefundDecision {
  if (others.length >= MAXIMUM_REFUNDS) {
    throw stateConflict(`A payment has at most ${MAXIMUM_REFUNDS} refunds.`);
  }
  const left = refundableUnits(finalReceivedUnits, others, refund.createdAtMs);
  const units = askedUnits ?? left;
  if (units > left || units === 0n) {
    throw stateConflict(`At most ${formatUnits(left)} USDC of the payment can still be refunded.`);
  }
  return { refund: withUniqueUnits({ ...refund, units }, rivals), event: 'refund.opened' };
}

/** Records the address that the customer named. Throws `payment_state_conflict` if the refund awaits no address. */
export function decideAddress({ refund }: RefundView, destination: Address, nowMs: number): RefundDecision {
  requireRefundStatus(refund, nowMs, 'awaiting_address');
  const status = 'awaiting_confirmation';
  const named = { ...refund, destination, status, expiresAtMs: nowMs + TRANSFER_MS } as const;
  return { refund: named, event: 'refund.address_named' };
}

/** Records that the merchant confirmed `destination`. The search for the transfer starts above `scannedBlock`. */
export function decideConfirmation(
  { refund, rivals }: RefundView,
  destination: Address,
  scannedBlock: number,
  nowMs: number,
): RefundDecision {
  requireRefundStatus(refund, nowMs, 'awaiting_confirmation');
  if (refund.destination !== destination) {
    throw stateConflict('The customer named another address. Read the refund again.');
  }
  const expiresAtMs = nowMs + TRANSFER_MS;
  const confirmed = { ...refund, status: 'awaiting_transfer', scannedBlock, expiresAtMs } as const;
  return { refund: withUniqueUnits(confirmed, rivals), event: 'refund.address_confirmed' };
}

/** Lowers the amount in steps of 10⁻⁶ USDC until no other open refund to the address has the same amount. */
function withUniqueUnits(refund: Refund, rivals: readonly Refund[]): Refund {
  const taken = new Set(rivals.map(({ units }) => units));
  for (let less = 0n; less < MAXIMUM_RIVALS && less < refund.units; less++) {
    if (!taken.has(refund.units - less)) return { ...refund, units: refund.units - less };
  }
  throw stateConflict('Too many refunds of this amount wait for a transfer to this address.');
}

export function decideCancellation({ refund }: RefundView, nowMs: number): RefundDecision {
  if (!refund.status.startsWith('awaiting_')) requireRefundStatus(refund, nowMs, 'expired');
  return { refund: { ...refund, ...noTransfer, status: 'canceled' }, event: 'refund.canceled' };
}

/** Returns the refund with this recipient and amount whose searched blocks precede the transfer. */
export function refundOfTransfer(transfer: TransferLog, watched: readonly Refund[]): Refund | undefined {
  return watched.find(
    ({ destination, units, scannedBlock }) =>
      destination === transfer.recipient && units === transfer.units && transfer.blockNumber > scannedBlock,
  );
}

/** Books a final transfer: one of the exact amount, or else the first that no other refund awaits. */
export function bookTransfer(
  { refund, others, rivals }: RefundView,
  transfers: readonly TransferLog[],
  finalReceivedUnits: bigint,
  nowMs: number,
): RefundDecision | null {
  // Tests the stored status, because a transfer still counts shortly after the refund has expired.
  if (refund.status !== 'awaiting_transfer') return null;
  const waiting = rivals.filter((rival) => refundStatusAt(rival, nowMs) === 'awaiting_transfer');
  const transfer =
    transfers.find(({ units }) => units === refund.units) ??
    transfers.find((each) => refundOfTransfer(each, waiting) === undefined);
  if (transfer === undefined) return refuseTransaction({ refund }, 'already_counted');
  const { units, sender = null, transactionHash, logIndex, blockNumber } = transfer;
  if (units > refundableUnits(finalReceivedUnits, others, nowMs)) {
    return refuseTransaction({ refund }, 'exceeds_received', transactionHash);
  }
  const place = { sender, transactionHash, logIndex, blockNumber, paidAtMs: nowMs };
  const paid = { ...refund, ...noTransfer, ...place, units, status: 'paid' } as const;
  return { refund: paid, event: 'refund.paid' };
}

/** Rejects a transaction, by default the submitted one. Returns null if the refund already shows the problem. */
export function refuseTransaction(
  { refund }: Pick<RefundView, 'refund'>,
  problem: TransactionProblem,
  transactionHash = refund.submittedHash,
): RefundDecision | null {
  const isSubmitted = refund.submittedHash !== null && refund.submittedHash === transactionHash;
  if (!isSubmitted && refund.transactionProblem === problem) return null;
  const submittedHash = isSubmitted ? null : refund.submittedHash;
  const refused = { ...refund, submittedHash, transactionProblem: problem };
  return { refund: refused, event: 'refund.transaction_refused' };
}

/** Function that decides on a refund while all refunds are locked. Null leaves the refund unchanged. */
export type DecideRefund = (view: RefundView) => RefundDecision | null;

type Place = Pick<Refund, 'createdAtMs' | 'id'>;

/** Store of refunds. Writes each change and its event in one transaction. A transfer pays at most one refund. */
export interface RefundStore {
  /** Stores a refund, or resolves to the earlier refund with its `Idempotency-Key`, even for concurrent calls. */
  createRefund(draft: Refund, decide: (view: RefundView) => RefundDecision, nowMs: number): Promise<Refund>;
  /** Changes a refund; null if unknown or if its transfer paid another. Throws `ScanRefusedError` after a rewind. */
  changeRefund(
    refund: RefundReference,
    decide: DecideRefund,
    nowMs: number,
    readUpTo?: BlockReference,
  ): Promise<Refund | null>;
  findRefund(accountId: string, id: string): Promise<Refund | null>;
  /** Returns a refund of any account. The caller must have checked the link's token. */
  findRefundOfLink(id: string): Promise<Refund | null>;
  listRefunds(id: PaymentId): Promise<readonly Refund[]>;
  /** Lists refunds of an account after `before`, newest first. */
  listAccountRefunds(accountId: string, before: Place, limit: number): Promise<readonly Refund[]>;
  /** Returns sums of paid refunds by payment id. Omits payments without paid refunds. */
  sumPaidRefunds(accountId: string, paymentIds: readonly string[]): Promise<ReadonlyMap<string, bigint>>;
  /** Lists refunds that await a transfer and expire after this time, those with the lowest scanned block first. */
  listWatchedRefunds(expiresAfterMs: number, limit: number): Promise<readonly Refund[]>;
  isTransferCounted(transactionHash: string, logIndex: number): Promise<boolean>;
  /** Records up to which block these refunds' transfers were searched. Throws `ScanRefusedError` after a rewind. */
  recordRefundScan(ids: readonly string[], scannedBlock: number, readUpTo: BlockReference): Promise<void>;
}
