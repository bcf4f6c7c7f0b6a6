import { describe, expect, it } from 'vitest';
import type { Payment } from '../../src/payment/payment.ts';
import { useSettlement } from './harness.ts';

const BATCH_SIZE = 4;
const TEN_MINUTES_MS = 600_000;

const { chain, settlement } = useSettlement({ limits: { maximumUnmined: 1, releasesPerBatch: BATCH_SIZE } });

async function expectReleasedOnce(payments: readonly Payment[]): Promise<void> {
  await settlement.expectPaidOnce(...payments);
  for (const payment of payments) expect((await settlement.read(payment)).relayBatchId).toBeNull();
}

/** Who sent the release of each payment. */
async function releasersOf(payments: readonly Payment[]): Promise<Set<string>> {
  const senders = await Promise.all(
    payments.map(async (payment) => {
      const { txidOut } = await settlement.read(payment);
      const transaction = await chain.anvil.rpc('eth_getTransactionByHash', [txidOut]);
      return (transaction as { from: string }).from.toLowerCase();
    }),
  );
  return new Set(senders);
}

describe('two relayer keys that release at the same time', () => {
  it('share what is due, and release every payment exactly once', async () => {
    const senders = [await settlement.openSender(), await settlement.openSender()];
    for (const { address } of senders) settlement.liveRelayers.add(address);
    const payments = await settlement.createReady(5 * BATCH_SIZE);
    const isOpen = async () => (await settlement.store.relay.listOpenBatches(10)).length > 0;
    for (let round = 0; round < 40 && (round === 0 || (await isOpen())); round++) {
      await Promise.all(senders.map(({ relay }) => relay()));
      await settlement.mineAndWatch(settlement.finalityBlocks);
      await Promise.all(senders.map(({ relay }) => relay()));
      await Promise.all(senders.map(({ relay }) => relay()));
    }
    await expectReleasedOnce(payments);
    const addresses = senders.map(({ address }) => address.toLowerCase());
    expect(await releasersOf(payments)).toEqual(new Set(addresses));
    expect(settlement.incidents).toEqual([]);
  });

  it('leave each other’s transactions alone, however long they take', async () => {
    const [payment] = (await settlement.createReady(1)) as [Payment];
    const other = await settlement.openSender();
    settlement.liveRelayers.add(other.address);
    expect(await other.relay()).toBe('opened');
    const [batch] = await settlement.store.relay.listOpenBatchesOf(other.address);
    await settlement.dropWaiting();
    const sent: string[] = [];
    settlement.faults.broadcast = async (rawTransaction) => void sent.push(rawTransaction);
    await settlement.relay();
    settlement.advance(2 * TEN_MINUTES_MS);
    await settlement.relay();
    settlement.advance(2 * TEN_MINUTES_MS);
    expect(await settlement.relay()).toBe('idle');
    expect(sent).toEqual([]);
    expect(await settlement.read(payment)).toMatchObject({ relayBatchId: batch?.id });
    settlement.faults.broadcast = null;
    await other.relay();
    await settlement.mine();
    await settlement.mineAndWatch(settlement.finalityBlocks);
    expect(await other.relay()).toBe('resolved');
    await expectReleasedOnce([payment]);
  });
});
