import type { Table } from '../../store/columns.ts';
import { quietUntilMs } from '../../store/restores.ts';
import { lock, type Rows, run, runForOne, type Script, type Scripts, tablesIn } from '../../store/scripts.ts';
import type { StoredFeature } from '../../store/stored-feature.ts';
import { type Alert, type AlertKind, type AlertStore, alertKinds } from './alert-store.ts';

const tables: Table[] = [];
const table = tablesIn(tables);

const alertTable = table<Alert>('alerts', ['account_id', 'kind'])({
  text: ['accountId', 'kind'],
  integer: ['count', 'sinceMs', 'notifiedAtMs'],
});

table<{ name: string; throughMs: number }>('alert_cursors', ['name'])({
  text: ['name'],
  integer: ['throughMs'],
});

/** Lock that serializes counting and claiming across processes. */
const LOCK = 'alerts';

type NewAlerts = (afterMs: number, throughMs: number) => Script<Rows>;

/** Counts failures in a period by account. Repeats the partial indexes' conditions, so that SQLite uses the indexes. */
const newAlerts: Readonly<Record<AlertKind, NewAlerts>> = {
  webhooks: (afterMs, throughMs) => run`
    SELECT account_id AS "accountId", count(*) AS count, min(finished_at_ms) AS "sinceMs" FROM webhooks
    WHERE status IN ('failed', 'blocked', 'unknown') AND finished_at_ms > ${afterMs}
      AND finished_at_ms <= ${throughMs} GROUP BY account_id`,
  payments: (afterMs, throughMs) => run`
    SELECT account_id AS "accountId", count(*) AS count, min(at_ms) AS "sinceMs"
    FROM state_changes JOIN payments ON payments.id = payment_id WHERE state IN ('unpaid/manual_required', 'paid/manual_required', 'canceled/manual_required')
      AND at_ms > ${afterMs} AND at_ms <= ${throughMs} GROUP BY account_id`,
};

export function createAlertStore({ write }: Scripts): AlertStore {
  return {
    recordAlerts: write(function* (earliestMs, throughMs) {
      yield* lock(LOCK);
      const cursor = yield* runForOne<{ throughMs: number }>`
        SELECT through_ms AS "throughMs" FROM alert_cursors WHERE name = 'notified'`;
      if (cursor !== null && cursor.throughMs >= throughMs) return;
      yield* run`INSERT INTO alert_cursors (name, through_ms) VALUES ('notified', ${throughMs})
         ON CONFLICT (name) DO UPDATE SET through_ms = excluded.through_ms`;
      if (cursor === null) return;
      for (const kind of alertKinds) {
        // After a restore, webhooks marked `unknown` raise alerts, but payments do not raise alerts again.
        const quietMs = kind === 'payments' ? yield* quietUntilMs() : 0;
        const found = yield* newAlerts[kind](Math.max(cursor.throughMs, earliestMs, quietMs), throughMs);
        for (const row of found) {
          const [count, sinceMs] = [Number(row['count']), Number(row['sinceMs'])];
          yield* alertTable.insert(
            { accountId: String(row['accountId']), kind, count, sinceMs, notifiedAtMs: 0 },
            `ON CONFLICT (account_id, kind) DO UPDATE SET count = alerts.count + excluded.count,
               since_ms = CASE WHEN alerts.count = 0 THEN excluded.since_ms ELSE alerts.since_ms END`,
          );
        }
      }
    }),
    claimAlerts: write(function* (notifiedBeforeMs, limit, nowMs) {
      yield* lock(LOCK);
      const claimed = yield* alertTable.select`
        WHERE count > 0 AND notified_at_ms < ${notifiedBeforeMs}
        ORDER BY since_ms LIMIT ${limit}`;
      for (const { accountId, kind } of claimed) {
        yield* run`
          UPDATE alerts SET count = 0, notified_at_ms = ${nowMs}
          WHERE account_id = ${accountId} AND kind = ${kind}`;
      }
      return claimed;
    }),
    returnAlert: write(function* ({ accountId, kind, count, sinceMs, notifiedAtMs }) {
      yield* lock(LOCK);
      yield* run`
        UPDATE alerts SET count = count + ${count}, since_ms = ${sinceMs}, notified_at_ms = ${notifiedAtMs}
        WHERE account_id = ${accountId} AND kind = ${kind}`;
    }),
  };
}

export const storedAlerts: StoredFeature = {
  schema: new URL('schema.sql', import.meta.url),
  tables,
};
