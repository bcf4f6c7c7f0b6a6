import type { RecordStore } from '../domain/ports/record-store.ts';
import { insert, raw, run, type Scripts, select, sql } from './scripts.ts';
import { accountRecordTable } from './tables.ts';

const LISTED = 1_000;

/** What the dashboard keeps beside the payments, on any engine. */
export function createRecordStore({ read, write }: Scripts): RecordStore {
  return {
    addRecords: write(function* (records) {
      for (const record of records) yield* insert(accountRecordTable, record, 'ON CONFLICT DO NOTHING');
    }),
    replaceRecord: write(function* (record) {
      const { accountId, kind, name } = record;
      yield* run`DELETE FROM account_records
        WHERE account_id = ${accountId} AND kind = ${kind} AND name = ${name}`;
      yield* insert(accountRecordTable, record);
    }),
    listRecords: read(function* (accountId, kind, names) {
      const named = names === undefined ? raw('') : sql`AND name = ANY(${names})`;
      return yield* select(accountRecordTable)`
        WHERE account_id = ${accountId} AND kind = ${kind} ${named}
        ORDER BY at_ms DESC, name LIMIT ${LISTED}`;
    }),
  };
}
