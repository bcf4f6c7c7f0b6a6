import type { SettlementRecord, SettlementStore } from '../domain/ports/settlement-store.ts';
import { run, type Script, type Scripts } from './scripts.ts';

/** The settlements a service was started with, on any engine. They are a handful, so each call reads them anew. */
export function createSettlementStore(scripts: Scripts): SettlementStore {
  return {
    rememberSettlement: (settlement) => scripts.write(() => rememberSettlement(settlement)),
    listSettlements: () => scripts.read(listSettlements),
  };
}

function* rememberSettlement(settlement: SettlementRecord): Script<void> {
  yield* run(
    `INSERT INTO settlements
       (chain_id, token, factory, implementation, factory_code_hash, fee_wallet, last_started_at_ms)
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
     ON CONFLICT (chain_id, factory, fee_wallet) DO UPDATE SET last_started_at_ms = excluded.last_started_at_ms`,
    settlement.chainId,
    settlement.token,
    settlement.factory,
    settlement.implementation,
    settlement.factoryCodeHash,
    settlement.feeWallet,
    settlement.lastStartedAtMs,
  );
}

function* listSettlements(): Script<readonly SettlementRecord[]> {
  const rows = yield* run(
    `SELECT chain_id AS "chainId", token, factory, implementation, factory_code_hash AS "factoryCodeHash",
            fee_wallet AS "feeWallet", last_started_at_ms AS "lastStartedAtMs"
     FROM settlements ORDER BY last_started_at_ms DESC`,
  );
  return rows.map((row) => ({ ...row }) as unknown as SettlementRecord);
}
