import { createServer } from 'node:http';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Account } from '../../src/accounts/account.ts';
import type { DirectPaymentRequest } from '../../src/payment/create-payment.ts';
import type { Payment } from '../../src/payment/payment.ts';
import { failedResult, givePayment, NOW_MS, newPayment, pay } from '../store/fixtures.ts';
import { withAnySecret } from '../support/claim-oldest.ts';
import { listenOnLoopback } from '../support/listen-on-loopback.ts';
import { ADDRESS, direct, sandboxThat, type TestOperations, useOperations } from '../support/operations.ts';

let { store, context, run, giveAccount } = {} as TestOperations;
useOperations((operations) => ({ store, context, run, giveAccount } = operations));

describe('the sandbox', () => {
  it('is asked what the command says', async () => {
    const payment = await givePayment(store);
    const asked: unknown[][] = [];
    Object.assign(context, {
      sandboxOperations: sandboxThat({
        pay: async (...call) => {
          asked.push(call);
          return { provider: 'wert', transactionHash: '0xaa', deliveryUnits: 12_340_000n };
        },
        setFault: async (...call) => void asked.push(call),
        setProviderFault: async (...call) => void asked.push(call),
      }),
    });
    expect(await run('sandbox pay', { payment: payment.id, provider: 'wert', usdc: '12.34' })).toEqual({
      provider: 'wert',
      usdc: '12.340000',
      transaction_hash: '0xaa',
    });
    await run('sandbox pay', { payment: payment.id });
    expect(await run('sandbox fault', { target: 'provider', provider: 'wert', down: true })).toEqual({
      target: 'provider',
      provider: 'wert',
      fault: 'down',
    });
    await run('sandbox fault', { target: 'provider', provider: 'wert', 'wrong-token': true });
    await run('sandbox fault', { target: 'chain', up: true });
    expect(asked).toEqual([
      [payment, 'wert', 12_340_000n],
      [payment, null, null],
      ['wert', 'down'],
      ['wert', 'wrong-token'],
      ['chain', 'up'],
    ]);
  });

  it('is refused where there is none', async () => {
    const payment = (await givePayment(store)).id;
    const problem = 'This works only while the sandbox runs.';
    await expect(run('sandbox pay', { payment })).rejects.toThrow(problem);
    await expect(run('sandbox fault', { target: 'rates', down: true })).rejects.toThrow(problem);
    await expect(run('trigger', { event: 'payment.paid' })).rejects.toThrow(problem);
    await expect(run('listen')).rejects.toThrow(problem);
  });

  it('is refused by a server in live mode with other words', async () => {
    Object.assign(context, { direct });
    for (const name of ['trigger', 'listen', 'sandbox pay'])
      await expect(run(name, { event: 'payment.paid' }), name).rejects.toThrow(/runs in live mode/);
  });
});

describe('trigger', () => {
  const callbackUrl = 'https://idle.example.com/hook';
  let asked: [string, string, DirectPaymentRequest][];
  let account: string;

  beforeEach(async () => {
    asked = [];
    account = await giveAccount();
    await run('account update', { account, wallet: ADDRESS });
    const createAs =
      (kind: string, event: 'payment.paid' | 'payment.forwarded') =>
      async ({ id }: Account, request: DirectPaymentRequest) => {
        asked.push([kind, id, request]);
        const payment = newPayment(id, { callbackUrl: request.callbackUrl });
        await store.payments.createPayment(payment, null);
        await store.payments.decidePayment(payment.id, (view) => {
          const decision = pay(view);
          return decision && { ...decision, webhooks: [{ event, fields: {} }] };
        });
        return payment;
      };
    Object.assign(context, {
      direct: {
        ...direct,
        create: createAs('direct', 'payment.forwarded'),
        createCheckout: createAs('card', 'payment.paid'),
      },
      sandboxOperations: sandboxThat({
        pay: async () => {
          const waiting = await store.webhooks.listWaitingWebhooks(10, []);
          const ids = waiting.map(({ id }) => id);
          for (const claimed of await store.webhooks.claimWebhooks(ids, NOW_MS, withAnySecret))
            await store.webhooks.recordWebhookResult(claimed, failedResult);
          return { provider: 'moonpay', transactionHash: '0xaa', deliveryUnits: 1n };
        },
        defaults: { accountId: account, callbackUrl },
      }),
    });
  });

  it.each([
    ['payment.paid', 'card'],
    ['payment.forwarded', 'direct'],
  ])('%s pays a new %s payment and tells how its one delivery ended', async (event, kind) => {
    const told = await run('trigger', { event });
    expect(asked).toMatchObject([
      [kind, account, { amountCents: 25_00, currency: 'USD', callbackUrl, payoutAddress: ADDRESS }],
    ]);
    expect(told).toMatchObject({
      event,
      callback: callbackUrl,
      ipn_token: 'ipn_test',
      delivery: 'failed',
      http_status: failedResult.httpStatus,
      reason: failedResult.reason,
    });
  });

  it('takes amount, callback and account, the account’s own callback before the sandbox’s', async () => {
    const other = await giveAccount('Other');
    await run('account update', {
      account: other,
      wallet: ADDRESS,
      'default-callback': 'https://other.example/hook',
    });
    await run('trigger', { event: 'payment.paid', account: other, amount: '7.50' });
    await run('trigger', { event: 'payment.paid', callback: 'https://named.example.com/hook' });
    expect(asked).toMatchObject([
      ['card', other, { amountCents: 7_50, callbackUrl: 'https://other.example/hook' }],
      ['card', account, { amountCents: 25_00, callbackUrl: 'https://named.example.com/hook' }],
    ]);
  });

  /** A payment as the shop created it, and that is paid by then. */
  async function giveOwn(): Promise<Payment> {
    const payment = newPayment(account, { callbackUrl });
    await store.payments.createPayment(payment, null);
    await store.payments.decidePayment(payment.id, pay);
    return payment;
  }

  it('pays a payment that the shop created, and creates none', async () => {
    const { id } = await giveOwn();
    const told = await run('trigger', { event: 'payment.paid', payment: id });
    expect(told).toMatchObject({ payment_id: id, callback: callbackUrl, delivery: 'failed' });
    expect(asked).toEqual([]);
  });

  it('pays the checkout that the shop creates at its URL, and says so when it creates none', async () => {
    let created: Payment | null = null;
    let isBroken = true;
    const shop = createServer((request, answer) => {
      if (request.method !== 'POST' || isBroken) return answer.writeHead(500).end();
      void giveOwn().then((payment) => {
        created = payment;
        answer.writeHead(303, { location: 'https://pay.example/' }).end();
      });
    });
    const args = { event: 'payment.paid', 'order-url': `${await listenOnLoopback(shop)}/orders` };
    await expect(run('trigger', args)).rejects.toThrow(/created no checkout.*the shop answered 500/);
    isBroken = false;
    expect(await run('trigger', args)).toMatchObject({ payment_id: (created as Payment | null)?.id });
    expect(asked).toEqual([]);
  });

  it.each([
    [{}, /^event is missing/],
    [{ event: 'payment.paid', payment: newPayment('acc').id }, /^Payment not found/],
    [{ event: 'payment.paid', 'order-url': 'shop' }, /^order-url must be a URL/],
    [
      { event: 'payment.paid', payment: newPayment('acc').id, 'order-url': 'http://127.0.0.1:1' },
      /exclude each other/,
    ],
    [{ event: 'payment.refunded' }, /^event must be one of payment.paid, payment.forwarded/],
    [{ event: 'payment.paid', amount: '0' }, /^amount must be/],
    [{ event: 'payment.paid', account: 'acc_x' }, /^The account acc_x does not exist/],
    [{ event: 'payment.paid', callback: 'http://x' }, /^callback must/],
  ])('refuses %j and makes nothing', async (args, problem) => {
    await expect(run('trigger', args)).rejects.toThrow(problem);
    expect(asked).toEqual([]);
  });
});
