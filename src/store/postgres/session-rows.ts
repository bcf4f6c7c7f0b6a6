import type { ProviderSession } from '../../domain/provider-session.ts';
import { progressRankSql } from '../sessions.ts';
import { statement } from './statements.ts';

/** The sessions of a row of `payments`, oldest first, as a JSON array of `SessionRow`. Amounts are text. */
export const sessionsOfPaymentSql = `
  (SELECT coalesce(json_agg(json_build_object(
     'id', id, 'paymentId', payment_id, 'provider', provider, 'redirectUrl', redirect_url,
     'providerReference', provider_reference, 'quotedUnits', quoted_units::text,
     'createdAtMs', created_at_ms, 'expiresAtMs', expires_at_ms,
     'progress', progress, 'progressAtMs', progress_at_ms, 'language', language,
     'hasEmail', has_email, 'customerIpHash', customer_ip_hash, 'customerCountry', customer_country) ORDER BY created_at_ms, id), '[]')
   FROM provider_sessions
   WHERE provider_sessions.account_id = payments.account_id AND payment_id = payments.id)`;

/** Takes the values of `sessionValues`, then the account. Writes nothing when there is no such payment. */
export const insertSession = statement(`
  INSERT INTO provider_sessions
    (id, account_id, payment_id, provider, redirect_url, provider_reference, quoted_units, created_at_ms, expires_at_ms,
     progress, progress_at_ms, language, has_email, customer_ip_hash, customer_country)
  SELECT $1, account_id, id, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14
  FROM payments WHERE id = $2 AND account_id = $15`);

/** Takes progress, its time, the session, the payment and the account. */
export const recordProgress = statement(`
  UPDATE provider_sessions SET progress = $1, progress_at_ms = $2
  WHERE id = $3 AND payment_id = $4 AND account_id = $5
    AND (progress IS NULL OR (progress <> 'delivered' AND (progress_at_ms < $2
      OR (progress_at_ms = $2 AND ${progressRankSql('progress')} < ${progressRankSql('$1')}))))`);

export function sessionValues(session: ProviderSession): unknown[] {
  return [
    session.id,
    session.paymentId,
    session.provider,
    session.redirectUrl,
    session.providerReference,
    session.quotedUnits,
    session.createdAtMs,
    session.expiresAtMs,
    session.progress,
    session.progressAtMs,
    session.language,
    session.hasEmail,
    session.customerIpHash,
    session.customerCountry,
  ];
}
