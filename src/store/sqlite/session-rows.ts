import type { ProviderSession } from '../../domain/provider-session.ts';
import { progressRankSql } from '../sessions.ts';

/** For `SELECT … FROM provider_sessions`, with the names of `SessionRow`. */
export const sessionColumns = `
  id, payment_id AS "paymentId", provider, redirect_url AS "redirectUrl",
  provider_reference AS "providerReference", quoted_units AS "quotedUnits",
  created_at_ms AS "createdAtMs", expires_at_ms AS "expiresAtMs", progress, progress_at_ms AS "progressAtMs",
  language, has_email AS "hasEmail", customer_ip_hash AS "customerIpHash", customer_country AS "customerCountry"`;

/** Takes the values of `sessionValues`. */
export const insertSessionSql = `
  INSERT INTO provider_sessions
    (id, payment_id, provider, redirect_url, provider_reference, quoted_units, created_at_ms, expires_at_ms,
     progress, progress_at_ms, language, has_email, customer_ip_hash, customer_country)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;

/** Takes progress, its time, the session, the payment and the account. */
export const recordProgressSql = `
  UPDATE provider_sessions SET progress = ?1, progress_at_ms = ?2
  WHERE id = ?3 AND payment_id = (SELECT id FROM payments WHERE id = ?4 AND account_id = ?5)
    AND (progress IS NULL OR (progress <> 'delivered' AND (progress_at_ms < ?2
      OR (progress_at_ms = ?2 AND ${progressRankSql('progress')} < ${progressRankSql('?1')}))))`;

export function sessionValues(session: ProviderSession): (string | number | null)[] {
  return [
    session.id,
    session.paymentId,
    session.provider,
    session.redirectUrl,
    session.providerReference,
    session.quotedUnits === null ? null : session.quotedUnits.toString(),
    session.createdAtMs,
    session.expiresAtMs,
    session.progress,
    session.progressAtMs,
    session.language,
    session.hasEmail ? 1 : 0,
    session.customerIpHash,
    session.customerCountry,
  ];
}
