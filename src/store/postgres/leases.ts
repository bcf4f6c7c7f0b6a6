import { LONGEST_DELAY_MS, LONGEST_FIRST_DELAY_MS } from '../../payment/release-schedule.ts';
import type { LeaseStore, RelayStore } from '../../settlement/settlement-store.ts';
import { paymentOfRow } from '../payments.ts';
import { checkedLimit } from '../scripts.ts';
import type { Database } from './open-database.ts';
import { paymentColumns } from './scripts.ts';
import { arrayStatement, statement } from './statements.ts';

/**
 * A lease row instead of an advisory lock, which a machine that has dropped off the network would hold until the server
 * notices, possibly for hours. Only the server's clock counts.
 */
const take = statement(`
  INSERT INTO leases AS present (name, holder, ends_at)
  VALUES ($1, $2, clock_timestamp() + $3 * interval '1 millisecond')
  ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, ends_at = excluded.ends_at
  WHERE present.holder = excluded.holder OR present.ends_at <= clock_timestamp()`);
const release = statement('DELETE FROM leases WHERE name = $1 AND holder = $2');

export function createLeaseStore(database: Database): LeaseStore {
  return {
    takeLease: async (name, holder, durationMs) =>
      (await database.execute(take, [name, holder, durationMs])) === 1,
    async releaseLease(name, holder) {
      await database.execute(release, [name, holder]);
    },
  };
}

/**
 * Walks the partial index, which holds few rows: due releases and those that wait after a failure. Rows that another
 * relayer is claiming are skipped; a claim committed in between wins over ours.
 */
const claimDue = arrayStatement(`
  WITH due AS (
    SELECT id FROM payments
    WHERE release_due_at_ms IS NOT NULL AND relay_batch_id IS NULL AND (
      release_due_at_ms <= $2::bigint OR release_due_at_ms > $2::bigint + ${LONGEST_DELAY_MS} OR
      (release_due_at_ms > $2::bigint + ${LONGEST_FIRST_DELAY_MS} AND release_refusals = 0 AND no_op_batches = 0))
      AND NOT EXISTS (
        SELECT FROM release_claims AS other
        WHERE other.payment_id = payments.id AND other.relayer <> $1 AND other.ends_at > clock_timestamp())
    ORDER BY release_due_at_ms, id LIMIT $3 FOR NO KEY UPDATE SKIP LOCKED
  ), claimed AS (
    INSERT INTO release_claims AS present (payment_id, relayer, ends_at)
    SELECT id, $1, clock_timestamp() + $4 * interval '1 millisecond' FROM due
    ON CONFLICT (payment_id) DO UPDATE SET relayer = excluded.relayer, ends_at = excluded.ends_at
    WHERE present.relayer = excluded.relayer OR present.ends_at <= clock_timestamp()
    RETURNING present.payment_id AS claimed_id
  )
  SELECT ${paymentColumns} FROM payments JOIN claimed ON id = claimed_id ORDER BY release_due_at_ms, id`);
/** Also deletes expired claims of other relayers. */
const dropClaims = statement('DELETE FROM release_claims WHERE relayer = $1 OR ends_at < clock_timestamp()');

/** Relayers' claims on the releases that they prepare, which expire by the server's clock. */
export function createReleaseClaims(database: Database): Pick<RelayStore, 'claimDueReleases' | 'dropClaims'> {
  return {
    async claimDueReleases(relayer, nowMs, limit, durationMs) {
      const values = [relayer, nowMs, checkedLimit(limit), durationMs];
      return (await database.query<unknown[]>(claimDue, values)).map(paymentOfRow);
    },
    async dropClaims(relayer) {
      await database.execute(dropClaims, [relayer]);
    },
  };
}
