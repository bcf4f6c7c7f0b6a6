import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  customerFacts,
  meansInBrowser,
  providerCatalog,
  providerIds,
} from '../../payment/provider-catalog.ts';
import type { QuoteOutcome } from '../../providers/ask-quotes.ts';
import type { ProviderOffer, Refusal } from '../../providers/provider-availability.ts';
import { estimateSuccess } from '../../providers/provider-success.ts';
import type { Checkout } from './read-checkout.ts';
import { meansFor } from './selector.ts';

const webkit = 'AppleWebKit/605.1.15 (KHTML, like Gecko)';
const mac = 'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7)';
const iphone = 'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X)';
const blink = 'AppleWebKit/537.36 (KHTML, like Gecko)';
const safariOnMac = `${mac} ${webkit} Version/18.5 Safari/605.1.15`;
const chromeOnAndroid = `Mozilla/5.0 (Linux; Android 10; K) ${blink} Chrome/140.0.0.0 Mobile Safari/537.36`;

describe('meansInBrowser', () => {
  it.each([
    ['apple_pay', safariOnMac],
    ['apple_pay', `${iphone} ${webkit} Version/18.5 Mobile/15E148 Safari/604.1`],
    ['apple_pay', `${iphone} ${webkit} CriOS/140.0 Mobile/15E148 Safari/604.1`],
    ['apple_pay', `${iphone} ${webkit} FxiOS/140.0 Mobile/15E148 Safari/605.1.15`],
    ['google_pay', chromeOnAndroid],
    ['google_pay', `${mac} ${blink} Chrome/140.0.0.0 Safari/537.36`],
    ['google_pay', `${mac} ${blink} Chrome/140.0.0.0 Safari/537.36 Edg/140.0.0.0`],
    ['google_pay', 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:142.0) Gecko/20100101 Firefox/142.0'],
    ['google_pay', 'Mozilla/5.0 (Macintosh; Intel Mac OS X 10.15; rv:142.0) Gecko/20100101 Firefox/142.0'],
    // Views inside of apps, and programs.
    [null, `${iphone} ${webkit} Mobile/15E148 Instagram 390.0`],
    [
      null,
      `Mozilla/5.0 (Linux; Android 15; Pixel 9; wv) ${blink} Version/4.0 Chrome/140.0 Mobile Safari/537.36`,
    ],
    [null, 'curl/8.5.0'],
    [null, ''],
  ])('offers %s of the wallets in %s', (wallet, userAgent) => {
    const others = ['card', 'paypal', 'klarna'];
    expect(meansInBrowser(userAgent).filter((means) => !others.includes(means))).toEqual(
      wallet === null ? [] : [wallet],
    );
    expect(meansInBrowser(userAgent)).toEqual(expect.arrayContaining(others));
  });
});

const charge = { amountCents: 100_00, usdUnits: 100_000_000n } as Checkout['charge'];
const refusal: Refusal = { errorName: 'provider_inactive', message: '' };

const arbitraryOffers = fc.tuple(
  ...providerIds.map((provider) =>
    fc.record({
      provider: fc.constant(provider),
      isRefused: fc.boolean(),
      pinnedBy: fc.constantFrom(null, null, 'operator' as const),
      outcome: fc.oneof(
        fc.record({
          kind: fc.constant('quoted' as const),
          quote: fc.record({
            chargedCents: fc.constantFrom(100_00, 100_00, 104_00),
            deliveryUnits: fc.bigInt(80_000_000n, 100_000_000n),
            minimumUsdCents: fc.constant(null),
          }),
        }),
        fc.constant<QuoteOutcome>({ kind: 'refused', refusal }),
        fc.constant<QuoteOutcome>({ kind: 'silent' }),
        fc.constant<QuoteOutcome>({ kind: 'busy' }),
      ),
    }),
  ),
);

it('chooses for each means a provider that sells it here: the pinned one, else the one that delivers most', () => {
  fc.assert(
    fc.property(
      arbitraryOffers,
      fc.option(fc.constantFrom(...providerIds)),
      fc.constantFrom(safariOnMac, chromeOnAndroid, ''),
      (drawn, merchantPin, userAgent) => {
        const offers = drawn.map(
          ({ provider, isRefused, pinnedBy }): ProviderOffer => ({
            provider,
            name: providerCatalog[provider].name,
            minimumUsdCents: 0,
            seller: provider,
            sharesEmail: true,
            refusal: isRefused ? refusal : null,
            pinnedBy: provider === merchantPin ? 'merchant' : pinnedBy,
            needsCountry: false,
          }),
        );
        const outcomes = new Map(drawn.map(({ provider, outcome }) => [provider, outcome as QuoteOutcome]));
        const checkout = {
          offers,
          charge,
          payment: { id: '0' },
          success: estimateSuccess([]),
        } as unknown as Checkout;
        const ways = meansFor(checkout, null, userAgent, (offer) => ({
          offer,
          outcome: outcomes.get(offer.provider),
        }));
        const chosen = new Map(ways.map((way) => [way.means, way.offer.provider]));
        const rank = ({ provider, pinnedBy }: ProviderOffer) => {
          const outcome = outcomes.get(provider);
          if (outcome?.kind !== 'quoted') return -1;
          const { chargedCents, deliveryUnits } = outcome.quote;
          const pin = pinnedBy === 'merchant' ? 1e12 : pinnedBy === 'operator' ? 1e11 : 0;
          const share = (Number(deliveryUnits) * charge.amountCents) / chargedCents;
          return pin > 0 ? pin : share + (chargedCents > charge.amountCents ? 0 : 1e10);
        };
        for (const means of ['card', 'apple_pay', 'google_pay', 'paypal', 'klarna'] as const) {
          const able = offers.filter(
            ({ provider, refusal: refused }) =>
              refused === null &&
              outcomes.get(provider)?.kind !== 'refused' &&
              customerFacts[provider].means.includes(means),
          );
          const provider = chosen.get(means);
          const isPossible = able.length > 0 && meansInBrowser(userAgent).includes(means);
          expect(provider !== undefined).toBe(isPossible);
          if (provider === undefined) continue;
          const offer = able.find((each) => each.provider === provider);
          expect(offer).toBeDefined();
          // To the unit: the order counts in whole units of USDC's millionth.
          const best = Math.max(...able.map(rank));
          if (best < 1e11) expect(rank(offer as ProviderOffer)).toBeGreaterThan(best - 1);
          else expect(rank(offer as ProviderOffer)).toBe(best);
        }
      },
    ),
  );
});
