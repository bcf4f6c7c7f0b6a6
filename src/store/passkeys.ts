import { MAXIMUM_PASSKEYS, type Passkey } from '../domain/passkey.ts';
import type { PasskeyStore } from '../domain/ports/people-store.ts';
import { lock, run, runForOne, type Script, type Scripts } from './script.ts';

const columns = `id, user_id AS "userId", name, public_key AS "publicKey", counter, transports,
  created_at_ms AS "createdAtMs", last_used_at_ms AS "lastUsedAtMs"`;

/** Passkeys, on any engine. */
export function createPasskeyStore(scripts: Scripts): PasskeyStore {
  return {
    addPasskey: (passkey) => scripts.write(() => addPasskey(passkey)),
    listPasskeys: (userId) =>
      scripts.read(function* () {
        const rows = yield* run(
          `SELECT ${columns} FROM passkeys WHERE user_id = ?1 ORDER BY created_at_ms, id`,
          userId,
        );
        return rows.map((row) => ({ ...row }) as unknown as Passkey);
      }),
    usePasskey: (userId, id, counter, atMs) =>
      scripts.write(function* () {
        const used = yield* run(
          `UPDATE passkeys SET counter = ?1, last_used_at_ms = ?2
           WHERE user_id = ?3 AND id = ?4 AND (counter < ?1 OR (counter = 0 AND ?1 = 0)) RETURNING id`,
          ...[counter, atMs, userId, id],
        );
        return used.length === 1;
      }),
    removePasskey: (userId, id) =>
      scripts.write(function* () {
        const sql = 'DELETE FROM passkeys WHERE user_id = ?1 AND id = ?2 RETURNING id';
        return (yield* run(sql, userId, id)).length === 1;
      }),
  };
}

function* addPasskey(passkey: Passkey): Script<boolean> {
  const { id, userId, name, publicKey, counter, transports, createdAtMs, lastUsedAtMs } = passkey;
  yield* lock(`user ${userId}`);
  const others = yield* runForOne<{ count: number }>(
    'SELECT count(*) AS count FROM passkeys WHERE user_id = ?1',
    userId,
  );
  if (Number(others?.count ?? 0) >= MAXIMUM_PASSKEYS) return false;
  const made = yield* run(
    `INSERT INTO passkeys (id, user_id, name, public_key, counter, transports, created_at_ms, last_used_at_ms)
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT (id) DO NOTHING RETURNING id`,
    ...[id, userId, name, publicKey, counter, transports, createdAtMs, lastUsedAtMs],
  );
  return made.length === 1;
}
