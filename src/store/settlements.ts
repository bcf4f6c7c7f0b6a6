import type { SettlementStore } from '../domain/ports/settlement-store.ts';
import { insert, type Scripts, select } from './scripts.ts';
import { settlementTable } from './tables.ts';

/** The settlements a service was started with, on any engine. They are a handful, so each call reads them anew. */
export function createSettlementStore(scripts: Scripts): SettlementStore {
  const moveToFront = `ON CONFLICT (chain_id, factory, fee_wallet)
    DO UPDATE SET last_started_at_ms = excluded.last_started_at_ms`;
  return {
    async rememberSettlement(settlement) {
      await scripts.write(() => insert(settlementTable, settlement, moveToFront));
    },
    listSettlements: () => scripts.read(() => select(settlementTable, 'ORDER BY last_started_at_ms DESC')),
  };
}
