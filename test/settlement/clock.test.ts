import { describe, expect, it } from 'vitest';
import type { Payment } from '../../src/domain/payment.ts';
import type { RelayPass } from '../../src/payments/relay/relay-context.ts';
import { EXPECTED_UNITS, HOUR_MS, useSettlement } from './harness.ts';

const { chain, settlement } = useSettlement({ limits: { batchWindowMs: 2_000 } });

/** A payment whose release has waited for others long enough. */
async function createDue(): Promise<Payment> {
  const payment = await settlement.create();
  await settlement.deposit(payment, EXPECTED_UNITS);
  await settlement.mine();
  await settlement.watch();
  settlement.advance(2_000);
  return payment;
}

/** A pass of the sender by a clock that is wrong; the chain's time cannot go back, so it is right again afterwards. */
async function relayAt(offsetMs: number): Promise<RelayPass> {
  settlement.advance(offsetMs);
  try {
    return await settlement.relay();
  } finally {
    settlement.advance(-offsetMs);
  }
}

async function expectPaid(payment: Payment): Promise<void> {
  expect(await settlement.read(payment)).toMatchObject({ status: 'paid', receivedUnits: EXPECTED_UNITS });
  expect(await settlement.webhooks(payment)).toHaveLength(1);
}

describe.each([
  { name: 'back', offsetMs: -HOUR_MS },
  { name: 'ahead', offsetMs: HOUR_MS },
])('a clock that is set an hour $name', ({ offsetMs }) => {
  it('holds up no release', async () => {
    const payment = await createDue();
    expect(await relayAt(offsetMs)).toBe('opened');
    await settlement.mine();
    await settlement.finalize();
    await settlement.watch();
    expect(await relayAt(offsetMs)).toBe('resolved');
    await expectPaid(payment);
  });

  it('between attempts holds up neither the next one nor their end', async () => {
    const payment = await createDue();
    expect(await settlement.relay()).toBe('opened');
    const { maxFeePerGas, maxPriorityFeePerGas } = await settlement.relayer.quoteFees();
    settlement.faults.fees = {
      maxFeePerGas: maxFeePerGas * 2n,
      maxPriorityFeePerGas: maxPriorityFeePerGas * 2n,
    };
    expect(await relayAt(offsetMs)).toBe('bumped');
    await settlement.mine();
    await settlement.finalize();
    await settlement.watch();
    expect(await relayAt(offsetMs)).toBe('resolved');
    await expectPaid(payment);
  });

  it('does not let a gap of the nonces be waited for without end', async () => {
    const payment = await createDue();
    expect(await settlement.relay()).toBe('opened');
    settlement.faults.missingTransactions = 1;
    expect(await settlement.relay()).toBe('waiting');
    expect(await relayAt(offsetMs)).toBe('filled');
    settlement.faults.missingTransactions = 0;
    settlement.advance(HOUR_MS + 10_000);
    await settlement.settleDown();
    await expectPaid(payment);
  });

  it('does not hold up a refused release for longer than its pause', async () => {
    const payment = await createDue();
    await chain.callToken({ name: 'blacklist', account: payment.payoutAddress });
    await settlement.mine();
    expect(await settlement.relay()).toBe('refused');
    await chain.callToken({ name: 'unBlacklist', account: payment.payoutAddress });
    await settlement.mine();
    expect(await settlement.relay()).toBe('idle');
    expect(await relayAt(offsetMs)).toBe('opened');
    await settlement.settleDown();
    await expectPaid(payment);
  });
});
