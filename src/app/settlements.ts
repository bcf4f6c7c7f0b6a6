import { ConfigError } from '../config/config.ts';
import type { ExternalServices, Settlement } from './external-services.ts';
import type { Store } from './store/store.ts';

/** Stores a settlement and returns it with all earlier ones, newest first. Throws `ConfigError` for another chain. */
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

/** Throws `ConfigError` if a known settlement is on another chain. */
export function requireOneChain(known: readonly Pick<Settlement, 'chainId'>[], chainId: number): void {
  const foreign = known.find((settlement) => settlement.chainId !== chainId);
  if (foreign === undefined) return;
  throw new ConfigError([
    `CHAIN_ID is ${chainId}, but the database belongs to chain ${foreign.chainId}: set DATA_DIR or DATABASE_URL to another one.`,
  ]);
}

export function factoriesOf(settlements: readonly Settlement[]): Settlement['factory'][] {
  return [...new Set(settlements.map(({ factory }) => factory))];
}
