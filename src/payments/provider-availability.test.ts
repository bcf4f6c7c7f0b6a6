import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Account } from '../domain/account.ts';
import { currencies } from '../domain/money.ts';
import type { ProviderAdapter } from '../domain/ports/provider.ts';
import type { ProviderSettings } from '../domain/ports/provider-store.ts';
import { type ProviderId, providerIds } from '../domain/provider-catalogue.ts';
import { listCapable, listOffers, type ProviderDirectory } from './provider-availability.ts';

const settings = fc.record({
  active: fc.constantFrom(true, false, null),
  minimumUsdCents: fc.option(fc.integer({ min: 0, max: 200_00 })),
});

const directories = fc
  .record({
    configured: fc.subarray([...providerIds]),
    settings: fc.tuple(...providerIds.map((id) => settings.map((value) => [id, value] as const))),
    isAsynchronous: fc.boolean(),
  })
  .map(({ configured, settings, isAsynchronous }): ProviderDirectory => {
    const stored = new Map<ProviderId, ProviderSettings>(settings);
    const read = (id: ProviderId) => stored.get(id) as ProviderSettings;
    return {
      adapters: new Map(configured.map((id) => [id, {} as ProviderAdapter])),
      settings: {
        readProviderSettings: isAsynchronous ? async (id) => read(id) : read,
        writeProviderSettings: async () => {},
      },
    };
  });

it('counts exactly those providers as capable that are offered without a refusal', async () => {
  await fc.assert(
    fc.asyncProperty(
      directories,
      fc.option(fc.subarray([...providerIds])),
      fc.constantFrom(...currencies),
      fc.bigInt({ min: 0n, max: 300_000_000n }),
      async (directory, providers, currency, usdUnits) => {
        const account = { providers } as Account;
        const offers = await listOffers(directory, account, { currency, usdUnits });
        const offered = offers.filter(({ refusal }) => refusal === null).map(({ provider }) => provider);
        expect(await listCapable(directory, account, { currency, usdUnits })).toEqual(offered);
      },
    ),
  );
});
