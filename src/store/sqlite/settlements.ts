import type { DatabaseSync } from 'node:sqlite';
import type { SettlementRecord, SettlementStore } from '../../domain/ports/settlement-store.ts';
import type { GroupCommit } from './group-commit.ts';

/** There are a handful at most, so they are read as they are needed. */
export function createSettlementStore(database: DatabaseSync, writes: GroupCommit): SettlementStore {
  const upsert = database.prepare(
    `INSERT INTO settlements
       (chain_id, token, factory, implementation, factory_code_hash, fee_wallet, last_started_at_ms)
     VALUES (?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (chain_id, factory, fee_wallet) DO UPDATE SET last_started_at_ms = excluded.last_started_at_ms`,
  );
  const select = database.prepare(
    `SELECT chain_id AS "chainId", token, factory, implementation, factory_code_hash AS "factoryCodeHash",
            fee_wallet AS "feeWallet", last_started_at_ms AS "lastStartedAtMs"
     FROM settlements ORDER BY last_started_at_ms DESC`,
  );
  return {
    async rememberSettlement(settlement) {
      const { chainId, token, factory, implementation, factoryCodeHash, feeWallet, lastStartedAtMs } =
        settlement;
      await writes.runStatement(() =>
        upsert.run(chainId, token, factory, implementation, factoryCodeHash, feeWallet, lastStartedAtMs),
      );
    },
    async listSettlements() {
      return select.all() as unknown as SettlementRecord[];
    },
  };
}
