import { followBatch } from './relay/follow-batch.ts';
import { followRetiredBatches } from './relay/follow-retired-batches.ts';
import { openBatch } from './relay/open-batch.ts';
import type { RelayContext, RelayPass } from './relay/relay-context.ts';

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
