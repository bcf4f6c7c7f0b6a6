import { parseTransaction } from 'viem/utils';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Payment } from '../../src/payment/payment.ts';
import { TransactionRefusedError } from '../../src/settlement/chain/chain.ts';
import type { RelayBatch } from '../../src/settlement/settlement-store.ts';
import { BLOCK_MS, CrashError, EXPECTED_UNITS, HOUR_MS, useSettlement } from './harness.ts';

const { chain, settlement, reopen } = useSettlement({ limits: { releasesPerBatch: 2 } });

beforeEach(() => {
  settlement.faults.broadcast = null;
});

function feeOf({ attempts }: RelayBatch): bigint {
  return (attempts.at(-1) as RelayBatch['attempts'][number]).maxFeePerGas;
}

describe('several batches of one key', () => {
  it('reserve the relayer’s gas balance together, and what they leave is waited for', async () => {
    const payments = await settlement.createReady(4);
    const { address } = settlement.relayer;
    const before = await chain.anvil.rpc('eth_getBalance', [address, 'latest']);
    const { maxFeePerGas } = await settlement.relayer.quoteFees();
    // A batch of two reserves some 270,000 gas with the margin, a single release 140,000.
    await chain.anvil.rpc('anvil_setBalance', [address, `0x${(350_000n * maxFeePerGas).toString(16)}`]);
    expect(await settlement.relay()).toBe('opened');
    const open = await settlement.openBatches();
    expect(open.flatMap(({ paymentIds }) => paymentIds).length).toBeLessThan(4);
    const reserved = open.reduce((sum, batch) => sum + batch.gasLimit * feeOf(batch), 0n);
    expect(reserved).toBeLessThanOrEqual(350_000n * maxFeePerGas);
    await settlement.relay();
    expect(await settlement.openBatches()).toHaveLength(open.length);
    await chain.anvil.rpc('anvil_setBalance', [address, before]);
    await settlement.settleDown();
    await settlement.expectPaidOnce(...payments);
  });
});

describe('a process that is killed', () => {
  // What was committed before the kill, and whether its broadcast went.
  it.each([
    ['after its first batch is signed', 1, 0],
    ['after the first of two broadcasts', 2, 1],
    ['between two opens', 3, 2],
  ])('%s sends what it has signed, and nothing twice', async (_, committed, sent) => {
    const payments = await settlement.createReady(6);
    let broadcasts = 0;
    settlement.faults.broadcast = async (_raw, send) => {
      if (broadcasts++ === sent) throw new CrashError();
      await send();
    };
    await expect(settlement.relay()).rejects.toThrow(CrashError);
    const before = await settlement.openBatches();
    expect(before).toHaveLength(committed);
    settlement.faults.broadcast = null;
    await settlement.crash();
    const again: string[] = [];
    settlement.faults.broadcast = async (raw, send) => {
      again.push(raw);
      await send();
    };
    await settlement.relay();
    expect(again).toContain(before.at(-1)?.attempts[0]?.rawTransaction);
    expect((await settlement.openBatches()).slice(0, committed)).toEqual(before);
    expect(await settlement.openBatches()).toHaveLength(3);
    await settlement.settleDown();
    await settlement.expectPaidOnce(...payments);
  });
});

describe('a transaction that is not mined', () => {
  it('and is bumped leaves what is behind it until it is first', async () => {
    const payments = await settlement.createReady(6);
    await settlement.relay();
    const before = await settlement.openBatches();
    settlement.advance(15_000);
    const { maxFeePerGas, maxPriorityFeePerGas } = await settlement.relayer.quoteFees();
    const fees = { maxFeePerGas: maxFeePerGas * 2n, maxPriorityFeePerGas: maxPriorityFeePerGas * 2n };
    settlement.faults.fees = fees;
    expect(await settlement.relay()).toBe('bumped');
    const after = await settlement.openBatches();
    expect(after.map(({ nonce, attempts }) => [nonce, attempts.length])).toEqual(
      before.map(({ nonce }, index) => [nonce, index === 0 ? 2 : 1]),
    );
    expect(after.map(feeOf)[0]).toBe(fees.maxFeePerGas);
    await settlement.settleDown();
    await settlement.expectPaidOnce(...payments);
  });

  it('because the node dropped all of them is sent again with all that is behind it', async () => {
    const payments = await settlement.createReady(8);
    await settlement.relay();
    await settlement.dropWaiting();
    expect(await settlement.relay()).toBe('rebroadcast');
    await settlement.mine();
    await settlement.mineAndWatch(settlement.finalityBlocks);
    await settlement.relay();
    expect(await settlement.openBatches()).toEqual([]);
    await settlement.expectPaidOnce(...payments);
  });

  it('because every node refuses its one release for ten minutes holds up nothing behind it for longer', async () => {
    await reopen({ limits: { releasesPerBatch: 1 } });
    const [bad, ...good] = (await settlement.createReady(4)) as [Payment, ...Payment[]];
    let refused: string | null = null;
    settlement.faults.broadcast = async (raw, send) => {
      refused ??= raw;
      if (raw === refused) throw new TransactionRefusedError('this transaction is not allowed');
      await send();
    };
    await expect(settlement.relay()).rejects.toThrow('not allowed');
    const [head] = (await settlement.openBatches()) as [RelayBatch];
    expect(head.paymentIds).toEqual([bad.id]);
    await expect(settlement.relay()).rejects.toThrow('not allowed');
    settlement.advance(600_000);
    expect(await settlement.relay()).toBe('replaced');
    expect((await settlement.openBatches())[0]).toMatchObject({
      nonce: head.nonce,
      kind: 'self_transfer',
      paymentIds: [],
    });
    expect(await settlement.read(bad)).toMatchObject({
      forwardStatus: 'failed',
      releaseRefusalReason: 'this transaction is not allowed',
    });
    await settlement.settleDown();
    await settlement.expectPaidOnce(...good);
    settlement.advance(HOUR_MS);
    await settlement.settleDown();
    await settlement.expectPaidOnce(bad);
  });
});

it('releases go on while finality stalls for an hour, in at most 64 open batches', async () => {
  await reopen({ limits: { releasesPerBatch: 100 } });
  const payments: Payment[] = [];
  const stall = await settlement.stallFinality();
  const roundMs = 30_000;
  for (let elapsedMs = 0; elapsedMs < HOUR_MS; elapsedMs += roundMs) {
    const payment = await settlement.create();
    payments.push(payment);
    await settlement.deposit(payment, EXPECTED_UNITS);
    await settlement.mineAndWatch();
    await settlement.relay();
    await settlement.mine();
    settlement.advance(roundMs - 2 * BLOCK_MS);
  }
  // A release that is asked for later than any pause is on its way, although nothing was final for an hour.
  settlement.advance(HOUR_MS);
  await settlement.relay();
  await settlement.mine();
  const released = await Promise.all(payments.map((payment) => settlement.balancesOf(payment)));
  expect(released.filter(({ held = 0n }) => held > 0n)).toEqual([]);
  expect((await settlement.openBatches()).length).toBeLessThanOrEqual(64);
  stall.end();
  await settlement.settleDown();
  await settlement.expectPaidOnce(...payments);
}, 180_000);

it('a transfer to the relayer itself carries no coins and no call', async () => {
  const { maxFeePerGas, maxPriorityFeePerGas } = await settlement.relayer.quoteFees();
  const fees = { maxFeePerGas, maxPriorityFeePerGas };
  const signed = await settlement.relayer.sign({ kind: 'self_transfer' }, 3, 21_000n, fees);
  const parsed = parseTransaction(signed.rawTransaction as `0x${string}`);
  expect(parsed).toMatchObject({ nonce: 3, gas: 21_000n, to: settlement.relayer.address.toLowerCase() });
  expect([parsed.value, parsed.data]).toEqual([undefined, undefined]);
});
