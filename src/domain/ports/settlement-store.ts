import type { Address } from '../payout-address.ts';

/** What payments were made with at some time: a factory and the wallet that its fees go to. */
export interface SettlementRecord {
  readonly chainId: number;
  readonly token: Address;
  readonly factory: Address;
  readonly implementation: Address;
  /** keccak-256 of the factory's code on chain, `0x` and 64 digits. */
  readonly factoryCodeHash: string;
  readonly feeWallet: Address;
  readonly lastStartedAtMs: number;
}

/**
 * Every settlement this service was ever started with. Payments keep what they were made with, so earlier factories
 * are watched and published as well, for as long as the data lives.
 */
export interface SettlementStore {
  /** Adds the settlement, or moves a known one (same chain, factory and fee wallet) to the front. */
  rememberSettlement(settlement: SettlementRecord): Promise<void>;
  /** The one started last first. */
  listSettlements(): Promise<readonly SettlementRecord[]>;
}
