import { beforeEach, describe, expect, it } from 'vitest';
import { EXPECTED_UNITS, useSettlement } from './harness.ts';

/** Deep enough for a reorganization of eight blocks that takes back nothing final. */
const FINALITY_BLOCKS = 10;

const { chain, settlement } = useSettlement({
  chain: { slotsInAnEpoch: FINALITY_BLOCKS / 2 },
  finalityBlocks: FINALITY_BLOCKS,
});

beforeEach(async () => {
  await settlement.mineAndWatch(FINALITY_BLOCKS + 2);
});

describe('a reorganization before finality', () => {
  it('that takes the release back sends the same bytes again, and the payment is paid once', async () => {
    const payment = await settlement.createWithDeposit();
    const sent: string[] = [];
    settlement.faults.broadcast = async (raw, send) => {
      sent.push(raw);
      await send();
    };
    await settlement.relay();
    await settlement.mineAndWatch();
    expect((await settlement.observations(payment)).releases).toHaveLength(1);
    await settlement.reorganize(1);
    await settlement.watch();
    expect(await settlement.state(payment)).toBe('unpaid/processing');
    expect((await settlement.observations(payment)).releases).toEqual([]);
    expect(await settlement.relay()).toBe('rebroadcast');
    expect(new Set(sent).size).toBe(1);
    await settlement.settleDown();
    await settlement.expectPaidOnce(payment);
  });

  it('that takes a rival’s release back leads back to ready, and we release it ourselves', async () => {
    const payment = await settlement.createWithDeposit();
    await settlement.releaseAsRival(payment);
    await settlement.mineAndWatch();
    expect(await settlement.read(payment)).toMatchObject({
      forwardStatus: 'processing',
      releaseDueAtMs: null,
    });
    await settlement.reorganize(1);
    await settlement.watch();
    expect(await settlement.read(payment)).toMatchObject({
      forwardStatus: 'ready',
      releaseDueAtMs: settlement.nowMs(),
    });
    await settlement.settleDown();
    await settlement.expectPaidOnce(payment);
  });

  it.each([
    ['later', 0, 3, 2],
    ['earlier', 2, 1, 0],
  ])('that moves the deposit to an %s block counts it once', async (_where, before, after, place) => {
    const payment = await settlement.create();
    if (before > 0) await settlement.mine(before);
    const hash = await settlement.deposit(payment, EXPECTED_UNITS);
    await settlement.mineAndWatch(after);
    const [seen] = (await settlement.observations(payment)).deposits;
    const raw = await chain.anvil.rpc('eth_getRawTransactionByHash', [hash]);
    await chain.anvil.rpc('anvil_reorg', [3, [[raw, place]]]);
    await settlement.watch();
    const { deposits } = await settlement.observations(payment);
    expect(deposits).toEqual([{ ...seen, blockNumber: (seen?.blockNumber as number) + place - before }]);
    await settlement.settleDown();
    await settlement.expectPaidOnce(payment);
  });

  it('that leaves a shorter chain keeps a lost release until the chain is as high again, and pays it once', async () => {
    const payment = await settlement.createWithDeposit();
    await settlement.mine(2);
    await settlement.relay();
    await settlement.mineAndWatch();
    const { releases } = await settlement.observations(payment);
    expect(releases).toMatchObject([{ blockNumber: await chain.anvil.blockNumber() }]);
    await chain.anvil.rpc('anvil_rollback', [3]);
    await settlement.watch();
    await settlement.mineAndWatch(2);
    expect((await settlement.observations(payment)).releases).toEqual(releases);
    await settlement.mineAndWatch();
    expect((await settlement.observations(payment)).releases).toEqual([]);
    expect(await settlement.state(payment)).not.toMatch(/^paid/);
    await settlement.settleDown();
    await settlement.expectPaidOnce(payment);
  });
});

describe('a scan', () => {
  it('that missed the release is made good by reading final blocks again, and nothing is sent twice', async () => {
    const payment = await settlement.createWithDeposit();
    await settlement.relay();
    await settlement.mineAndWatch(settlement.finalityBlocks);
    settlement.faults.hideLogs = true;
    await settlement.mineAndWatch(FINALITY_BLOCKS);
    settlement.faults.hideLogs = false;
    expect((await settlement.read(payment)).status).toBe('unpaid');
    expect(await settlement.relay()).toBe('resolved');
    expect(await settlement.state(payment)).toBe('unpaid/ready');
    settlement.advance(30_000);
    expect(await settlement.relay()).toBe('refused');
    expect(await settlement.read(payment)).toMatchObject({ forwardStatus: 'ready', releaseRefusals: 0 });

    expect(await settlement.rescan(100)).toBeGreaterThan(0);
    await settlement.expectPaidOnce(payment);
  });
});
