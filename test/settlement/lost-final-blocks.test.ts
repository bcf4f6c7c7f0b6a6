import { describe, expect, it } from 'vitest';
import { EXPECTED_UNITS, useSettlement } from './harness.ts';

const { settlement } = useSettlement();

// A chain of its own: anvil goes back this far only while it is short.

describe('a chain that loses blocks it had called final', () => {
  it('is scanned again from the newest block that it still has; what was paid stays paid', async () => {
    const [paid, open] = [await settlement.create(), await settlement.create()];
    await settlement.deposit(paid, EXPECTED_UNITS);
    await settlement.settleDown();
    const before = await settlement.read(paid);
    expect(before.status).toBe('paid');
    await settlement.deposit(open, EXPECTED_UNITS - 50_000_000n);
    await settlement.mineAndWatch(4);
    await settlement.mineAndWatch(settlement.finalityBlocks);
    expect((await settlement.observations(open)).deposits).toHaveLength(1);

    await settlement.reorganize(7);
    await settlement.mineAndWatch();
    expect(settlement.rewinds).toHaveLength(1);
    expect((await settlement.observations(open)).deposits).toEqual([]);
    await settlement.deposit(open, EXPECTED_UNITS);
    await settlement.settleDown();
    expect(await settlement.state(open)).toBe('paid/completed');
    expect(await settlement.read(paid)).toEqual(before);
    expect(await settlement.webhooks(paid)).toHaveLength(1);
  });
});
