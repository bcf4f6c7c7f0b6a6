import type { SettlementRecord, SettlementStore } from '../../domain/ports/settlement-store.ts';
import type { Database } from './open-database.ts';
import { statement } from './statement.ts';

const upsert = statement(`
  INSERT INTO settlements
    (chain_id, token, factory, implementation, factory_code_hash, fee_wallet, last_started_at_ms)
  VALUES ($1, $2, $3, $4, $5, $6, $7)
  ON CONFLICT (chain_id, factory, fee_wallet) DO UPDATE SET last_started_at_ms = excluded.last_started_at_ms`);
const select = statement(`
  SELECT chain_id AS "chainId", token, factory, implementation, factory_code_hash AS "factoryCodeHash",
    fee_wallet AS "feeWallet", last_started_at_ms AS "lastStartedAtMs"
  FROM settlements ORDER BY last_started_at_ms DESC`);

/** There are a handful at most, so they are read as they are needed. */
export function createSettlementStore(database: Database): SettlementStore {
  return {
    async rememberSettlement(settlement) {
      const { chainId, token, factory, implementation, factoryCodeHash, feeWallet, lastStartedAtMs } =
        settlement;
      const values = [chainId, token, factory, implementation, factoryCodeHash, feeWallet, lastStartedAtMs];
      await database.execute(upsert, values);
    },
    listSettlements: () => database.query<SettlementRecord>(select),
  };
}
