import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Account } from '../accounts/account.ts';
import { plainProfile } from '../accounts/shop-profile.ts';
import { minDeliveryUnits } from '../payment/fees-and-paid-threshold.ts';
import { currencies, usdUnits } from '../payment/money.ts';
import { assumedDeliveryUnits, type ProviderId, providerIds } from '../payment/provider-catalog.ts';
import type { ProviderAdapter, ProviderSettings, ProviderStore } from './provider.ts';
import {
  listOffers,
  type ProviderDirectory,
  requireActive,
  requireAmount,
  servedFromUsdCents,
} from './provider-availability.ts';
import type { KnownLimits } from './provider-limits-and-regions.ts';

const settings = fc.record({
  active: fc.constantFrom(true, false, null),
  pinned: fc.constantFrom(true, false, null),
  minimumUsdCents: fc.option(fc.integer({ min: 0, max: 200_00 })),
});

const directories = fc
  .record({
    configured: fc.subarray([...providerIds]),
    // A provider with a single currency would refuse all others with `currency_locked`.
    currenciesSold: fc.subarray([...currencies], { minLength: 2 }),
    settings: fc.tuple(...providerIds.map((id) => settings.map((value) => [id, value] as const))),
  })
  .map(({ configured, currenciesSold, settings }): ProviderDirectory => {
    const stored = new Map<ProviderId, ProviderSettings>(settings);
    const read = (id: ProviderId) => stored.get(id) as ProviderSettings;
    return {
      adapters: new Map(
        configured.map((id) => [id, { currenciesSold } as Partial<ProviderAdapter> as ProviderAdapter]),
      ),
      settings: {
        readProviderSettings: async (id) => read(id),
        writeProviderSettings: async () => {},
      },
    };
  });
const account = { ...plainProfile, providers: null } as Account;
const payments = fc.record({
  amountCents: fc.integer({ min: 1, max: 10_000_00 }),
  currency: fc.constantFrom(...currencies),
  usdUnits: fc.bigInt({ min: 10_000n, max: 300_000_000n }),
  maxProviderFeeBasisPoints: fc.integer({ min: 100, max: 5_000 }),
});

it('offers no provider that is assumed to keep more of the charge than the maximum provider fee', async () => {
  await fc.assert(
    fc.asyncProperty(directories, payments, async (directory, payment) => {
      const { usdUnits, maxProviderFeeBasisPoints } = payment;
      for (const { provider, refusal } of await listOffers(directory, account, payment)) {
        if (refusal !== null) continue;
        const delivery = assumedDeliveryUnits(provider, usdUnits);
        expect(delivery).toBeGreaterThanOrEqual(minDeliveryUnits(usdUnits, maxProviderFeeBasisPoints));
      }
    }),
  );
});

it('names an amount from which a provider serves a payment that none serves, and it is the least', async () => {
  await fc.assert(
    fc.asyncProperty(directories, payments, async (directory, payment) => {
      const offers = await listOffers(directory, account, payment);
      const cents = servedFromUsdCents(offers);
      if (cents === null) return;
      const isServed = async (usdUnits: bigint) => {
        const others = await listOffers(directory, account, { ...payment, usdUnits });
        return others.some(({ refusal }) => refusal === null);
      };
      expect(offers.every(({ refusal }) => refusal !== null)).toBe(true);
      expect(await isServed(BigInt(cents) * 10_000n)).toBe(true);
      expect(await isServed(BigInt(cents) * 10_000n - 1n)).toBe(false);
    }),
  );
});

it('offers no provider for a currency that it does not take, and asks for no higher amount', async () => {
  await fc.assert(
    fc.asyncProperty(directories, payments, async (directory, payment) => {
      for (const { provider, refusal } of await listOffers(directory, account, payment)) {
        const { currenciesSold } = directory.adapters.get(provider) ?? {};
        const isLocked = refusal?.errorName === 'currency_locked';
        if (currenciesSold?.includes(payment.currency) === false && !isLocked)
          expect(refusal?.errorName).toBe('provider_inactive');
      }
    }),
  );
});

it('offers an account everything but what it excludes, and names the provider that it pinned', async () => {
  await fc.assert(
    fc.asyncProperty(
      directories,
      payments,
      fc.subarray([...providerIds]),
      fc.constantFrom(...providerIds),
      async (directory, payment, excludedProviders, pinnedProvider) => {
        const own = { ...account, excludedProviders, pinnedProvider };
        const all = await listOffers(directory, account, payment);
        for (const [index, { provider, refusal, pinnedBy }] of (
          await listOffers(directory, own, payment)
        ).entries()) {
          const isExcluded = excludedProviders.includes(provider);
          const isLocked = refusal?.errorName === 'currency_locked';
          if (isExcluded && !isLocked) expect(refusal?.errorName).toBe('provider_inactive');
          else expect(refusal).toEqual(all[index]?.refusal);
          if (provider === pinnedProvider) expect(pinnedBy).toBe('merchant');
        }
      },
    ),
  );
});

it('offers a provider that is off by default only where it is switched on, and none that is blocked', async () => {
  await fc.assert(
    fc.asyncProperty(directories, fc.constantFrom(...providerIds), async (directory, blocked) => {
      const adapters = new Map(directory.adapters);
      if (adapters.has(blocked)) adapters.set(blocked, { blockedBecause: 'a reason' } as ProviderAdapter);
      const live = { ...directory, adapters, isOffByDefault: true };
      const payment = {
        amountCents: 5_000_00,
        currency: 'EUR',
        usdUnits: 5_000_000_000n,
        maxProviderFeeBasisPoints: 3_000,
      } as const;
      for (const { provider, refusal } of await listOffers(live, account, payment)) {
        const { active } = await live.settings.readProviderSettings(provider);
        const { currenciesSold } = adapters.get(provider) ?? {};
        const isSold = currenciesSold?.includes(payment.currency) ?? true;
        const isOn = active === true && adapters.has(provider) && provider !== blocked && isSold;
        expect(refusal?.errorName ?? null).toBe(isOn ? null : 'provider_inactive');
        const isAccepted = await requireActive(live, account, provider, payment.currency).then(
          () => true,
          () => false,
        );
        expect(isAccepted).toBe(isOn);
      }
    }),
  );
});

describe('an amount at the limit of a provider in another currency than USD', () => {
  const settings = {
    readProviderSettings: async () => ({ active: null, pinned: null, minimumUsdCents: null }),
  } as unknown as ProviderStore;
  const charge = (amountCents: number, currency: 'EUR' | 'INR', rate: bigint) => ({
    accountId: 'an account',
    amountCents,
    currency,
    usdUnits: usdUnits(amountCents, rate),
    maxProviderFeeBasisPoints: null,
  });
  const euros = (amountCents: number) => charge(amountCents, 'EUR', 108_740_000n);
  const rupees = (amountCents: number) => charge(amountCents, 'INR', 1_200_000n);
  const withLimits = (minimumCents: number | null, maximumCents: number | null) => {
    const known = () => ({ minimumCents, maximumCents, isSold: true, readAtMs: 0 });
    return { settings, limits: { known } as unknown as KnownLimits };
  };

  it('is served, and a cent less or more is not', async () => {
    const atLeast = withLimits(20_00, null);
    await expect(requireAmount(atLeast, 'moonpay', euros(20_00))).resolves.toBeUndefined();
    await expect(requireAmount(atLeast, 'moonpay', euros(19_99))).rejects.toThrow('minimum');
    const atMost = withLimits(null, 9_000_00);
    await expect(requireAmount(atMost, 'moonpay', rupees(9_000_00))).resolves.toBeUndefined();
    await expect(requireAmount(atMost, 'moonpay', rupees(9_000_01))).rejects.toThrow('maximum');
  });
});
