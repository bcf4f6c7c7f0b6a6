import type { VisitStore } from '../domain/ports/provider.ts';
import { isProviderId, type ProviderId } from '../domain/provider-catalogue.ts';
import type { VisitOutcome } from '../domain/provider-success.ts';
import { type EngineTraits, run, type Script, type Scripts } from './scripts.ts';
import { checkListLimit } from './store.ts';

/** A visit and the state of its payment. */
interface Visit {
  readonly provider: string;
  readonly country: string | null;
  readonly progress: string | null;
  readonly paymentId: string;
  readonly status: string;
  readonly createdAtMs: number;
}

/** How customers' visits to providers ended, on any engine. */
export function createVisitStore(scripts: Scripts, traits: EngineTraits): VisitStore {
  return {
    listVisitOutcomes(sinceMs, decidedBeforeMs, limit) {
      checkListLimit(limit);
      return scripts.read(() => listOutcomes(traits, sinceMs, decidedBeforeMs, limit));
    },
  };
}

function* listOutcomes(
  { isByAccount }: EngineTraits,
  sinceMs: number,
  decidedBeforeMs: number,
  limit: number,
): Script<readonly VisitOutcome[]> {
  const visits = (yield* run(
    `SELECT visits.provider, visits.customer_country AS country, visits.progress, visits.payment_id AS "paymentId",
       payments.status, visits.created_at_ms AS "createdAtMs"
     FROM (SELECT * FROM provider_sessions WHERE created_at_ms >= ?1 ORDER BY created_at_ms DESC LIMIT ?2) AS visits
     JOIN payments ON payments.id = visits.payment_id ${isByAccount ? 'AND payments.account_id = visits.account_id' : ''}
     ORDER BY visits.created_at_ms DESC`,
    sinceMs,
    limit,
  )) as unknown as readonly Visit[];
  const delivered = deliveredVisits(visits);
  return visits.flatMap((visit) => {
    const { provider, country, progress, createdAtMs } = visit;
    const isDelivered = delivered.has(visit);
    const isDecided = isDelivered || progress === 'failed' || createdAtMs < decidedBeforeMs;
    return isDecided && isProviderId(provider)
      ? [{ provider: provider as ProviderId, country, isDelivered }]
      : [];
  });
}

/**
 * The visits that paid: of each paid payment those that the provider reports as delivered, or without a report its newest
 * one that did not fail.
 */
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
