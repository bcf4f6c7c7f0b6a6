import type { Store } from '../../../src/app/store/store.ts';
import { ServiceError } from '../../../src/payment/errors.ts';
import type { Payment, PaymentId } from '../../../src/payment/payment.ts';
import { type PaymentState, paymentTransitions, stateOf } from '../../../src/payment/payment-states.ts';
import type { PaymentDecision, PaymentView } from '../../../src/payment/payment-store.ts';
import {
  ChainUnavailableError,
  SignerError,
  TransactionRefusedError,
} from '../../../src/settlement/chain/chain.ts';
import type { RelayIncident } from '../../../src/settlement/relay/relay-context.ts';
import { ScanRefusedError } from '../../../src/settlement/settlement-store.ts';
import { RelayConflictError, StoreWriteError } from '../../../src/store/store-errors.ts';
import { finalReleases } from './chain-truth.ts';
import { EXPIRY_MS, type SimulatedWorld } from './simulated-world.ts';

/** Judges each decision at the moment it is made, against what is true on the chain. */
export function checkDecision(
  world: SimulatedWorld,
  { payment, observations }: PaymentView,
  decision: PaymentDecision | null,
): void {
  if (decision === null) return;
  const { recorder } = world;
  const after: Payment = { ...payment, ...decision.change };
  const [from, to] = [stateOf(payment), stateOf(after)];
  recorder.expect('legalPath', isReachable(from, to), () => `${payment.id} went from ${from} to ${to}`);
  if (payment.status === 'paid') {
    const keeps = keptOncePaid.every((field) => payment[field] === after[field]);
    recorder.expect('legalPath', keeps, () => `${payment.id} was paid and changed`);
    return;
  }
  if (after.status === 'paid') checkBecamePaid(world, after, decision);
  if (after.cancelReason === 'expired' && payment.cancelReason === null) {
    const deadlineMs = payment.createdAtMs + EXPIRY_MS;
    const finalBlock = world.chain.blocks[observations.finalBlock];
    recorder.expect(
      'notEarly',
      (finalBlock?.timestampMs ?? 0) > deadlineMs,
      () => `${payment.id} expired early`,
    );
  }
}

const keptOncePaid = [
  'receivedUnits',
  'forwardedUnits',
  'txidIn',
  'txidOut',
  'paidAtMs',
  'paidThresholdUnits',
] as const;

function checkBecamePaid(world: SimulatedWorld, paid: Payment, decision: PaymentDecision): void {
  const releases = finalReleases(world.chain, paid);
  const received = releases.reduce(
    (sum, { toMerchantUnits, feeUnits }) => sum + toMerchantUnits + feeUnits,
    0n,
  );
  const forwarded = releases.reduce((sum, { toMerchantUnits }) => sum + toMerchantUnits, 0n);
  // Of several releases the books may not have all yet, but never more than there are.
  const isTrue = paid.receivedUnits <= received && paid.forwardedUnits <= forwarded;
  world.recorder.expect(
    'finality',
    isTrue && paid.receivedUnits >= paid.paidThresholdUnits,
    () => `${paid.id} paid with ${paid.receivedUnits}, final are ${received} of ${paid.paidThresholdUnits}`,
  );
  const isQueued = decision.webhooks?.[0]?.event === 'payment.paid';
  world.recorder.expect('webhookRow', isQueued, () => `${paid.id} became paid without a webhook`);
}

const reachable = new Map<PaymentState, ReadonlySet<PaymentState>>();

/** Whether the table leads from one state to another, in no, one or several rows. */
function isReachable(from: PaymentState, to: PaymentState): boolean {
  let reached = reachable.get(from);
  if (reached === undefined) {
    const growing = new Set([from]);
    for (const state of growing) {
      for (const row of paymentTransitions) if (row.from === state) growing.add(row.to);
    }
    reached = growing;
    reachable.set(from, reached);
  }
  return reached.has(to);
}

/** At the moment of a POST: its row is claimed, and whoever asks back sees `paid`. */
export async function checkPost(world: SimulatedWorld, raw: Store, paymentId: PaymentId): Promise<void> {
  const [webhook] = await raw.webhooks.listWebhooks(paymentId);
  const payment = await raw.payments.findPaymentById(paymentId);
  world.recorder.expect(
    'claimedFirst',
    webhook?.status === 'sending' && payment?.status === 'paid',
    () => `POST of ${paymentId} while its row is ${webhook?.status} and it is ${payment?.status}`,
  );
  const posts = world.posts.get(paymentId) ?? 0;
  world.recorder.expect('postedOnce', posts === 1, () => `${paymentId} was posted ${posts} times`);
}

/** Before a node has a transaction, the store has it. */
export async function checkBroadcast(
  world: SimulatedWorld,
  raw: Store,
  rawTransaction: string,
): Promise<void> {
  const batches = await raw.relay.listOpenBatches(200);
  const isStored =
    // Another instance may have closed the batch since this one looked: what was broadcast before is no secret.
    world.broadcast.has(rawTransaction) ||
    batches.some(({ attempts }) => attempts.some((attempt) => attempt.rawTransaction === rawTransaction));
  if (isStored) world.broadcast.add(rawTransaction);
  for (const { id, attempts } of batches) {
    world.attempts.set(
      id,
      attempts.map(({ hash }) => hash),
    );
  }
  world.recorder.expect('storedFirst', isStored, () => 'a transaction was broadcast that no open batch has');
}

/** What the relayer says went otherwise than it should: gas was spent in vain only where a transaction was mined. */
export function checkIncident(world: SimulatedWorld, incident: RelayIncident): void {
  world.recorder.fault(incident.kind.replace('_', ' '));
  if (incident.kind !== 'no_op_batch' || incident.batchId === undefined) return;
  const hashes = world.attempts.get(incident.batchId) ?? [];
  const isMined = world.chain.blocks.some(({ transactions }) =>
    transactions.some(({ hash }) => hashes.includes(hash)),
  );
  const story = () => `batch ${incident.batchId} counts as noOp, and none of its attempts was mined`;
  world.recorder.expect('noMistake', isMined, story);
}

/** A state that has changed meanwhile, and exchange rates that cannot be read. */
const outsideErrors: ReadonlySet<string> = new Set(['payment_state_conflict', 'conversion_failed']);

/** A step may fail because the outside did; anything else is a mistake of our own. */
export function checkMistake(world: SimulatedWorld, step: string, error: unknown): void {
  const isOfOutside =
    error instanceof ChainUnavailableError ||
    error instanceof TransactionRefusedError ||
    error instanceof SignerError ||
    error instanceof StoreWriteError ||
    (error instanceof ServiceError && outsideErrors.has(error.errorName));
  // Of two instances that both believe to have the lease, the store lets one write.
  const isFenced = error instanceof ScanRefusedError || error instanceof RelayConflictError;
  if (isFenced && world.hasRivals) {
    world.recorder.fault('instance refused by the store');
    return;
  }
  world.recorder.expect('noMistake', isOfOutside, () => `${step}: ${(error as Error).stack}`);
}
