import type { PaymentId } from '../payment/payment.ts';
import { type ProviderId, providerIds } from '../payment/provider-catalog.ts';

/** Outcome of a session at a provider, without anything that identifies the customer or the payment. */
export interface VisitOutcome {
  readonly provider: ProviderId;
  /** ISO 3166-1 alpha-2 code; null if unknown. */
  readonly country: string | null;
  readonly isDelivered: boolean;
}

/** Weight of a visit relative to the next newer visit, so that about the last 25 visits count. */
const MEMORY_PER_VISIT = 0.96;
/** Share assumed for a provider without visits, and the number of visits that this assumption counts as. */
const ASSUMED_SHARE = 0.7;
const ASSUMED_VISITS = 10;

export type SuccessRates = ReturnType<typeof estimateSuccess>;

const noVisits = { visits: 0, arrived: 0, weight: 0, delivered: 0, nextWeight: 1 };

/** Estimates delivered shares from visits, newest first. A country without visits has the provider's overall share. */
export function estimateSuccess(visits: readonly VisitOutcome[]) {
  const counts = new Map<string, typeof noVisits & Pick<VisitOutcome, 'provider' | 'country'>>();
  const add = ({ provider, isDelivered }: VisitOutcome, country: string | null) => {
    const key = country === null ? provider : `${provider} ${country}`;
    const count = counts.get(key) ?? { provider, country, ...noVisits };
    count.visits++;
    if (isDelivered) count.arrived++;
    count.weight += count.nextWeight;
    if (isDelivered) count.delivered += count.nextWeight;
    count.nextWeight *= MEMORY_PER_VISIT;
    counts.set(key, count);
  };
  for (const visit of visits) {
    add(visit, null);
    if (visit.country !== null) add(visit, visit.country);
  }
  const shareOf = (key: string, assumed: number) => {
    const { weight, delivered } = counts.get(key) ?? { weight: 0, delivered: 0 };
    return (delivered + assumed * ASSUMED_VISITS) / (weight + ASSUMED_VISITS);
  };
  /** Returns a share above 0 and up to 1. A provider without visits has the assumed share. */
  const probability = (provider: ProviderId, country: string | null) => {
    const overall = shareOf(provider, ASSUMED_SHARE);
    return country === null ? overall : shareOf(`${provider} ${country}`, overall);
  };
  return {
    probability,
    visits: (provider: ProviderId) => counts.get(provider)?.visits ?? 0,
    total: visits.length,
    /** Lists the data behind the estimates, most visits first. A null country covers all countries. */
    list: () =>
      [...counts.values()]
        .map(({ provider, country, visits, arrived: delivered }) => {
          return { provider, country, visits, delivered, probability: probability(provider, country) };
        })
        .sort((a, b) => b.visits - a.visits),
  };
}

export interface RankedOffer {
  readonly provider: ProviderId;
  /** Quoted or assumed delivery in 10⁻⁶ USDC. */
  readonly units: bigint;
}

/** Orders offers by expected delivery, with the explored provider first. Equal offers keep their order. */
export function orderBySuccess<Offer extends RankedOffer>(
  offers: readonly Offer[],
  rates: SuccessRates,
  country: string | null,
  explored: ProviderId | null,
): readonly Offer[] {
  const scoreOf = ({ provider, units }: RankedOffer) =>
    provider === explored ? Number.POSITIVE_INFINITY : Number(units) * rates.probability(provider, country);
  return offers
    .map((offer) => ({ offer, score: scoreOf(offer) }))
    .sort((a, b) => (a.score === b.score ? 0 : b.score - a.score))
    .map(({ offer }) => offer);
}

/** One in this many payments may show a provider first that is not expected to be the best. */
const EXPLORED_PAYMENTS = 10;
/** Minimum number of visits before other orders are tried. */
const MINIMUM_VISITS_TO_EXPLORE = 20;

/** Returns a provider to show first, so that its share stays known. Usually null. A reload shows the same order. */
export function exploredProvider(paymentId: PaymentId, rates: SuccessRates): ProviderId | null {
  if (rates.total < MINIMUM_VISITS_TO_EXPLORE) return null;
  const number = Number.parseInt(paymentId.slice(-8), 16);
  if (number % EXPLORED_PAYMENTS !== 0) return null;
  return providerIds[Math.floor(number / EXPLORED_PAYMENTS) % providerIds.length] ?? null;
}
