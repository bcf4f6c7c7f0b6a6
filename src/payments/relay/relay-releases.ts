import type { RelayAttempt, RelayBatch } from '../../domain/ports/settlement-store.ts';
import { abandonBatch, followBatches, rebroadcast, resolveFinal } from './follow-batch.ts';
import { readCounts, unminedOf } from './nonces.ts';
import { openBatches } from './open-batch.ts';
import { isOver, type RelayContext, type RelayPass } from './relay-context.ts';

/**
 * One pass of the sender for its relayer key, which has several transactions in flight. What was signed is committed
 * before it is broadcast, and after a crash the same bytes are broadcast again; a payment settles only from what the
 * watcher sees, never from what happened to our own transaction. What earlier keys left in flight is followed too, and
 * first: a new key without gas money must not hold that up, nor the other way round.
 */
export async function relayReleases(context: RelayContext): Promise<RelayPass> {
  const failure = await followRetiredBatches(context).then(
    () => null,
    (error: unknown) => ({ error }),
  );
  const { relay, relayer } = context;
  const counts = await readCounts(relayer);
  const before = await relay.listOpenBatchesOf(relayer.address);
  const followed = before.length === 0 ? 'idle' : await followBatches(context, { open: before, counts });
  const open = followed === 'idle' ? before : await relay.listOpenBatchesOf(relayer.address);
  const opened = await openBatches(context, { open, counts });
  if (failure !== null) throw failure.error;
  // What happened to a batch is told before what was opened beside it, and both before that nothing is to be done.
  const isNews = followed !== 'idle' && followed !== 'waiting' && followed !== 'rebroadcast';
  const hasOpened = opened !== 'idle' && opened !== 'waiting';
  return isNews || (!hasOpened && followed !== 'idle') ? followed : opened;
}

/**
 * Brings batches of relayer addresses to their end that have no sender any more, because the key was changed or its
 * process is gone: their payments would be carried for ever. The signed bytes are all that is needed; without the key
 * only their fees cannot be raised. So what is not mined for long is abandoned, and its payments are released with the
 * key we have. Should the old transaction be mined later, that costs gas and moves nothing twice.
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
  // Read with the lease: its sender, or another one in its place, may just have closed some.
  const open = await relay.listOpenBatchesOf(address);
  if (open.length === 0) return;
  const counts = await readCounts(relayer, address);
  if (await resolveFinal(context, { open, counts })) {
    for (const { id, nonce } of open) {
      if (nonce < counts.final.count)
        onIncident({ kind: 'retired_batch_resolved', batchId: id, relayer: address });
    }
  }
  const unmined = unminedOf(open, counts);
  const head = unmined[0];
  if (head === undefined) return; // Mined; final soon.
  if (isGivenUp(context, head)) {
    // The highest nonce first: what is left of them never has a hole below it.
    for (const batch of unmined.toReversed()) {
      await abandonBatch(context, batch);
      onIncident({ kind: 'retired_batch_abandoned', batchId: batch.id, relayer: address });
    }
    return;
  }
  // Refused by all, for want of gas money perhaps: it is retried until it is abandoned.
  for (const batch of unmined) await rebroadcast(relayer, batch);
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
