import type { RelayAttempt, RelayBatch } from '../../domain/ports/settlement-store.ts';
import { abandonBatch, followBatch, rebroadcast, resolveBatch } from './follow-batch.ts';
import { openBatch } from './open-batch.ts';
import { isOver, type RelayContext, type RelayPass } from './relay-context.ts';

/**
 * One pass of the sender for its relayer key, which has at most one transaction in flight. What was signed is
 * committed before it is broadcast, and after a crash the same bytes are broadcast again; a payment settles only
 * from what the watcher sees, never from what happened to our own transaction. What earlier keys left in flight is
 * followed too, and first: a new key without gas money must not hold that up, nor the other way round.
 */
export async function relayReleases(context: RelayContext): Promise<RelayPass> {
  const failure = await followRetiredBatches(context).then(
    () => null,
    (error: unknown) => ({ error }),
  );
  const open = await context.relay.findOpenBatch(context.relayer.address);
  const pass = await (open === null ? openBatch(context) : followBatch(context, open));
  if (failure !== null) throw failure.error;
  return pass;
}

/** Maximum open batches, of current keys and of former ones: keys change from time to time, not by the dozen. */
const MAXIMUM_OPEN_BATCHES = 100;

/**
 * Brings batches of relayer addresses to their end that have no sender any more, because the key was changed or its
 * process is gone: their payments would be carried for ever. The signed bytes are all that is needed; without the key
 * only their fees cannot be raised. So a batch that is not mined for long is abandoned, and its payments are released
 * with the key we have. Should the old transaction be mined later, that costs gas and moves nothing twice.
 */
async function followRetiredBatches(context: RelayContext): Promise<void> {
  const { relay, relayer, withRelayerLease } = context;
  const open = await relay.listOpenBatches(MAXIMUM_OPEN_BATCHES);
  for (const { relayer: other } of open) {
    if (other === relayer.address) continue;
    await withRelayerLease(other, async () => {
      // Read again: its sender, or another one in its place, may just have closed it.
      const batch = await relay.findOpenBatch(other);
      if (batch !== null) await followRetiredBatch(context, batch);
    });
  }
}

async function followRetiredBatch(context: RelayContext, batch: RelayBatch): Promise<void> {
  const { relayer, onIncident } = context;
  const final = await relayer.readFinalTransactionCount(batch.relayer);
  if (batch.nonce < final.count) {
    if (!(await resolveBatch(context, batch, final.blockNumber))) return;
    return onIncident({ kind: 'retired_batch_resolved', batchId: batch.id, relayer: batch.relayer });
  }
  if (batch.nonce < (await relayer.readLatestTransactionCount(batch.relayer))) return; // Mined; final soon.

  if (isGivenUp(context, batch)) {
    await abandonBatch(context, batch);
    return onIncident({ kind: 'retired_batch_abandoned', batchId: batch.id, relayer: batch.relayer });
  }
  // Refused by all, for want of gas money perhaps: it is retried until it is abandoned.
  await rebroadcast(relayer, batch);
}

/** Not before this process has handed it to the chain for a while: the service may have been down for long. */
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
