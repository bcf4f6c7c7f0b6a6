import type { PaymentStore } from '../domain/ports/payment-store.ts';
import { placesOf } from './columns.ts';
import { decideAll, type EngineTraits, run, type Scripts } from './scripts.ts';
import { providerSessionTable } from './tables.ts';

const PARAMETERS = providerSessionTable.columns.filter(({ field }) => field !== null).length;

/** Writes of the sessions that customers have at providers. */
export type ProviderSessionWrites = Pick<PaymentStore, 'addSession' | 'recordSessionProgress'>;

/** The same on any engine. */
export function createProviderSessions(
  scripts: Scripts,
  { isByAccount }: EngineTraits,
): ProviderSessionWrites {
  const { names } = providerSessionTable;
  /** Inserts nothing when there is no such payment. */
  const insertSql = `INSERT INTO provider_sessions (${isByAccount ? `${names}, account_id` : names})
    SELECT ${placesOf(PARAMETERS)} ${isByAccount ? ', account_id' : ''} FROM payments
    WHERE id = ?${PARAMETERS + 1} AND account_id = ?${PARAMETERS + 2} RETURNING id`;
  const isOfPayment = isByAccount
    ? 'payment_id = ?4 AND account_id = ?5'
    : 'payment_id = (SELECT id FROM payments WHERE id = ?4 AND account_id = ?5)';
  const recordProgressSql = `UPDATE provider_sessions SET progress = ?1, progress_at_ms = ?2
    WHERE id = ?3 AND ${isOfPayment}
      AND (progress IS NULL OR (progress <> 'delivered' AND (progress_at_ms < ?2
        OR (progress_at_ms = ?2 AND ${progressRankSql('progress')} < ${progressRankSql('?1')}))))
    RETURNING id`;

  return {
    addSession: (payment, session, decide) =>
      scripts.write(function* () {
        const values = providerSessionTable.valuesOf(session);
        const inserted = yield* run(insertSql, ...values, payment.id, payment.accountId);
        if (inserted.length === 0) return null;
        const [decided = null] = yield* decideAll([payment], decide);
        return decided;
      }),
    recordSessionProgress: async ({ id, accountId }, sessionId, progress, atMs) => {
      const recorded = await scripts.write(() =>
        run(recordProgressSql, progress, atMs, sessionId, id, accountId),
      );
      return recorded.length === 1;
    },
  };
}

/**
 * The rank of a progress, as SQL: of two reports with the same time the higher one counts. Some providers report the time
 * in seconds, in which a card is declined and another one accepted. A customer who may have been charged must not be
 * asked to pay again.
 */
function progressRankSql(progress: string): string {
  return `(CASE ${progress} WHEN 'paying' THEN 0 WHEN 'failed' THEN 1 WHEN 'delivering' THEN 2 ELSE 3 END)`;
}
