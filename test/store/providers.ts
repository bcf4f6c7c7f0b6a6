import { expect, it } from 'vitest';
import type { StoreContext } from './fixtures.ts';

export function providerPromises(context: StoreContext): void {
  const { providers } = context.store;
  it('has nothing set at first', async () => {
    const unset = { active: null, pinned: null, minimumUsdCents: null };
    expect(await providers.readProviderSettings('moonpay')).toEqual(unset);
  });

  it('merges changes that arrive together, and can unset again', async () => {
    await Promise.all([
      providers.writeProviderSettings('wert', { active: true }),
      providers.writeProviderSettings('wert', { minimumUsdCents: 100 }),
    ]);
    expect(await providers.readProviderSettings('wert')).toEqual({
      active: true,
      pinned: null,
      minimumUsdCents: 100,
    });
    await providers.writeProviderSettings('wert', { active: null });
    expect(await providers.readProviderSettings('wert')).toEqual({
      active: null,
      pinned: null,
      minimumUsdCents: 100,
    });
  });
}
