import { privateKeyToAddress } from 'viem/accounts';
import { describe, expect, it } from 'vitest';
import type { Payment } from '../../src/payment/payment.ts';
import { TransactionRefusedError } from '../../src/settlement/chain/chain.ts';
import type { RelayBatch } from '../../src/settlement/settlement-store.ts';
import { CrashError, useSettlement } from './harness.ts';

const { chain, settlement } = useSettlement();
let keys = 0;

/** The process starts again with a key that nobody has used. */
async function changeKey(balanceWei: bigint): Promise<void> {
  const key: `0x${string}` = `0x${(++keys).toString(16).padStart(64, '7')}`;
  await chain.anvil.rpc('anvil_setBalance', [privateKeyToAddress(key), `0x${balanceWei.toString(16)}`]);
  await settlement.crash(key);
}

/** A release that was committed by the present key and reached no node. */
async function commitUnsent(): Promise<{ readonly payment: Payment; readonly batch: RelayBatch }> {
  const payment = await settlement.createWithDeposit();
  settlement.faults.broadcast = () => Promise.reject(new CrashError());
  await expect(settlement.relay()).rejects.toThrow(CrashError);
  settlement.faults.broadcast = null;
  const [batch] = await settlement.store.relay.listOpenBatches(10);
  if (batch === undefined) throw new Error('no batch is open');
  return { payment, batch };
}

async function expectPaidOnce(payment: Payment): Promise<Payment> {
  const paid = await settlement.expectPaidOnce(payment);
  expect(paid.relayBatchId).toBeNull();
  return paid;
}

const POL = 10n ** 18n;

describe('after the relayer key was changed', () => {
  it('what the old one had signed is sent and followed to its end, also by a new one without POL for gas', async () => {
    const { payment, batch } = await commitUnsent();
    await changeKey(0n);
    await settlement.settleDown();
    expect((await expectPaidOnce(payment)).txidOut).toBe(batch.attempts[0]?.hash);
    expect(settlement.incidents).toEqual([
      { kind: 'retired_batch_resolved', batchId: batch.id, relayer: batch.relayer },
    ]);
    expect(await settlement.store.relay.listOpenBatches(10)).toEqual([]);
  });

  it('what can no longer be mined is given up after ten minutes, and released by the new one, once', async () => {
    const { payment, batch } = await commitUnsent();
    await changeKey(POL);
    const oldBytes = batch.attempts.map(({ rawTransaction }) => rawTransaction);
    settlement.faults.broadcast = async (rawTransaction, send) => {
      if (oldBytes.includes(rawTransaction)) throw new TransactionRefusedError('insufficient funds');
      await send();
    };
    await settlement.relay();
    settlement.advance(599_000);
    await settlement.relay();
    expect(await settlement.read(payment)).toMatchObject({ relayBatchId: batch.id });
    settlement.advance(1_000);
    await settlement.relay();
    expect(await settlement.read(payment)).toMatchObject({ relayBatchId: null, forwardStatus: 'ready' });
    expect(settlement.incidents).toEqual([
      { kind: 'retired_batch_abandoned', batchId: batch.id, relayer: batch.relayer },
    ]);
    settlement.advance(10_000);
    await settlement.settleDown();
    const paid = await expectPaidOnce(payment);

    // The old transaction turns up after all.
    for (const bytes of oldBytes) await chain.anvil.rpc('eth_sendRawTransaction', [bytes]);
    await settlement.mine();
    await settlement.settleDown();
    expect(await expectPaidOnce(payment)).toEqual(paid);
  });

  it('and the service was down for long, the old transaction still gets its time to be mined', async () => {
    const { payment, batch } = await commitUnsent();
    await changeKey(POL);
    settlement.advance(86_400_000);
    await settlement.relay();
    settlement.advance(29_999);
    await settlement.relay();
    expect(await settlement.read(payment)).toMatchObject({ relayBatchId: batch.id });
    await settlement.settleDown();
    expect((await expectPaidOnce(payment)).txidOut).toBe(batch.attempts[0]?.hash);
  });

  it('a nonce of the old one that something else has spent frees the payments', async () => {
    const { payment, batch } = await commitUnsent();
    await chain.anvil.rpc('anvil_setNonce', [batch.relayer, `0x${(batch.nonce + 1).toString(16)}`]);
    await changeKey(POL);
    await settlement.mineAndWatch(3);
    await settlement.relay();
    expect(await settlement.read(payment)).toMatchObject({ relayBatchId: null, noOpBatches: 0 });
    settlement.advance(30_000);
    await settlement.settleDown();
    await expectPaidOnce(payment);
  });
});

it('whoever asks for a release that a transaction carries already is told so', async () => {
  const { payment, batch } = await commitUnsent();
  await expect(settlement.release(payment)).rejects.toMatchObject({
    errorName: 'payment_state_conflict',
    message: expect.stringContaining(`batch ${batch.id}`),
  });
  await settlement.settleDown();
  await expectPaidOnce(payment);
});
