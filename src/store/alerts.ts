import { UnknownStateError } from '../domain/errors.ts';
import { type Alert, type AlertKind, type AlertStore, alertKinds } from '../domain/ports/mail.ts';
import { insert, lock, run, runForOne, type Script, type Scripts, select } from './scripts.ts';
import { checkListLimit } from './store.ts';
import { alertTable } from './tables.ts';

/** Lock under which one of several processes counts or claims at a time. */
const LOCK = 'alerts';

/** Failures after ?1 and up to ?2, by account. The conditions repeat those of the indexes, because SQLite matches their text. */
const newAlerts = {
  webhooks: `SELECT account_id AS "accountId", count(*) AS count, min(finished_at_ms) AS "sinceMs" FROM webhooks
    WHERE status IN ('failed', 'blocked', 'unknown') AND finished_at_ms > ?1 AND finished_at_ms <= ?2 GROUP BY account_id`,
  payments: `SELECT account_id AS "accountId", count(*) AS count, min(at_ms) AS "sinceMs" FROM state_changes
    WHERE state IN ('unpaid/manual_required', 'paid/manual_required', 'canceled/manual_required')
      AND at_ms > ?1 AND at_ms <= ?2 GROUP BY account_id`,
} as const satisfies Record<AlertKind, string>;

/** Alerts that owners still have to receive, on any engine. */
export function createAlertStore(scripts: Scripts): AlertStore {
  return {
    recordAlerts: (earliestMs, throughMs) => scripts.write(() => recordAlerts(earliestMs, throughMs)),
    claimAlerts(notifiedBeforeMs, limit, nowMs) {
      checkListLimit(limit);
      return scripts.write(() => claimAlerts(notifiedBeforeMs, limit, nowMs));
    },
    returnAlert: (alert) => scripts.write(() => returnAlert(alert)),
  };
}

function* recordAlerts(earliestMs: number, throughMs: number): Script<void> {
  yield* lock(LOCK);
  const cursor = yield* runForOne<{ throughMs: number }>(
    `SELECT through_ms AS "throughMs" FROM alert_cursors WHERE name = 'notified'`,
  );
  if (cursor !== null && cursor.throughMs >= throughMs) return;
  yield* run(
    `INSERT INTO alert_cursors (name, through_ms) VALUES ('notified', ?1)
     ON CONFLICT (name) DO UPDATE SET through_ms = excluded.through_ms`,
    throughMs,
  );
  if (cursor === null) return;
  for (const kind of alertKinds) {
    const found = yield* run(newAlerts[kind], Math.max(cursor.throughMs, earliestMs), throughMs);
    for (const row of found) {
      const [accountId, count, sinceMs] = [
        String(row['accountId']),
        Number(row['count']),
        Number(row['sinceMs']),
      ];
      yield* insert(
        alertTable,
        { accountId, kind, count, sinceMs, notifiedAtMs: 0 },
        `ON CONFLICT (account_id, kind) DO UPDATE SET count = alerts.count + excluded.count,
           since_ms = CASE WHEN alerts.count = 0 THEN excluded.since_ms ELSE alerts.since_ms END`,
      );
    }
  }
}

function* claimAlerts(notifiedBeforeMs: number, limit: number, nowMs: number): Script<readonly Alert[]> {
  yield* lock(LOCK);
  const claimed = yield* select(
    alertTable,
    'WHERE count > 0 AND notified_at_ms < ?1 ORDER BY since_ms LIMIT ?2',
    notifiedBeforeMs,
    limit,
  );
  for (const { kind } of claimed) {
    if (!alertKinds.includes(kind)) throw new UnknownStateError(`there is no alert of the kind ${kind}`);
  }
  for (const { accountId, kind } of claimed) {
    yield* run(
      'UPDATE alerts SET count = 0, notified_at_ms = ?1 WHERE account_id = ?2 AND kind = ?3',
      nowMs,
      accountId,
      kind,
    );
  }
  return claimed;
}

function* returnAlert({ accountId, kind, count, sinceMs, notifiedAtMs }: Alert): Script<void> {
  yield* lock(LOCK);
  yield* run(
    `UPDATE alerts SET count = count + ?1, since_ms = ?2, notified_at_ms = ?3 WHERE account_id = ?4 AND kind = ?5`,
    count,
    sinceMs,
    notifiedAtMs,
    accountId,
    kind,
  );
}
