import type { RelayAttempt, RelayBatch } from '../../domain/ports/relay-store.ts';
import { abandonBatch, resolveBatch } from './close-batch.ts';
import { rebroadcast } from './rebroadcast.ts';
import { isOver, type RelayContext } from './relay-context.ts';

/** Of keys that are at work and of keys that no longer are: those are changed now and then, not by the dozen. */
const MAXIMUM_OPEN_BATCHES = 100;

/**
 * Brings batches of relayer addresses to their end that have no sender any more, because the key was changed or its
 * process is gone: their payments would be carried for ever. The signed bytes are all that is needed; without the key
 * only their fees cannot be raised. So a batch that is not mined for long is given up, and its payments are released
 * with the key we have. Should the old transaction be mined later, that costs gas and moves nothing twice.
 */
export async function followRetiredBatches(context: RelayContext): Promise<void> {
  const { relay, relayer, inPlaceOf } = context;
  const open = await relay.listOpenBatches(MAXIMUM_OPEN_BATCHES);
  for (const { relayer: other } of open) {
    if (other === relayer.address) continue;
    await inPlaceOf(other, async () => {
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
  // Refused by all, for want of gas money perhaps: it has until it is given up.
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
