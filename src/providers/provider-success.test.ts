import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type ProviderId, providerIds } from '../payment/provider-catalog.ts';
import { estimateSuccess, exploredProvider, orderBySuccess, type VisitOutcome } from './provider-success.ts';

/** Creates a generator of reproducible numbers from 0 to below 1. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Creates a shop whose customers choose the first provider in the list. */
function createShop(seed: number) {
  const random = createRandom(seed);
  const visits: VisitOutcome[] = [];
  const offers = providerIds.map((provider) => ({ provider, units: 95_000_000n }));
  /** Returns the provider that most payments show first. */
  const leader = () => orderBySuccess(offers, estimateSuccess(visits), 'DE', null)[0]?.provider;
  return {
    leader,
    visit(shares: Readonly<Partial<Record<ProviderId, number>>>) {
      const rates = estimateSuccess(visits);
      const id = Math.floor(random() * 2 ** 32)
        .toString(16)
        .padStart(8, '0');
      const explored = exploredProvider(`01234567-89ab-7cde-8f01-2345${id}`, rates);
      const provider = orderBySuccess(offers, rates, 'DE', explored)[0]?.provider as ProviderId;
      visits.unshift({ provider, country: 'DE', isDelivered: random() < (shares[provider] ?? 0.5) });
      visits.length = Math.min(visits.length, 2_000);
      return provider;
    },
  };
}

it.each([1, 2, 3, 4, 5])(
  'demotes a provider whose success drops within 30 of its visits, and brings it back within 4,000 visits (seed %d)',
  (seed) => {
    const shop = createShop(seed);
    for (let count = 0; count < 600; count++) shop.visit({ stripe: 0.95, wert: 0.8 });
    expect(shop.leader()).toBe('stripe');
    let own = 0;
    while (shop.leader() === 'stripe' && own <= 100)
      if (shop.visit({ stripe: 0.1, wert: 0.8 }) === 'stripe') own++;
    expect(own).toBeLessThanOrEqual(30);
    let visits = 0;
    while (shop.leader() !== 'stripe' && visits <= 10_000) {
      shop.visit({ stripe: 0.97, wert: 0.8 });
      visits++;
    }
    expect(visits).toBeLessThanOrEqual(4_000);
  },
);

const outcomes = fc.array(
  fc.record({
    provider: fc.constantFrom(...providerIds),
    country: fc.constantFrom('DE', 'US', null),
    isDelivered: fc.boolean(),
  }),
  { maxLength: 300 },
);
const offersOf = fc
  .shuffledSubarray([...providerIds], { minLength: 1 })
  .chain((ids) =>
    fc.tuple(
      ...ids.map((provider) =>
        fc.record({ provider: fc.constant(provider), units: fc.bigInt(0n, 10n ** 10n) }),
      ),
    ),
  );

it('orders every offer once, by delivered amount times probability, with the explored one first', () => {
  fc.assert(
    fc.property(outcomes, offersOf, fc.constantFrom('DE', null), (visits, offers, country) => {
      const rates = estimateSuccess(visits);
      const ordered = orderBySuccess(offers, rates, country, null);
      expect(new Set(ordered)).toEqual(new Set(offers));
      const scores = ordered.map(
        ({ provider, units }) => Number(units) * rates.probability(provider, country),
      );
      expect(scores).toEqual([...scores].sort((a, b) => b - a));
      const last = ordered.at(-1)?.provider as ProviderId;
      expect(orderBySuccess(offers, rates, country, last)[0]?.provider).toBe(last);
    }),
  );
});

it('estimates shares above 0 and at most 1, which one more delivery raises and one more failure lowers', () => {
  fc.assert(
    fc.property(outcomes, fc.constantFrom('DE', null), (visits, country) => {
      const shareAfter = (isDelivered: boolean | null) => {
        const more = isDelivered === null ? [] : [{ provider: 'wert' as const, country, isDelivered }];
        return estimateSuccess([...more, ...visits]).probability('wert', country);
      };
      expect(shareAfter(null)).toBeGreaterThan(0);
      expect(shareAfter(true)).toBeLessThanOrEqual(1);
      expect(shareAfter(true)).toBeGreaterThan(shareAfter(false));
    }),
  );
});

it('shows each provider first on an equal part of one tenth of the payments, once there are visits', () => {
  const few = estimateSuccess([]);
  const rates = estimateSuccess(Array(20).fill({ provider: 'wert', country: null, isDelivered: true }));
  const random = createRandom(7);
  const first = new Map<string, number>();
  for (let count = 0; count < 22_000; count++) {
    const id = `01234567-89ab-7cde-8f01-2345${Math.floor(random() * 2 ** 32)
      .toString(16)
      .padStart(8, '0')}`;
    expect(exploredProvider(id, few)).toBeNull();
    const provider = exploredProvider(id, rates) ?? 'none';
    first.set(provider, (first.get(provider) ?? 0) + 1);
  }
  expect(first.get('none')).toBeGreaterThan(19_000);
  for (const provider of providerIds) expect(first.get(provider)).toBeGreaterThan(100);
});
