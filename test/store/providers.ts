import { expect, it } from 'vitest';
import type { StoreContext } from './fixtures.ts';

export function providerPromises(context: StoreContext): void {
  it('has nothing set at first', async () => {
    const unset = { active: null, pinned: null, minimumUsdCents: null };
    expect(await context.store.providers.readProviderSettings('moonpay')).toEqual(unset);
  });

  it('keeps what was set, also over a restart, each provider on its own', async () => {
    await context.store.providers.writeProviderSettings('moonpay', { active: false });
    await context.store.providers.writeProviderSettings('moonpay', { minimumUsdCents: 500 });
    await context.store.providers.writeProviderSettings('wert', { active: true });
    await context.store.providers.writeProviderSettings('wert', { pinned: true });
    for (const restarted of [false, true]) {
      if (restarted) await context.reopen();
      const { providers } = context.store;
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
      context.store.providers.writeProviderSettings('wert', { active: true }),
      context.store.providers.writeProviderSettings('wert', { minimumUsdCents: 100 }),
    ]);
    expect(await context.store.providers.readProviderSettings('wert')).toEqual({
      active: true,
      pinned: null,
      minimumUsdCents: 100,
    });
    await context.store.providers.writeProviderSettings('wert', { active: null });
    expect(await context.store.providers.readProviderSettings('wert')).toEqual({
      active: null,
      pinned: null,
      minimumUsdCents: 100,
    });
  });
}
