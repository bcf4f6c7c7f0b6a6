import { randomBytes } from 'node:crypto';
import type { AccountStore } from '../../accounts/account-store.ts';
import { type Address, parsePayoutAddress } from '../../payment/address.ts';
import { fingerprintOf } from '../../payment/create-payment.ts';
import { invalidField, ServiceError, stateConflict } from '../../payment/errors.ts';
import { BASIS_POINTS, formatCents, formatUnits, parseDecimal, parseUnits } from '../../payment/money.ts';
import type { Payment, PaymentId } from '../../payment/payment.ts';
import type { NumberedEvent } from '../../payment/payment-events.ts';
import type { PaymentStore, PaymentView } from '../../payment/payment-store.ts';
import { sumObservations } from '../../payment/settle.ts';
import type { KeyedHash } from '../../platform/keyed-hash.ts';
import type { VerifiedChain } from '../../settlement/chain/chain.ts';
import type { ObservationStore } from '../../settlement/settlement-store.ts';
import { viewPaymentOf } from '../../webhooks/payment-history.ts';
import {
  ADDRESS_LINK_MS,
  decideAddress,
  decideCancellation,
  decideConfirmation,
  decideOpening,
  MAXIMUM_REASON_LENGTH,
  noTransfer,
  type Refund,
  type RefundDecision,
  type RefundDiscrepancy,
  type RefundStore,
  type RefundView,
  refundableUnits,
  refundNotFound,
  refundShareUnits,
  refundStatusAt,
  requireRefundStatus,
  TRANSFER_MS,
} from './refund.ts';

export interface RefundContext {
  readonly refunds: RefundStore;
  readonly payments: Pick<PaymentStore, 'viewPayment'>;
  readonly observations: Pick<ObservationStore, 'readCursor'>;
  readonly accounts: Pick<AccountStore, 'findAccount'>;
  /** Returns whether the service uses an address as a deposit address, contract, token or relayer. */
  readonly isServiceAddress: (address: Address) => Promise<boolean>;
  /** Keyed hash that derives a link's token from the refund id, so that no token is stored. */
  readonly addressLinkTokens: KeyedHash;
  readonly baseUrl: string;
  readonly nowMs: () => number;
}

/** Parameters for the amount, of which a request has at most one. */
export const refundAmounts = ['amount', 'charge_amount', 'share'] as const;

export interface RefundRequest {
  /** For the kind `amount`: `all`, `surplus` or USDC. For other kinds: an amount or percentage of the charge. */
  readonly amount: string;
  readonly kind?: (typeof refundAmounts)[number];
  /** Field that an error for a wrong amount names, by default `kind`. */
  readonly field?: string;
  readonly reason: string | null;
  /** Customer's wallet address; null if the customer enters it through a link. */
  readonly destination: string | null;
  readonly idempotencyKey?: string | null;
}

export function finalReceivedUnitsOf({ observations }: Pick<PaymentView, 'observations'>): bigint {
  return sumObservations(observations).finalSeenUnits;
}

/** Reads a payment's refunds. Throws `payment_not_found` for an unknown payment or another account's. */
export async function readRefunds(
  context: Pick<RefundContext, 'payments' | 'refunds' | 'nowMs'>,
  accountId: string,
  paymentId: string,
): Promise<Readonly<{ payment: Payment; refunds: readonly Refund[]; leftUnits: bigint }>> {
  const view = await viewPaymentOf(context, accountId, paymentId);
  const { payment } = view;
  const refunds = await context.refunds.listRefunds(payment.id);
  const isOpen = payment.status === 'unpaid';
  const leftUnits = isOpen ? 0n : refundableUnits(finalReceivedUnitsOf(view), refunds, context.nowMs());
  return { payment, refunds, leftUnits };
}

/** Opens a refund, or returns the first refund with the same `Idempotency-Key`. Throws `ServiceError` if refused. */
export async function createRefund(
  context: RefundContext,
  accountId: string,
  paymentId: string,
  request: RefundRequest,
): Promise<Refund> {
  const nowMs = context.nowMs();
  const view = await viewPaymentOf(context, accountId, paymentId);
  const { payment } = view;
  if (payment.status === 'unpaid')
    throw stateConflict('The payment is open: the customer can still pay it, or the rest of it.');
  const reason = parseReason(request.reason);
  const typed = request.destination;
  const destination = typed === null ? null : await parseDestination(context, payment, typed);
  const asked = parseRefundAmount(request, view);
  const kind = request.kind === undefined || request.kind === 'amount' ? [] : [request.kind];
  const draft: Refund = {
    ...noTransfer,
    id: `rfd_${randomBytes(10).toString('hex')}`,
    accountId,
    paymentId: payment.id,
    createdAtMs: nowMs,
    // `decideOpening` sets the amount within the transaction.
    units: 0n,
    reason,
    status: destination === null ? 'awaiting_address' : 'awaiting_transfer',
    expiresAtMs: nowMs + (destination === null ? ADDRESS_LINK_MS : TRANSFER_MS),
    idempotencyKey: request.idempotencyKey ?? null,
    fingerprint: fingerprintOf([payment.id, ...kind, request.amount, reason, destination]),
    destination,
    scannedBlock: await readScannedBlock(context),
  };
  const finalReceivedUnits = finalReceivedUnitsOf(view);
  const refund = await context.refunds.createRefund(
    draft,
    (stored) => decideOpening(stored, asked, finalReceivedUnits),
    nowMs,
  );
  if (refund.fingerprint !== draft.fingerprint) throw new ServiceError('idempotency_conflict');
  return refund;
}

/** Returns the link with which the customer enters an address; null unless the refund awaits an address. */
export function addressUrl(
  { addressLinkTokens, baseUrl, nowMs }: RefundContext,
  refund: Refund,
): string | null {
  if (refundStatusAt(refund, nowMs()) !== 'awaiting_address') return null;
  return `${baseUrl}/refund/${refund.id}/${addressLinkTokens.of(refund.id)}`;
}

/** Reads the refund of a customer's link, with any status. Throws `not_found` for a wrong link. */
export async function readLinkedRefund(
  { refunds, addressLinkTokens }: RefundContext,
  { refundId, token }: Readonly<Record<'refundId' | 'token', string>>,
): Promise<Refund> {
  const refund = addressLinkTokens.matches(refundId, token) ? await refunds.findRefundOfLink(refundId) : null;
  if (refund === null) throw refundNotFound();
  return refund;
}

/** Records the customer's address. Throws `payment_state_conflict` if an address is already recorded. */
export async function nameRefundAddress(
  context: RefundContext,
  refund: Refund,
  text: string,
): Promise<Refund> {
  const { payment } = await viewPaymentOf(context, refund.accountId, refund.paymentId);
  const address = await parseDestination(context, payment, text);
  return change(context, refund, (view) => decideAddress(view, address, context.nowMs()));
}

export async function confirmRefundAddress(
  context: RefundContext,
  refund: Refund,
  destination: string,
): Promise<Refund> {
  const address = parsePayoutAddress(destination.trim());
  if (address === null) throw invalidField('destination', 'must be the address that the customer named');
  const scannedBlock = await readScannedBlock(context);
  return change(context, refund, (view) => decideConfirmation(view, address, scannedBlock, context.nowMs()));
}

/** Returns the requested amount in 10⁻⁶ USDC units; null for all that is left. Throws if it is invalid. */
function parseRefundAmount(request: RefundRequest, view: PaymentView): bigint | null {
  const { amount, kind = 'amount', field = kind } = request;
  if (kind !== 'amount')
    return refundShareUnits(
      view.payment,
      finalReceivedUnitsOf(view),
      parsePart(kind, field, amount, view.payment),
    );
  if (amount === 'all') return null;
  if (amount === 'surplus') {
    const surplus = finalReceivedUnitsOf(view) - view.payment.usdUnits;
    if (view.payment.amountMismatch === 'overpaid' && surplus > 0n) return surplus;
    throw stateConflict('The payment has no surplus.');
  }
  const units = parseUnits(amount);
  if (units !== null && units > 0n) return units;
  throw invalidField(field, 'must be all, surplus, or an amount in USDC such as 12.50');
}

/** Returns the requested part and the whole charge, in basis points or cents. */
function parsePart(
  kind: string,
  field: string,
  text: string,
  { amountCents, currency }: Payment,
): readonly [bigint, bigint] {
  const whole = BigInt(kind === 'share' ? BASIS_POINTS : amountCents);
  const part = parseDecimal(text, 2) ?? 0n;
  if (part > 0n && part <= whole) return [part, whole];
  const maximum = kind === 'share' ? '100 percent' : `the charge of ${formatCents(amountCents)} ${currency}`;
  throw invalidField(field, `must be above 0 and at most ${maximum}, with at most two decimals`);
}

function parseReason(reason: string | null): string | null {
  const text = reason?.trim() || null;
  if (text !== null && ([...text].length > MAXIMUM_REASON_LENGTH || text.includes('\0')))
    throw invalidField('reason', `must have at most ${MAXIMUM_REASON_LENGTH} characters`);
  return text;
}

async function parseDestination(
  { isServiceAddress, accounts }: RefundContext,
  payment: Payment,
  text: string,
): Promise<Address> {
  const field = 'destination';
  const address = parsePayoutAddress(text.trim());
  if (address === null)
    throw invalidField(field, 'must be a Polygon address: 0x and 40 hex digits, with a correct checksum');
  const account = await accounts.findAccount(payment.accountId);
  const ours = [payment.payoutAddress, payment.feeWallet, payment.depositAddress, account?.wallet];
  if (ours.includes(address) || (await isServiceAddress(address)))
    throw invalidField(field, 'must not be an address of the merchant, of this service or of the token');
  return address;
}

async function readScannedBlock({ observations }: RefundContext): Promise<number> {
  const cursor = await observations.readCursor();
  if (cursor === null) throw stateConflict('The payment network has not been read yet. Try again shortly.');
  return cursor.number;
}

/** Reads a refund. Throws `not_found` for an unknown refund or another account's. */
export async function readRefund(
  { refunds }: Readonly<{ refunds: Pick<RefundStore, 'findRefund'> }>,
  accountId: string,
  id: string,
): Promise<Refund> {
  const refund = /^rfd_[0-9a-f]{20}$/.test(id) ? await refunds.findRefund(accountId, id) : null;
  if (refund === null) throw refundNotFound();
  return refund;
}

export function cancelOpenRefund(context: RefundContext, refund: Refund): Promise<Refund> {
  return change(context, refund, (view) => decideCancellation(view, context.nowMs()));
}

/** Stores the hash of the merchant's transaction, which is checked once the transaction is final. */
export async function submitTransaction(
  context: RefundContext,
  refund: Refund,
  text: string,
): Promise<Refund> {
  const submittedHash = text.trim().toLowerCase();
  if (!/^0x[0-9a-f]{64}$/.test(submittedHash))
    throw invalidField('transaction', 'must be a transaction hash: 0x and 64 hex digits');
  return change(context, refund, (view) => {
    requireRefundStatus(view.refund, context.nowMs(), 'awaiting_transfer');
    return { refund: { ...view.refund, submittedHash, transactionProblem: null }, event: null };
  });
}

async function change(
  { refunds, nowMs }: RefundContext,
  refund: Refund,
  decide: (view: RefundView) => RefundDecision,
): Promise<Refund> {
  const changed = await refunds.changeRefund(refund, decide, nowMs());
  if (changed === null) throw refundNotFound();
  return changed;
}

/** Adds refunds to the operator's commands `payment show`, `event list` and `verify`. */
export const recordedRefunds = (store: Pick<RefundStore, 'listRefunds'>) => ({
  show: async (id: PaymentId, nowMs: number) => ({
    refunds: (await store.listRefunds(id)).map((refund) => ({
      refund_id: refund.id,
      status: refundStatusAt(refund, nowMs),
      amount: formatUnits(refund.units),
      destination: refund.destination,
      transaction: refund.transactionHash,
      created_at: new Date(refund.createdAtMs).toISOString(),
    })),
  }),

  fieldsOf: ({ subjectId }: Pick<NumberedEvent, 'subjectId'>) =>
    subjectId === null ? {} : { refund_id: subjectId },

  /** Checks that paid refunds do not exceed final deposits, and that each has its transfer on the chain. */
  readCheck: async (view: PaymentView) => {
    const paid = (await store.listRefunds(view.payment.id)).filter(({ status }) => status === 'paid');
    return async (
      chain: VerifiedChain | null,
      add: (kind: RefundDiscrepancy, expected: string, found: string) => void,
    ) => {
      const finalReceivedUnits = finalReceivedUnitsOf(view);
      const refunded = paid.reduce((sum, { units }) => sum + units, 0n);
      if (refunded > finalReceivedUnits)
        add('refunded_too_much', `at most ${formatUnits(finalReceivedUnits)}`, formatUnits(refunded));
      if (chain === null) return;
      for (const { destination, units, transactionHash, logIndex, blockNumber } of paid) {
        const block = blockNumber ?? 0;
        const recipients = destination === null ? [] : [destination];
        const query = { fromBlock: block, toBlock: block, recipients, withReleases: false };
        const { transfers } = await chain.reader.withView((each) => each.readLogs(query));
        const log = transfers.find(
          (each) => each.transactionHash === transactionHash && each.logIndex === logIndex,
        );
        if (log?.recipient === destination && log.units === units) continue;
        const expected = `${formatUnits(units)} to ${destination} in ${transactionHash}`;
        add('refund_not_on_chain', expected, 'nothing');
      }
    };
  },
});
