import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Payment } from '../../src/payment/payment.ts';
import { EXPECTED_UNITS, useSettlement } from './harness.ts';

/** Deep enough for a reorganization of eight blocks that takes back nothing final. */
const FINALITY_BLOCKS = 10;

const { chain, settlement } = useSettlement({
  chain: { slotsInAnEpoch: FINALITY_BLOCKS / 2 },
  finalityBlocks: FINALITY_BLOCKS,
});

beforeEach(async () => {
  await settlement.mine(FINALITY_BLOCKS + 2);
  await settlement.watch();
});

async function expectPaidOnce(payment: Payment): Promise<void> {
  expect(await settlement.balancesOf(payment)).toMatchObject({ merchant: 92_625_000n, held: 0n });
  expect(await settlement.read(payment)).toMatchObject({
    status: 'paid',
    receivedUnits: EXPECTED_UNITS,
    forwardedUnits: 92_625_000n,
  });
  expect(await settlement.webhooks(payment)).toHaveLength(1);
  expect((await settlement.observations(payment)).releases).toHaveLength(1);
}

describe('a reorganization before finality', () => {
  it('that takes the deposit back leads back to pending, and what comes again is paid once', async () => {
    const payment = await settlement.create();
    await settlement.deposit(payment, EXPECTED_UNITS);
    await settlement.mine();
    await settlement.watch();
    expect(await settlement.state(payment)).toBe('unpaid/ready');
    await settlement.reorganize(1);
    await settlement.watch();
    expect(await settlement.read(payment)).toMatchObject({ forwardStatus: 'pending', releaseDueAtMs: null });
    await settlement.deposit(payment, EXPECTED_UNITS);
    await settlement.settleDown();
    await expectPaidOnce(payment);
  });

  it('that takes the release back sends the same bytes again, and the payment is paid once', async () => {
    const payment = await settlement.create();
    await settlement.deposit(payment, EXPECTED_UNITS);
    await settlement.mine();
    await settlement.watch();
    const sent: string[] = [];
    settlement.faults.broadcast = async (raw, send) => {
      sent.push(raw);
      await send();
    };
    await settlement.relay();
    await settlement.mine();
    await settlement.watch();
    expect((await settlement.observations(payment)).releases).toHaveLength(1);
    await settlement.reorganize(1);
    await settlement.watch();
    expect(await settlement.state(payment)).toBe('unpaid/processing');
    expect((await settlement.observations(payment)).releases).toEqual([]);
    expect(await settlement.relay()).toBe('rebroadcast');
    expect(new Set(sent).size).toBe(1);
    await settlement.settleDown();
    await expectPaidOnce(payment);
  });

  it('that takes a rival’s release back leads back to ready, and we release it ourselves', async () => {
    const payment = await settlement.create();
    await settlement.deposit(payment, EXPECTED_UNITS);
    await settlement.mine();
    await settlement.watch();
    await settlement.releaseAsRival(payment);
    await settlement.mine();
    await settlement.watch();
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
    await expectPaidOnce(payment);
  });

  it('that moves the deposit to a later block counts it once', async () => {
    const payment = await settlement.create();
    const hash = await settlement.deposit(payment, EXPECTED_UNITS);
    await settlement.mine(3);
    await settlement.watch();
    const [before] = (await settlement.observations(payment)).deposits;
    const raw = await chain.anvil.rpc('eth_getRawTransactionByHash', [hash]);
    await chain.anvil.rpc('anvil_reorg', [3, [[raw, 2]]]);
    await settlement.watch();
    const { deposits } = await settlement.observations(payment);
    expect(deposits).toEqual([{ ...before, blockNumber: (before?.blockNumber as number) + 2 }]);
    await settlement.settleDown();
    await expectPaidOnce(payment);
  });

  it('that moves the deposit to an earlier block counts it once', async () => {
    const payment = await settlement.create();
    await settlement.mine(2);
    const hash = await settlement.deposit(payment, EXPECTED_UNITS);
    await settlement.mine();
    await settlement.watch();
    const [before] = (await settlement.observations(payment)).deposits;
    const raw = await chain.anvil.rpc('eth_getRawTransactionByHash', [hash]);
    await chain.anvil.rpc('anvil_reorg', [3, [[raw, 0]]]);
    await settlement.watch();
    const { deposits } = await settlement.observations(payment);
    expect(deposits).toEqual([{ ...before, blockNumber: (before?.blockNumber as number) - 2 }]);
    await settlement.settleDown();
    await expectPaidOnce(payment);
  });

  it('that moves the deposit down, to a block of a chain that is shorter, counts it once', async () => {
    const payment = await settlement.create();
    await settlement.mine(3);
    const hash = await settlement.deposit(payment, EXPECTED_UNITS);
    await settlement.mine();
    await settlement.watch();
    const raw = await chain.anvil.rpc('eth_getRawTransactionByHash', [hash]);
    await chain.anvil.rpc('anvil_rollback', [3]);
    await chain.anvil.rpc('eth_sendRawTransaction', [raw]);
    await settlement.mine();
    await settlement.watch();
    const { deposits } = await settlement.observations(payment);
    expect(deposits).toMatchObject([
      { transactionHash: hash, blockNumber: await chain.anvil.blockNumber(), units: EXPECTED_UNITS },
    ]);
    await settlement.settleDown();
    await expectPaidOnce(payment);
  });

  it('that leaves a shorter chain keeps a lost release until the chain is as high again, and pays it once', async () => {
    const payment = await settlement.create();
    await settlement.deposit(payment, EXPECTED_UNITS);
    await settlement.mine();
    await settlement.watch();
    await settlement.mine(2);
    await settlement.relay();
    await settlement.mine();
    await settlement.watch();
    const { releases } = await settlement.observations(payment);
    expect(releases).toMatchObject([{ blockNumber: await chain.anvil.blockNumber() }]);
    await chain.anvil.rpc('anvil_rollback', [3]);
    await settlement.watch();
    await settlement.mine(2);
    await settlement.watch();
    expect((await settlement.observations(payment)).releases).toEqual(releases);
    await settlement.mine();
    await settlement.watch();
    expect((await settlement.observations(payment)).releases).toEqual([]);
    expect(await settlement.state(payment)).not.toMatch(/^paid/);
    await settlement.settleDown();
    await expectPaidOnce(payment);
  });

  it('is why a payment becomes paid with the very block that makes its release final, and not one earlier', async () => {
    const payment = await settlement.create();
    await settlement.deposit(payment, EXPECTED_UNITS);
    await settlement.mine();
    await settlement.watch();
    await settlement.relay();
    await settlement.mine();
    await settlement.watch();
    for (let block = 1; block < FINALITY_BLOCKS; block++) {
      await settlement.mine();
      await settlement.watch();
      expect(await settlement.state(payment)).toBe('unpaid/processing');
    }
    await settlement.mine();
    await settlement.watch();
    await expectPaidOnce(payment);
  });

  it('of any depth, at any moment, makes nothing paid too early and nothing paid twice', async () => {
    const moments = fc.record({
      depth: fc.integer({ min: 1, max: 8 }),
      beforeWatch: fc.integer({ min: 1, max: 3 }),
      beforeReorganization: fc.integer({ min: 1, max: 6 }),
      isWatchedBetween: fc.boolean(),
      isRival: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(moments, async (moment) => {
        const payment = await settlement.create();
        await settlement.deposit(payment, EXPECTED_UNITS);
        await settlement.mine(moment.beforeWatch);
        await settlement.watch();
        if (moment.isRival) await settlement.releaseAsRival(payment);
        else await settlement.relay();
        await settlement.mine(moment.beforeReorganization);
        if (moment.isWatchedBetween) await settlement.watch();
        await settlement.reorganize(moment.depth);
        await settlement.watch();
        expect((await settlement.read(payment)).status).toBe('unpaid');
        expect(await settlement.webhooks(payment)).toEqual([]);
        const { held = 0n, merchant = 0n } = await settlement.balancesOf(payment);
        if (held + merchant === 0n) await settlement.deposit(payment, EXPECTED_UNITS);
        await settlement.settleDown();
        settlement.advance(10_000);
        await settlement.settleDown();
        await expectPaidOnce(payment);
      }),
      { numRuns: 24, endOnFailure: true },
    );
  });
});

describe('a scan', () => {
  it('of the same blocks again changes nothing', async () => {
    const payment = await settlement.create();
    await settlement.deposit(payment, EXPECTED_UNITS);
    await settlement.mine();
    await settlement.watch();
    const [before, observations] = [await settlement.read(payment), await settlement.observations(payment)];
    for (let again = 0; again < 5; again++) await settlement.watch();
    await settlement.crash();
    await settlement.watch();
    expect(await settlement.read(payment)).toEqual(before);
    expect(await settlement.observations(payment)).toEqual(observations);
    await settlement.settleDown();
    expect(await settlement.rescan(100)).toBe(0);
    await expectPaidOnce(payment);
  });

  it('that missed a deposit is made good by reading final blocks again', async () => {
    const payment = await settlement.create();
    settlement.faults.hideLogs = true;
    await settlement.deposit(payment, EXPECTED_UNITS);
    await settlement.mine(FINALITY_BLOCKS + 1);
    await settlement.watch();
    settlement.faults.hideLogs = false;
    await settlement.mine();
    await settlement.watch();
    expect(await settlement.state(payment)).toBe('unpaid/pending');
    expect(await settlement.rescan(100)).toBe(1);
    expect(await settlement.state(payment)).toBe('unpaid/ready');
    expect(await settlement.rescan(100)).toBe(0);
    await settlement.settleDown();
    await expectPaidOnce(payment);
  });

  it('that missed the release is made good by reading final blocks again, and nothing is sent twice', async () => {
    const payment = await settlement.create();
    await settlement.deposit(payment, EXPECTED_UNITS);
    await settlement.mine();
    await settlement.watch();
    await settlement.relay();
    await settlement.finalize();
    await settlement.watch();
    settlement.faults.hideLogs = true;
    await settlement.mine(FINALITY_BLOCKS);
    await settlement.watch();
    settlement.faults.hideLogs = false;
    expect((await settlement.read(payment)).status).toBe('unpaid');
    expect(await settlement.relay()).toBe('resolved');
    expect(await settlement.state(payment)).toBe('unpaid/ready');
    settlement.advance(30_000);
    expect(await settlement.relay()).toBe('refused');
    expect(await settlement.read(payment)).toMatchObject({ forwardStatus: 'ready', releaseRefusals: 0 });

    expect(await settlement.rescan(100)).toBeGreaterThan(0);
    await expectPaidOnce(payment);
  });
});
