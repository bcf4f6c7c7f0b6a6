import { ConfigError } from '../config.ts';
import type { Store } from '../store/store.ts';
import type { Settlement, World } from './world.ts';

/**
 * Remembers the settlement that new payments are made with, and returns it with all earlier ones, newest first.
 * Throws `ConfigError` when the data belongs to another chain: its payments could never be watched on this one.
 */
export async function rememberSettlement(
  store: Store,
  settlement: Settlement,
  nowMs: number,
): Promise<World['settlements']> {
  const known = await store.settlements.listSettlements();
  const foreign = known.find(({ chainId }) => chainId !== settlement.chainId);
  if (foreign !== undefined) {
    throw new ConfigError([
      `CHAIN_ID is ${settlement.chainId}, but the store holds payments of chain ${foreign.chainId}.`,
    ]);
  }
  await store.settlements.rememberSettlement({ ...settlement, lastStartedAtMs: nowMs });
  const isCurrent = ({ factory, feeWallet }: Settlement) =>
    factory === settlement.factory && feeWallet === settlement.feeWallet;
  return [settlement, ...known.filter((earlier) => !isCurrent(earlier))];
}

/** The factories of these settlements, each once. */
export function factoriesOf(settlements: World['settlements']): Settlement['factory'][] {
  return [...new Set(settlements.map(({ factory }) => factory))];
}
