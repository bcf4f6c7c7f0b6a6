import { expect, it } from 'vitest';
import type { SettlementRecord } from '../../src/settlement/settlement-store.ts';
import type { StoreContext } from './fixtures.ts';

const first: SettlementRecord = {
  chainId: 137,
  token: '0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359',
  factory: '0x52908400098527886E0F7030069857D2E4169EE7',
  implementation: '0x8617E340B3D01FA5F11F306F4090FD50E238070D',
  factoryCodeHash: `0x${'ab'.repeat(32)}`,
  feeWallet: '0xde709f2102306220921060314715629080e2fb77',
  lastStartedAtMs: 1_000,
};
const second: SettlementRecord = {
  ...first,
  feeWallet: '0x27b1fdb04752bbc536007a920d24acb045561c26',
  lastStartedAtMs: 2_000,
};

export function settlementPromises(context: StoreContext): void {
  const { settlements } = context.store;
  it('keeps every settlement over a restart, the one started last first', async () => {
    await settlements.rememberSettlement(first);
    await settlements.rememberSettlement(second);
    await context.reopen();
    expect(await settlements.listSettlements()).toEqual([second, first]);
  });

  it('moves a known settlement to the front instead of adding it again', async () => {
    await settlements.rememberSettlement(first);
    await settlements.rememberSettlement(second);
    const again = { ...first, lastStartedAtMs: 3_000 };
    await settlements.rememberSettlement(again);
    expect(await settlements.listSettlements()).toEqual([again, second]);
  });
}
