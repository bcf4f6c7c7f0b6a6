import { ConfigError } from '../config/config.ts';
import type { Store } from '../store/store.ts';
import type { ExternalServices, Settlement } from './external-services.ts';

/**
 * Remembers the settlement that new payments are made with, and returns it with all earlier ones, newest first.
 * Throws `ConfigError` when the data belongs to another chain: its payments could never be watched on this one.
 */
export async function rememberSettlement(
  store: Store,
  settlement: Settlement,
  nowMs: number,
): Promise<ExternalServices['settlements']> {
  const known = await store.settlements.listSettlements();
  requireOneChain(known, settlement.chainId);
  await store.settlements.rememberSettlement({ ...settlement, lastStartedAtMs: nowMs });
  const isCurrent = ({ factory, feeWallet }: Settlement) =>
    factory === settlement.factory && feeWallet === settlement.feeWallet;
  return [settlement, ...known.filter((earlier) => !isCurrent(earlier))];
}

/** Throws `ConfigError` when a known settlement is of another chain than `chainId`. */
export function requireOneChain(known: readonly Pick<Settlement, 'chainId'>[], chainId: number): void {
  const foreign = known.find((settlement) => settlement.chainId !== chainId);
  if (foreign === undefined) return;
  throw new ConfigError([
    `CHAIN_ID is ${chainId}, but the database belongs to chain ${foreign.chainId}: set DATA_DIR or DATABASE_URL to another one.`,
  ]);
}

/** The factories of these settlements, each once. */
export function factoriesOf(settlements: readonly Settlement[]): Settlement['factory'][] {
  return [...new Set(settlements.map(({ factory }) => factory))];
}
