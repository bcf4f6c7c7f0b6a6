import { describe, expect, it } from 'vitest';
import type { Refund } from '../../src/features/refunds/refund.ts';
import {
  confirmRefundAddress,
  createRefund,
  nameRefundAddress,
  submitTransaction,
} from '../../src/features/refunds/refunds.ts';
import type { Payment } from '../../src/payment/payment.ts';
import { omitLogsOf } from '../chain/endpoint-faults.ts';
import { addressFor } from '../chain/local-chain.ts';
import { HOUR_MS, useSettlement } from './harness.ts';
import { useReadThrough } from './proxies.ts';

const stage = useSettlement();
const { settlement } = stage;
const hosts = useReadThrough(stage);

let customers = 0;

async function givePaid(): Promise<Payment> {
  const payment = await settlement.createSettled();
  expect(await settlement.state(payment)).toBe('paid/completed');
  return payment;
}

async function open(
  payment: Payment,
  amount = '20',
  destination: string = addressFor(`customer ${++customers}`),
): Promise<Refund> {
  const request = { amount, reason: null, destination };
  return createRefund(settlement.refundContext(), payment.accountId, payment.id, request);
}

const send = ({ destination, units }: Refund, less = 0n) =>
  settlement.transfer(destination as `0x${string}`, units - less);
const submit = (refund: Refund, hash: string) => submitTransaction(settlement.refundContext(), refund, hash);
const read = async ({ accountId, id }: Refund) =>
  (await settlement.store.refunds.findRefund(accountId, id)) as Refund;

/** Blocks until all of it is final, and a pass over them. */
async function finalize(): Promise<void> {
  await settlement.mineAndWatch(3);
  await settlement.watchRefunds();
}

describe('a refund that the merchant transfers', () => {
  it('is paid when the transfer is final, and not before', async () => {
    const payment = await givePaid();
    const refund = await open(payment);
    const hash = await send(refund);
    await settlement.mineAndWatch();
    await settlement.watchRefunds();
    expect((await read(refund)).status).toBe('awaiting_transfer');
    await finalize();
    expect(await read(refund)).toMatchObject({ status: 'paid', transactionHash: hash, units: refund.units });
    expect((await read(refund)).sender).toMatch(/^0x[0-9a-fA-F]{40}$/);
    expect(await settlement.state(payment)).toBe('paid/completed');
  });

  it('is paid once by two equal transfers; the second can be booked as another refund', async () => {
    const payment = await givePaid();
    const first = await open(payment);
    const hash = await send(first);
    await settlement.mine();
    const again = await send(first);
    await finalize();
    expect(await read(first)).toMatchObject({ status: 'paid', transactionHash: hash });
    const second = await open(payment, '20', first.destination as string);
    await finalize();
    expect((await read(second)).status).toBe('awaiting_transfer');
    await submit(second, hash);
    await finalize();
    expect(await read(second)).toMatchObject({ transactionProblem: 'already_counted', submittedHash: null });
    await submit(second, again);
    await finalize();
    expect(await read(second)).toMatchObject({ status: 'paid', transactionHash: again });
  });

  it('of another amount is booked only by its hash, with what was transferred', async () => {
    const payment = await givePaid();
    const refund = await open(payment);
    const hash = await send(refund, 500n);
    await finalize();
    expect((await read(refund)).status).toBe('awaiting_transfer');
    await submit(refund, hash.toUpperCase().replace('0X', '0x'));
    await finalize();
    expect(await read(refund)).toMatchObject({ status: 'paid', units: refund.units - 500n });
  });

  it('keeps its own transfer where another refund to the address is submitted with the hash', async () => {
    const payments = [await givePaid(), await givePaid()];
    const customer = addressFor(`customer ${++customers}`);
    const own = await open(payments[0] as Payment, '20', customer);
    const other = await open(payments[1] as Payment, '30', customer);
    await submit(other, await send(own));
    await finalize();
    expect(await read(own)).toMatchObject({ status: 'paid', units: own.units });
    expect(await read(other)).toMatchObject({
      status: 'awaiting_transfer',
      transactionProblem: 'already_counted',
    });
    await send(other);
    await finalize();
    expect((await read(other)).status).toBe('paid');
  });

  it('may be booked with an amount that another refund to the address waited for and waits for no more', async () => {
    const payments = [await givePaid(), await givePaid()];
    const customer = addressFor(`customer ${++customers}`);
    const expired = await open(payments[0] as Payment, '20', customer);
    settlement.advance(31 * 24 * HOUR_MS);
    await finalize();
    const refund = await open(payments[1] as Payment, '30', customer);
    await submit(refund, await send(expired));
    await finalize();
    expect(await read(refund)).toMatchObject({ status: 'paid', units: expired.units });
  });

  it('is not booked by a transaction without a transfer to the address, or from before the deposit', async () => {
    const customer = addressFor(`customer ${++customers}`);
    const early = await settlement.transfer(customer, 20_000_000n);
    await settlement.mine();
    const payment = await givePaid();
    const refund = await open(payment, '20', customer);
    const elsewhere = await settlement.transfer(addressFor('elsewhere'), 20_000_000n);
    await submit(refund, elsewhere);
    await finalize();
    expect((await read(refund)).transactionProblem).toBe('no_transfer');
    await submit(refund, early);
    await finalize();
    expect((await read(refund)).transactionProblem).toBe('too_early');
  });

  it('is looked for from the confirmation of the address on, which the customer named', async () => {
    const payment = await givePaid();
    const context = settlement.refundContext();
    const request = { amount: '20', reason: null, destination: null };
    const opened = await createRefund(context, payment.accountId, payment.id, request);
    const customer = addressFor(`customer ${++customers}`);
    const named = await nameRefundAddress(context, opened, customer);
    expect(named).toMatchObject({ status: 'awaiting_confirmation', destination: customer });
    await send(named);
    await finalize();
    expect((await read(named)).status).toBe('awaiting_confirmation');
    const confirmed = await confirmRefundAddress(context, named, customer);
    await finalize();
    expect((await read(named)).status).toBe('awaiting_transfer');
    const hash = await send(confirmed);
    await finalize();
    expect(await read(named)).toMatchObject({ status: 'paid', transactionHash: hash, units: 20_000_000n });
  });

  it('is found although a node was asked that lacked the newest blocks, and answered with an empty list', async () => {
    const payment = await givePaid();
    const refund = await open(payment);
    await send(refund);
    settlement.faults.hideLogs = true;
    await finalize();
    expect((await read(refund)).status).toBe('awaiting_transfer');
    settlement.faults.hideLogs = false;
    await finalize();
    expect((await read(refund)).status).toBe('paid');
  });

  it('is found although one of three endpoints leaves it out', async () => {
    const payment = await givePaid();
    await hosts.readThrough(3);
    for (const omitting of hosts.proxies) {
      const refund = await open(payment);
      omitLogsOf(omitting, refund.destination as `0x${string}`);
      await send(refund);
      for (let pass = 0; pass < 3; pass++) await finalize();
      expect((await read(refund)).status).toBe('paid');
      omitting.alter = null;
    }
  });

  it.each([0, 1, 2])(
    'is booked by its hash although endpoint %i of three names another block for it',
    async (place) => {
      await hosts.readThrough(3);
      const refund = await open(await givePaid());
      hosts.proxy(place).alter = async (call, ask) => {
        const answer = await ask(call);
        if (call.method !== 'eth_getTransactionReceipt' || answer.result === null) return answer;
        return { result: { ...(answer.result as object), blockNumber: '0x1' } };
      };
      const hash = await send(refund, 1_000_000n);
      await submit(refund, hash);
      await finalize();
      await finalize();
      expect(await read(refund)).toMatchObject({ status: 'paid', transactionHash: hash });
    },
  );

  it('that a reorganization removes before it is final is not booked; one that comes again is', async () => {
    const payment = await givePaid();
    const refund = await open(payment);
    await send(refund);
    await settlement.mineAndWatch();
    await settlement.reorganize(1);
    await finalize();
    expect((await read(refund)).status).toBe('awaiting_transfer');
    await send(refund);
    await finalize();
    expect((await read(refund)).status).toBe('paid');
  });

  it('is not booked on one endpoint’s word, and the chain is not asked while none is open', async () => {
    const payment = await givePaid();
    await hosts.readThrough(2);
    const before = hosts.proxies.map(({ asked }) => asked.length);
    await settlement.watchRefunds();
    expect(hosts.proxies.map(({ asked }) => asked.length)).toEqual(before);
    const refund = await open(payment);
    await send(refund);
    omitLogsOf(hosts.proxy(1), refund.destination as `0x${string}`);
    await finalize().catch(() => {});
    expect((await read(refund)).status).toBe('awaiting_transfer');
    hosts.proxy(1).alter = null;
    await finalize();
    expect((await read(refund)).status).toBe('paid');
  });
});
