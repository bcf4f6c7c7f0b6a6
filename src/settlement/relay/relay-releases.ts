import type { Payment } from '../../payment/payment.ts';
import { isOver, LONGEST_FIRST_DELAY_MS, RETRY_AFTER_EMPTY_MS } from '../../payment/release-schedule.ts';
import { refuseRelease, settle } from '../../payment/settle.ts';
import type { RelayLimits } from '../batch-and-gas-limits.ts';
import {
  CallRevertedError,
  ChainUnavailableError,
  type FeeQuote,
  type ReleaseCheck,
  SignerError,
  TransactionRefusedError,
} from '../chain/chain.ts';
import type { RelayAttempt, RelayBatch } from '../settlement-store.ts';
import { abandonBatch, followBatches, rebroadcast, resolveFinal } from './follow-batch.ts';
import { releasesWithinGasShare } from './gas-deferral.ts';
import {
  type BatchesInFlight,
  chooseNonce,
  hasFreeSlot,
  readCounts,
  type TransactionCounts,
  unminedOf,
} from './nonces.ts';
import type { RelayContext, RelayPass } from './relay-context.ts';
import {
  broadcastOrShrink,
  costOf,
  type FeeBounds,
  feeBudgetOf,
  forwardCall,
  type ShrunkBatch,
  shrinkToGasLimit,
  signAttempt,
} from './size-batch.ts';

/** Runs one pass of the sender for its key. Payments settle only by what the watcher sees on the chain. */
export async function relayReleases(context: RelayContext): Promise<RelayPass> {
  const failure = await followRetiredBatches(context).then(
    () => null,
    (error: unknown) => ({ error }),
  );
  const { relay, relayer } = context;
  const before = await relay.listOpenBatchesOf(relayer.address);
  let followed: RelayPass = 'idle';
  let inFlight: BatchesInFlight | null = null;
  if (before.length > 0) {
    const counts = await readCounts(context);
    followed = await followBatches(context, { open: before, counts });
    inFlight = { open: await relay.listOpenBatchesOf(relayer.address), counts };
  }
  const opened = await openBatches(context, inFlight);
  if (failure !== null) throw failure.error;
  // A change to a followed batch takes precedence over a new batch, and both over "idle".
  const isNews = followed !== 'idle' && followed !== 'waiting' && followed !== 'rebroadcast';
  const hasOpened = opened !== 'idle' && opened !== 'waiting';
  return isNews || (!hasOpened && followed !== 'idle') ? followed : opened;
}

/**
 * Ends batches of relayer addresses without a sender, because otherwise their payments would never be released. A batch
 * that stays unmined is abandoned. If it is mined later, it costs gas but moves no money twice.
 */
async function followRetiredBatches(context: RelayContext): Promise<void> {
  const { relay, relayer, withRelayerLease } = context;
  for (const other of await relay.listRelayersInFlight()) {
    if (other === relayer.address) continue;
    await withRelayerLease(other, () => followRetiredRelayer(context, other));
  }
}

async function followRetiredRelayer(context: RelayContext, address: string): Promise<void> {
  const { relay, relayer, onIncident } = context;
  // Reads batches under the lease, because the key's own sender or another process may have just closed some.
  const open = await relay.listOpenBatchesOf(address);
  if (open.length === 0) return;
  const counts = await readCounts(context, address);
  for (const { id } of await resolveFinal(context, { open, counts }))
    onIncident({ kind: 'retired_batch_resolved', batchId: id, relayer: address });
  const unmined = unminedOf(open, counts);
  const head = unmined[0];
  if (head === undefined) return; // All are mined and will be resolved once final.
  if (isGivenUp(context, head)) {
    // Abandons the highest nonce first, so that the remaining batches never have a gap below them.
    for (const batch of unmined.toReversed()) {
      await abandonBatch(context, batch);
      onIncident({ kind: 'retired_batch_abandoned', batchId: batch.id, relayer: address });
    }
    return;
  }
  // Refusals are ignored, because the relayer may lack POL. The batches are retried until they are abandoned.
  for (const batch of unmined) await rebroadcast(relayer, batch);
}

/** Returns whether to abandon a batch. It is rebroadcast for a while first, because the service may have been down. */
function isGivenUp({ limits, memory, nowMs: clock }: RelayContext, batch: RelayBatch): boolean {
  const nowMs = clock();
  const firstSeenMs = memory.firstSeenMs.get(batch.id);
  if (firstSeenMs === undefined) {
    memory.firstSeenMs.set(batch.id, nowMs);
    return false;
  }
  const { signedAtMs } = batch.attempts.at(-1) as RelayAttempt;
  return (
    isOver(firstSeenMs, limits.nonceGapPatienceMs, nowMs) &&
    isOver(signedAtMs, limits.retiredPatienceMs, nowMs)
  );
}

/** Duration of a claim, enough to simulate, estimate and sign a batch. After a crash, other relayers wait this long. */
const CLAIM_MS = 60_000;

/** Opens batches while a slot is free and releases are due. `inFlight` is null if nothing is in flight. */
async function openBatches(context: RelayContext, inFlight: BatchesInFlight | null): Promise<RelayPass> {
  const { limits } = context;
  const open = [...(inFlight?.open ?? [])];
  let counts = inFlight?.counts ?? null;
  const readChain = createChainReading(context, async () => {
    counts ??= await readCounts(context);
    return counts;
  });
  let pass: RelayPass = 'idle';
  while (counts === null || hasFreeSlot(limits, open, counts)) {
    const opened = await openBatch(context, open, readChain).catch((error: unknown) => {
      // Ignores the error if a batch was opened, because the next pass starts with the batch that failed.
      const isOfChain = kindsOfChain.some((kind) => error instanceof kind);
      if (pass === 'opened' && isOfChain) return pass;
      throw error;
    });
    if (typeof opened === 'string') return pass === 'idle' ? opened : pass;
    pass = 'opened';
    open.push(opened);
  }
  return pass === 'idle' ? 'waiting' : pass;
}

const kindsOfChain = [ChainUnavailableError, TransactionRefusedError, SignerError];

type ReadChain = ReturnType<typeof createChainReading>;

/** Creates a reader of fees, balance and counts, which reads them once per pass, when the first batch needs them. */
function createChainReading({ relayer }: RelayContext, counts: () => Promise<TransactionCounts>) {
  let reading: Promise<readonly [FeeQuote, balanceWei: bigint, TransactionCounts]> | null = null;
  return () => {
    reading ??= Promise.all([relayer.quoteFees(), relayer.readGasBalance(), counts()]);
    return reading;
  };
}

/** Commits due releases before they are broadcast, so that the same bytes are broadcast again after a crash. */
async function openBatch(
  context: RelayContext,
  open: readonly RelayBatch[],
  readChain: ReadChain,
): Promise<RelayBatch | RelayPass> {
  const { limits, relayer, memory } = context;
  const batchSize = memory.largestBatch ?? limits.releasesPerBatch;
  const nowMs = context.nowMs();
  const due = await context.relay.claimDueReleases(relayer.address, nowMs, batchSize, CLAIM_MS);
  const oldest = due[0];
  if (oldest === undefined) return 'idle';
  try {
    const isReady =
      due.length >= batchSize ||
      (isOver(oldest.releaseDueAtMs ?? 0, limits.batchWindowMs, nowMs) && isSpacedOut(limits, open, nowMs));
    return isReady ? await sendBatch(context, due, open, readChain) : 'collecting';
  } finally {
    // Lets another relayer release the payments that did not enter the batch.
    await context.relay.dropClaims(relayer.address);
  }
}

/** Pause before a partly filled batch once `maximumUnmined` batches are open, and its growth per further batch. */
const FIRST_PAUSE_MS = 2_000;
const PAUSE_GROWTH = 1.13;

/** Returns whether a partly filled batch may be opened. While finality stalls, each further batch waits longer. */
function isSpacedOut(limits: RelayLimits, open: readonly RelayBatch[], nowMs: number): boolean {
  const surplus = open.length - limits.maximumUnmined;
  if (surplus < 0) return true;
  const lastOpenedAtMs = Math.max(...open.map(({ createdAtMs }) => createdAtMs));
  return isOver(lastOpenedAtMs, FIRST_PAUSE_MS * PAUSE_GROWTH ** surplus, nowMs);
}

async function sendBatch(
  context: RelayContext,
  due: readonly Payment[],
  open: readonly RelayBatch[],
  readChain: ReadChain,
): Promise<RelayBatch | RelayPass> {
  const { relayer } = context;
  // One transaction calls one factory. Payments of another factory are sent once they are the oldest.
  const sameFactory = due.filter((payment) => payment.factory === due[0]?.factory);
  const [fees, balanceWei, counts] = await readChain();
  const affordable = await deferExpensive(context, sameFactory, fees);
  if (affordable.length === 0) return 'deferred';
  const releasable = await filterReleasable(context, affordable);
  if (releasable.length === 0) return 'refused';
  const othersWei = costOf(unminedOf(open, counts));
  const budgetWei = feeBudgetOf(context.limits, balanceWei, othersWei);
  const fitted = await shrinkOrDefer(context, releasable, { fees, budgetWei }, othersWei);
  if (typeof fitted === 'string') return fitted;

  const { payments, gasLimit } = fitted;
  const call = forwardCall(payments);
  const nonce = await chooseNonce(context, open, counts);
  const attempt = await signAttempt(context, call, nonce, gasLimit, fees);
  const nowMs = context.nowMs();
  const batch = await context.relay.openBatch(
    {
      relayer: relayer.address,
      nonce,
      kind: 'forward',
      rescueToken: null,
      gasLimit,
      paymentIds: payments.map(({ id }) => id),
      attempts: [attempt],
      createdAtMs: nowMs,
    },
    (view) => settle(view, { nowMs }, { releaseRefusals: 0, releaseRefusalReason: null }),
  );
  return broadcastOrShrink(context, batch, othersWei);
}

/** Shrinks the batch to its gas limit. Defers a payment that fails alone. Waits if other batches reserve the gas. */
async function shrinkOrDefer(
  context: RelayContext,
  payments: readonly Payment[],
  bounds: FeeBounds,
  othersWei: bigint,
): Promise<ShrunkBatch | RelayPass> {
  try {
    return await shrinkToGasLimit(context, payments, bounds);
  } catch (error) {
    if (error instanceof TransactionRefusedError && othersWei > 0n) return 'waiting';
    if (!(error instanceof CallRevertedError)) throw error;
    await deferRelease(context, payments[0] as Payment, { refusal: error.message });
    return 'refused';
  }
}

async function deferExpensive(
  context: RelayContext,
  payments: readonly Payment[],
  fees: FeeQuote,
): Promise<readonly Payment[]> {
  const { gasShare } = context.limits;
  if (gasShare === null) return payments;
  const affordable = releasesWithinGasShare(payments, fees, gasShare, context.nowMs());
  const deferred = payments.filter((payment) => !affordable.includes(payment));
  if (deferred.length === 0) return payments;
  for (const payment of deferred) await deferRelease(context, payment, { delayMs: LONGEST_FIRST_DELAY_MS });
  context.onIncident({ kind: 'deferred_releases', paymentIds: deferred.map(({ id }) => id) });
  return affordable;
}

/** Checks each release at the token. Records a refusal with its reason, and retries the release later. */
async function filterReleasable(context: RelayContext, payments: readonly Payment[]): Promise<Payment[]> {
  const checks = await context.token.checkReleases(payments);
  const releasable: Payment[] = [];
  for (const [index, payment] of payments.entries()) {
    const { heldUnits, refusal } = checks[index] as ReleaseCheck;
    if (refusal !== null) await deferRelease(context, payment, { refusal });
    else if (heldUnits > 0n) releasable.push(payment);
    // The money was released by another caller or reorganized, or only one host refuses. None counts as a refusal.
    else await deferRelease(context, payment, { delayMs: RETRY_AFTER_EMPTY_MS });
  }
  return releasable;
}

/** Defers a release by growing delays if it was refused, and otherwise by the given delay. */
async function deferRelease(
  context: RelayContext,
  payment: Payment,
  cause: { readonly refusal: string } | { readonly delayMs: number },
): Promise<void> {
  const nowMs = context.nowMs();
  await context.payments.decidePayment(payment.id, (view) =>
    'refusal' in cause
      ? refuseRelease(view, { nowMs }, cause.refusal)
      : settle(view, { nowMs }, { releaseDueAtMs: nowMs + cause.delayMs }),
  );
}
