import { expect, it } from 'vitest';
import type { StoreContext } from './fixtures.ts';

export function providerPromises(context: StoreContext): void {
  const { providers } = context.store;
  it('has nothing set at first', async () => {
    const unset = { active: null, pinned: null, minimumUsdCents: null };
    expect(await providers.readProviderSettings('moonpay')).toEqual(unset);
  });

  it('keeps what was set, also over a restart, each provider on its own', async () => {
    await providers.writeProviderSettings('moonpay', { active: false });
    await providers.writeProviderSettings('moonpay', { minimumUsdCents: 500 });
    await providers.writeProviderSettings('wert', { active: true });
    await providers.writeProviderSettings('wert', { pinned: true });
    for (const restarted of [false, true]) {
      if (restarted) await context.reopen();
      expect(await providers.readProviderSettings('moonpay')).toEqual({
        active: false,
        pinned: null,
        minimumUsdCents: 500,
      });
      expect(await providers.readProviderSettings('wert')).toEqual({
        active: true,
        pinned: true,
        minimumUsdCents: null,
      });
    }
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
