import type { RecordStore } from '../accounts/record-store.ts';
import { raw, run, type Scripts, sql } from './scripts.ts';
import { accountRecordTable } from './tables.ts';

const LISTED = 1_000;

export function createRecordStore({ read, write }: Scripts): RecordStore {
  return {
    addRecords: write(function* (records) {
      for (const record of records) yield* accountRecordTable.insert(record, 'ON CONFLICT DO NOTHING');
    }),
    replaceRecord: write(function* (record) {
      const { accountId, kind, name } = record;
      yield* run`DELETE FROM account_records
        WHERE account_id = ${accountId} AND kind = ${kind} AND name = ${name}`;
      yield* accountRecordTable.insert(record);
    }),
    listRecords: read(function* (accountId, kind, names) {
      const named = names === undefined ? raw('') : sql`AND name = ANY(${names})`;
      return yield* accountRecordTable.select`
        WHERE account_id = ${accountId} AND kind = ${kind} ${named}
        ORDER BY at_ms DESC, name LIMIT ${LISTED}`;
    }),
  };
}
