import { expect, it } from 'vitest';
import type { Payment } from '../../src/payment/payment.ts';
import { useSettlement } from './harness.ts';

const { settlement } = useSettlement();

/** A payment whose final release the next `watch` will see. */
async function createAlmostPaid(): Promise<Payment> {
  const payment = await settlement.createWithDeposit();
  await settlement.relay();
  await settlement.mine(3);
  return payment;
}

it('is written with paid or neither is: what keeps the row out keeps the payment unpaid', async () => {
  const payment = await createAlmostPaid();
  await settlement.inDatabase('ALTER TABLE webhooks RENAME COLUMN fields TO other');
  const before = await settlement.read(payment);
  await expect(settlement.watch()).rejects.toThrow();
  expect(await settlement.read(payment)).toEqual(before);
  await settlement.inDatabase('ALTER TABLE webhooks RENAME COLUMN other TO fields');
  await settlement.crash();
  expect(await settlement.read(payment)).toEqual(before);

  await settlement.watch();
  expect((await settlement.read(payment)).status).toBe('paid');
  expect(await settlement.webhooks(payment)).toHaveLength(1);
});
