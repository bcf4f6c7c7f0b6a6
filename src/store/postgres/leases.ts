import type { Payment } from '../../payment/payment.ts';
import type { LeaseStore, RelayStore } from '../../settlement/settlement-store.ts';
import { isReleaseDue, paymentOf } from '../payments.ts';
import { raw, run, type Script, type Scripts } from '../scripts.ts';
import { paymentTable } from '../tables.ts';
import type { Database } from './open-database.ts';
import { statement } from './statements.ts';

/** Takes or extends a lease by the server's clock. A disconnected machine would hold an advisory lock for hours. */
const take = statement(`
  INSERT INTO leases AS present (name, holder, ends_at)
  VALUES ($1, $2, clock_timestamp() + $3 * interval '1 millisecond')
  ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, ends_at = excluded.ends_at
  WHERE present.holder = excluded.holder OR present.ends_at <= clock_timestamp()
  RETURNING name`);
const release = statement('DELETE FROM leases WHERE name = $1 AND holder = $2');

export function createLeaseStore(database: Database): LeaseStore {
  return {
    takeLease: async (name, holder, durationMs) =>
      (await database.query(take, [name, holder, durationMs])).length === 1,
    async releaseLease(name, holder) {
      await database.query(release, [name, holder]);
    },
  };
}

/** Creates methods with which relayers claim the releases to send. Claims expire by the server's clock. */
export function createReleaseClaims({ write }: Scripts): Pick<RelayStore, 'claimDueReleases' | 'dropClaims'> {
  return {
    claimDueReleases: write(claimDueReleases),
    /** Deletes the relayer's claims, and expired claims of other relayers. */
    dropClaims: write(function* (relayer) {
      yield* run`DELETE FROM release_claims WHERE relayer = ${relayer} OR ends_at < clock_timestamp()`;
    }),
  };
}

/** Claims due releases. Skips payments that another relayer is claiming or has claimed since the statement began. */
function* claimDueReleases(
  relayer: string,
  nowMs: number,
  limit: number,
  durationMs: number,
): Script<readonly Payment[]> {
  const rows = yield* run`
    WITH due AS (
      SELECT id FROM payments
      WHERE ${isReleaseDue(nowMs)} AND NOT EXISTS (
        SELECT FROM release_claims AS other
        WHERE other.payment_id = payments.id AND other.relayer <> ${relayer} AND other.ends_at > clock_timestamp())
      ORDER BY release_due_at_ms, id LIMIT ${limit} FOR NO KEY UPDATE SKIP LOCKED
    ), claimed AS (
      INSERT INTO release_claims AS present (payment_id, relayer, ends_at)
      SELECT id, ${relayer}::text, clock_timestamp() + ${durationMs} * interval '1 millisecond' FROM due
      ON CONFLICT (payment_id) DO UPDATE SET relayer = excluded.relayer, ends_at = excluded.ends_at
      WHERE present.relayer = excluded.relayer OR present.ends_at <= clock_timestamp()
      RETURNING present.payment_id AS claimed_id
    )
    SELECT ${raw(paymentTable.qualifiedNames)} FROM payments JOIN claimed ON id = claimed_id
    ORDER BY release_due_at_ms, id`;
  return rows.map(paymentOf);
}
