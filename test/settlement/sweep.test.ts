import { beforeEach, describe, expect, it } from 'vitest';
import { createBalanceSweep } from '../../src/settlement/chain/token-reader.ts';
import { sweepOpenPayments } from '../../src/settlement/compare-balances.ts';
import { EXPECTED_UNITS, useSettlement } from './harness.ts';

describe('a sweep over the balances of open payments', () => {
  const { chain, settlement } = useSettlement();

  beforeEach(async () => {
    await settlement.mineAndWatch(3);
  });

  function sweep() {
    const balances = createBalanceSweep({ endpoints: chain.endpoints, token: chain.token });
    return sweepOpenPayments({ ...settlement.store, sweep: balances, nowMs: settlement.nowMs }, null);
  }

  it('names the payment whose deposit the watcher was never told of, until the chain is read again', async () => {
    const [missed, untouched] = [await settlement.create(), await settlement.create()];
    settlement.faults.hideLogs = true;
    await settlement.deposit(missed, EXPECTED_UNITS);
    await settlement.mineAndWatch(settlement.finalityBlocks + 1);
    settlement.faults.hideLogs = false;
    expect(await settlement.state(missed)).toBe('unpaid/pending');

    expect(await sweep(), 'too young').toMatchObject({ last: null, unexplained: [] });
    settlement.advance(11 * 60_000);
    expect(await sweep()).toMatchObject({ last: null, unexplained: [missed.id] });
    expect(await settlement.rescan(100)).toBe(1);
    expect(await sweep()).toMatchObject({ last: null, unexplained: [] });
    expect(await settlement.state(missed)).toBe('unpaid/ready');
    expect(await settlement.state(untouched)).toBe('unpaid/pending');
  });

  it('names the payment whose release is final while its deposit was never shown; found, it is paid with both', async () => {
    const payment = await settlement.create();
    settlement.faults.hideTransfers = true;
    await settlement.deposit(payment, EXPECTED_UNITS);
    await settlement.releaseAsRival(payment);
    await settlement.mineAndWatch(settlement.finalityBlocks + 1);
    settlement.faults.hideTransfers = false;
    expect(await settlement.state(payment)).toBe('unpaid/pending');

    settlement.advance(11 * 60_000);
    expect(await sweep()).toMatchObject({ last: null, unexplained: [payment.id] });
    expect(await settlement.rescan(100)).toBe(1);
    expect(await settlement.state(payment)).toBe('paid/completed');
    expect((await settlement.read(payment)).txidIn).toMatch(/^0x[0-9a-f]{64}$/);
    expect(await sweep()).toMatchObject({ last: null, unexplained: [] });
  });

  it('names the payment whose release the watcher was never shown; found, it is paid', async () => {
    const payment = await settlement.create();
    await settlement.deposit(payment, EXPECTED_UNITS);
    await settlement.mineAndWatch(settlement.finalityBlocks + 1);
    settlement.faults.hideLogs = true;
    await settlement.releaseAsRival(payment);
    await settlement.mineAndWatch(settlement.finalityBlocks + 1);
    settlement.faults.hideLogs = false;
    expect(await settlement.state(payment)).toBe('unpaid/ready');

    settlement.advance(11 * 60_000);
    expect(await sweep()).toMatchObject({ last: null, unexplained: [payment.id] });
    expect(await settlement.rescan(100)).toBe(1);
    expect(await settlement.state(payment)).toBe('paid/completed');
    expect(await sweep()).toMatchObject({ last: null, unexplained: [] });
  });

  it('finds nothing to explain in an underpaid payment that was observed, nor in a paid one', async () => {
    const [underpaid, paid] = [await settlement.create(), await settlement.create()];
    await settlement.deposit(underpaid, 1_000_000n);
    await settlement.deposit(paid, EXPECTED_UNITS);
    await settlement.settleDown();
    await settlement.mineAndWatch(settlement.finalityBlocks + 1);
    expect(await settlement.state(paid)).toBe('paid/completed');
    settlement.advance(11 * 60_000);
    expect(await sweep()).toMatchObject({ last: null, unexplained: [] });
  });
});
