import type { RelayLimits } from '../batch-and-gas-limits.ts';
import { SELF_TRANSFER_GAS } from '../chain/chain.ts';
import type { RelayBatch } from '../settlement-store.ts';
import type { RelayContext } from './relay-context.ts';
import { ignoreRefusal, signAttempt } from './size-batch.ts';

/** Transaction counts of the relayer on the chain, read once per pass. */
export type TransactionCounts = Awaited<ReturnType<typeof readCounts>>;

export interface BatchesInFlight {
  readonly open: readonly RelayBatch[];
  readonly counts: TransactionCounts;
}

/** Reads the final and latest transaction counts of the relayer or another address. */
export async function readCounts(
  { relayer, observations }: Pick<RelayContext, 'relayer' | 'observations'>,
  of?: string,
) {
  // The cursor is read first, so that the final count covers only blocks that the watcher has scanned.
  const cursor = await observations.readCursor();
  const final = cursor === null ? 0 : await relayer.readFinalTransactionCount(cursor.number, of);
  const latest = await relayer.readLatestTransactionCount(of);
  // Never below the final count, even if a lagging node reports a lower one.
  return { final, latest: Math.max(latest, final) };
}

export function unminedOf(open: readonly RelayBatch[], { latest }: TransactionCounts): RelayBatch[] {
  return open.filter(({ nonce }) => nonce >= latest);
}

/** Returns whether another batch may be in flight. Nodes drop transactions beyond their own limits. */
export function hasFreeSlot(
  { maximumUnmined, maximumOpen }: RelayLimits,
  open: readonly RelayBatch[],
  counts: TransactionCounts,
): boolean {
  return open.length < maximumOpen && unminedOf(open, counts).length < maximumUnmined;
}

/** Returns the next unused nonce, even if a node lags. `open` is sorted by nonce. */
export async function chooseNonce(
  { relay, relayer }: Pick<RelayContext, 'relay' | 'relayer'>,
  open: readonly RelayBatch[],
  counts: TransactionCounts,
): Promise<number> {
  const last = open.at(-1);
  const own = last === undefined ? await relay.findNextNonce(relayer.address) : last.nonce + 1;
  return Math.max(counts.latest, own ?? 0);
}

/** Uses up the missing nonces before `endNonce` with transfers to the relayer itself. */
export async function fillGap(context: RelayContext, fromNonce: number, endNonce: number): Promise<void> {
  const fees = await context.relayer.quoteFees();
  context.onIncident({ kind: 'filled_gap', fromNonce, toNonce: endNonce - 1 });
  for (let nonce = fromNonce; nonce < endNonce; nonce++) {
    const transaction = { kind: 'self_transfer' } as const;
    const attempt = await signAttempt(context, transaction, nonce, SELF_TRANSFER_GAS, fees);
    const batch: Omit<RelayBatch, 'id'> = {
      relayer: context.relayer.address,
      nonce,
      kind: 'self_transfer',
      rescueToken: null,
      gasLimit: SELF_TRANSFER_GAS,
      paymentIds: [],
      attempts: [attempt],
      createdAtMs: context.nowMs(),
    };
    await context.relay.openBatch(batch, () => null);
    await context.relayer.broadcast(attempt.rawTransaction).catch(ignoreRefusal);
  }
}
