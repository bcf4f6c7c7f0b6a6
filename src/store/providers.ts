import type { PaymentStore } from '../payment/payment-store.ts';
import { isProviderId, type ProviderId } from '../payment/provider-catalog.ts';
import type { ProviderSettings, ProviderStore, VisitStore } from '../providers/provider.ts';
import { type Decisions, selectPayment } from './payments.ts';
import {
  type Fragment,
  hasRow,
  type Insertion,
  raw,
  run,
  type Script,
  type Scripts,
  sql,
} from './scripts.ts';
import { providerSessionTable, providerSettingsTable } from './tables.ts';

/** Writes only the given fields, so that concurrent changes to other fields are kept. */
function* writeProviderSettings(
  provider: ProviderId,
  { active, pinned, minimumUsdCents }: Partial<ProviderSettings>,
): Script<void> {
  yield* run`
    INSERT INTO provider_settings AS present (provider, active, pinned, minimum_usd_cents)
    VALUES (${provider}, ${active ?? null}, ${pinned ?? null}, ${minimumUsdCents ?? null})
    ON CONFLICT (provider) DO UPDATE SET
      active = CASE WHEN ${active !== undefined} THEN excluded.active ELSE present.active END,
      pinned = CASE WHEN ${pinned !== undefined} THEN excluded.pinned ELSE present.pinned END,
      minimum_usd_cents = CASE WHEN ${minimumUsdCents !== undefined}
        THEN excluded.minimum_usd_cents ELSE present.minimum_usd_cents END`;
}

export function createProviderStore({ read, write }: Scripts): ProviderStore {
  return {
    readProviderSettings: read(function* (provider) {
      const row = yield* providerSettingsTable.selectOne`WHERE provider = ${provider}`;
      if (row === null) return { active: null, pinned: null, minimumUsdCents: null };
      const { provider: _, ...settings } = row;
      return settings;
    }),
    writeProviderSettings: write(writeProviderSettings),
  };
}

export function createProviderSessions(
  { write }: Scripts,
  { decideOne }: Decisions,
): Pick<PaymentStore, 'addSession' | 'recordSessionProgress'> {
  return {
    addSession: write(function* (session, decide) {
      if ((yield* selectPayment(session.paymentId)) === null) return null;
      yield* providerSessionTable.insert(session);
      return yield* decideOne(session.paymentId, decide);
    }),
    recordSessionProgress: write(
      (id, sessionId, progress, atMs) => hasRow`
        UPDATE provider_sessions SET progress = ${progress}, progress_at_ms = ${atMs},
          approved_at_ms = CASE ${progress} WHEN 'delivering' THEN coalesce(approved_at_ms, ${atMs})
            WHEN 'delivered' THEN approved_at_ms END
        WHERE id = ${sessionId} AND payment_id = ${id}
          AND (progress IS NULL OR (progress <> 'delivered' AND (progress_at_ms < ${atMs}
            OR (progress_at_ms = ${atMs} AND ${rankOf(raw('progress'))} < ${rankOf(progress)}))))
        RETURNING id`,
    ),
  };
}

/**
 * Returns SQL that ranks progress reported at the same time, for example when one card was declined and another was
 * accepted within a second. A customer who may have been charged must not be asked to pay again.
 */
function rankOf(progress: Insertion): Fragment {
  return sql`(CASE ${progress} WHEN 'paying' THEN 0 WHEN 'failed' THEN 1 WHEN 'delivering' THEN 2 ELSE 3 END)`;
}

interface Visit {
  readonly provider: string;
  readonly country: string | null;
  readonly progress: string | null;
  readonly paymentId: string;
  readonly status: string;
  readonly createdAtMs: number;
}

export function createVisitStore({ read }: Scripts): VisitStore {
  return {
    listVisitOutcomes: read(function* (sinceMs, decidedBeforeMs, limit) {
      const visits = (yield* run`
        SELECT visits.provider, visits.customer_country AS country, visits.progress,
          visits.payment_id AS "paymentId", payments.status, visits.created_at_ms AS "createdAtMs"
        FROM (SELECT * FROM provider_sessions WHERE created_at_ms >= ${sinceMs}
          ORDER BY created_at_ms DESC LIMIT ${limit}) AS visits
        JOIN payments ON payments.id = visits.payment_id
        ORDER BY visits.created_at_ms DESC`) as unknown as readonly Visit[];
      const delivered = deliveredVisits(visits);
      return visits.flatMap((visit) => {
        const { provider, country, progress, createdAtMs } = visit;
        const isDelivered = delivered.has(visit);
        const isDecided = isDelivered || progress === 'failed' || createdAtMs < decidedBeforeMs;
        return isDecided && isProviderId(provider) ? [{ provider, country, isDelivered }] : [];
      });
    }),
  };
}

/** Returns the visits that paid: those reported as delivered or, without such reports, the newest that did not fail. */
function deliveredVisits(visits: readonly Visit[]): ReadonlySet<Visit> {
  const paid = Map.groupBy(
    visits.filter(({ status }) => status === 'paid'),
    ({ paymentId }) => paymentId,
  );
  return new Set(
    [...paid.values()].flatMap((ofPayment) => {
      const reported = ofPayment.filter(({ progress }) => progress === 'delivered');
      return reported.length > 0
        ? reported
        : ofPayment.filter(({ progress }) => progress !== 'failed').slice(0, 1);
    }),
  );
}
