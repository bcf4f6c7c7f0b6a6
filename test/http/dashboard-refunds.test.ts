import { beforeEach, describe, expect, it } from 'vitest';
import { bookTransfer, decideAddress, type Refund } from '../../src/features/refunds/refund.ts';
import type { Address } from '../../src/payment/address.ts';
import type { Payment } from '../../src/payment/payment.ts';
import { challengeIn, createAuthenticator } from '../support/authenticator.ts';
import { PASSWORD } from '../support/dashboard.ts';
import { type TestShop, useShop } from '../support/dashboard-shop.ts';
import { expectSays, textOf } from '../support/page-text.ts';
import { CUSTOMER_ADDRESS, giveRefund, newRefund, payWithDeposit } from '../support/refunds.ts';

const SECURITY = '/dashboard/security';
const UNITS = 25_000_000n;

let { dashboard, account, browser, give } = {} as TestShop;
useShop((shop) => ({ dashboard, account, browser, give } = shop), { role: 'developer' });
let payment: Payment;
beforeEach(async () => {
  payment = await give();
  await payWithDeposit(dashboard.store, payment, UNITS);
});

const pagePath = () => `/dashboard/payments/${payment.id}`;
const post = (path: string, fields: Record<string, string> = {}, from = browser) =>
  from.post(`${pagePath()}/refunds${path}`, { password: PASSWORD, ...fields });
const open = (fields: Record<string, string> = {}, from = browser) =>
  post('', { destination: CUSTOMER_ADDRESS, ...fields }, from);
const read = async (from = browser) => (await from.get(pagePath())).payload;
const stored = () => dashboard.store.refunds.listRefunds(payment.id);

async function only(): Promise<Refund> {
  const [refund] = await stored();
  if (refund === undefined) throw new Error('there is no refund');
  return refund;
}

/** Books a transfer of exactly the refund, as the watcher does. */
const pay = (refund: Refund) =>
  dashboard.store.refunds.changeRefund(
    refund,
    (view) => {
      const transfer = {
        recipient: refund.destination as Address,
        sender: refund.destination as Address,
        units: refund.units,
        transactionHash: `0x${'ef'.repeat(32)}`,
        logIndex: 0,
        blockNumber: 90,
      };
      return bookTransfer(view, [transfer], UNITS, dashboard.nowMs());
    },
    dashboard.nowMs(),
  );

it('the page of refunds has those of the account with their state, newest first, page by page', async () => {
  const other = await give({}, (await dashboard.giveAccount()).id);
  await giveRefund(dashboard.store, newRefund(other, { reason: 'of another account' }));
  const createdAtMs = dashboard.nowMs();
  for (let index = 0; index < 51; index++)
    await giveRefund(
      dashboard.store,
      newRefund(payment, {
        createdAtMs,
        reason: `number ${index}.`,
        status: index === 50 ? 'paid' : 'canceled',
      }),
    );
  const first = await browser.get('/dashboard/refunds');
  expect(textOf(first.payload)).toMatch(/5\.00 USDC paid number 50\..* number 1\. /);
  expect(first.payload).toContain(`href="${pagePath()}#refunds"`);
  expect(textOf(first.payload)).not.toMatch(/number 0\.|of another account/);
  const [, older = ''] = /href="([^"]+)">Older/.exec(first.payload) ?? [];
  const last = textOf((await browser.get(older.replaceAll('&#61;', '='))).payload);
  expect([last.includes('number 0.'), last.includes('number 1.')]).toEqual([true, false]);
});

describe('the card of refunds', () => {
  it('leads from the form over the transfer for a wallet to the final one, in audit log and CSV', async () => {
    expect(textOf(await read())).toContain('25.00 USDC can still be refunded');
    const opened = await open({ amount: '12.50', reason: 'Returned <b>cake</b>' });
    expect([opened.statusCode, opened.headers['location']]).toEqual([303, `${pagePath()}#refunds`]);
    const ready = await read();
    expect(ready).toContain(`/transfer?address&#61;${CUSTOMER_ADDRESS}&#38;uint256&#61;12500000`);
    expect(ready).toContain('<svg');
    expect(textOf(ready)).toContain('Returned <b>cake</b>');
    await pay(await only());
    const done = await read();
    expect(textOf(done)).toContain('The transfer is final.');
    expect(textOf(done)).toContain(`0x${'ef'.repeat(32)}`);
    expect(done).not.toContain('ethereum:');
    const audit = await dashboard.store.audit.listEntries(account.id, null, 10);
    expect(audit.map(({ action }) => action)).toEqual(['refund.opened', 'session.opened']);
    const csv = (await browser.get('/dashboard/payments.csv')).payload.split('\r\n');
    const column = (csv[0] as string).split(',').indexOf('refunded_usdc');
    expect((csv[1] as string).split(',')[column]).toBe('12.500000');
  });

  it('offers no refund of what is refunded, neither on its page nor on Home', async () => {
    payment = await give({ amountCents: 20_00, currency: 'USD', usdUnits: 20_000_000n });
    await payWithDeposit(dashboard.store, payment, UNITS, {
      amountMismatch: 'overpaid',
      receivedUnits: UNITS,
    });
    const home = async () => textOf((await browser.get('/dashboard')).payload);
    expect([await read(), await home()]).toEqual([
      expect.stringMatching(/refund(&#61;|=)all/),
      expect.stringContaining('Refund the surplus'),
    ]);
    expect(textOf(await read())).toMatch(/open a refund of the surplus below.*The surplus: 5\.00 USDC/);
    await open();
    await pay(await only());
    const refunded = await read();
    expect(refunded).not.toMatch(/refund(&#61;|=)all/);
    expect(textOf(refunded)).toContain('Nothing is left to refund.');
    expect(textOf(refunded)).not.toContain('open a refund of the surplus');
    expect(await home()).not.toContain('Refund the surplus');
  });

  it.each([
    ['amount', '1,5', 1_500_000n],
    ['charge_amount', '10,00 €', 2_437_359n],
    ['share', '12.5 %', 3_125_000n],
  ] as const)('opens a refund of the %s that was typed, as the API does', async (amount, part, units) => {
    expect((await open({ amount, part })).statusCode).toBe(303);
    expect((await only()).units).toBe(units);
  });

  it.each([
    [
      'charge_amount',
      '102.58',
      'Must be above 0 and at most the charge of 102.57 EUR, with at most two decimals.',
    ],
    ['charge_amount', '5 USD', 'Must be above 0 and at most the charge of 102.57 EUR'],
    ['share', '100.01', 'Must be above 0 and at most 100 percent, with at most two decimals.'],
    ['share', '1.234', 'can be read in two ways: write it with two decimals, for example 1234.00.'],
    ['amount', '', 'Must be all, surplus, or an amount in USDC such as 12.50.'],
  ])('refuses the %s %j beside the field in which it was typed', async (amount, part, words) => {
    const { payload } = await open({ amount, part });
    expect(payload).toMatch(/name="part"[^>]*aria-invalid/);
    expect(textOf(payload)).toContain(words);
    expect(await stored()).toEqual([]);
  });

  it('refunds not all because a number was typed without the choice of what it is', async () => {
    expect(textOf((await open({ amount: 'all', part: '5' })).payload)).toContain(
      'Must say what the number below is',
    );
    expect(await stored()).toEqual([]);
  });

  it('asks once more before it goes where USDC is lost', async () => {
    const destination = '0x000000000000000000000000000000000000dEaD';
    expect(textOf((await open({ destination })).payload)).toContain('Pay out to this address anyway');
    expect((await open({ destination, is_meant: '1' })).statusCode).toBe(303);
    expect((await only()).destination).toBe(destination);
  });
});

const name = (refund: Refund, address: Address = CUSTOMER_ADDRESS) =>
  dashboard.store.refunds.changeRefund(
    refund,
    (view) => decideAddress(view, address, dashboard.nowMs()),
    dashboard.nowMs(),
  );
const confirm = async (fields: Record<string, string> = {}, from = browser) =>
  post(`/${(await only()).id}/confirm`, { destination: CUSTOMER_ADDRESS, ...fields }, from);

describe('a refund without an address', () => {
  beforeEach(() => open({ destination: '' }));

  it('leads from the link for the customer over the confirmed address to the transfer', async () => {
    const link = `https://pay.example.com/refund/${(await only()).id}/`;
    expect(await read()).toContain(link);
    await name(await only());
    const named = await read();
    expect(named).not.toContain(link);
    expect(textOf(named)).toContain(`Someone with the link named ${CUSTOMER_ADDRESS}`);
    expect(named).not.toContain('ethereum:');
    expect((await confirm()).statusCode).toBe(303);
    expect(await read()).toContain(`/transfer?address&#61;${CUSTOMER_ADDRESS}`);
    const audit = await dashboard.store.audit.listEntries(account.id, null, 10);
    expect(audit.map(({ action }) => action)).toEqual([
      'refund.confirmed',
      'refund.opened',
      'session.opened',
    ]);
  });

  it('is confirmed with the address that the page showed only', async () => {
    await name(await only());
    const answer = await confirm({ destination: '0x90F79bf6EB2c4f870365E785982E1f101E93b906' });
    expectSays(answer, 409, 'The customer named another address.');
    expect((await only()).status).toBe('awaiting_confirmation');
  });

  it('asks once more before it confirms an address where USDC is lost', async () => {
    const destination = '0x000000000000000000000000000000000000dEaD';
    await name(await only(), destination);
    const refused = await confirm({ destination });
    expectSays(refused, 400, 'an address without an owner');
    expect(refused.payload).toMatch(/<input id="is_meant"[^>]*aria-invalid="true"/);
    expect((await confirm({ destination, is_meant: '1' })).statusCode).toBe(303);
  });
});

it('a member with a second factor confirms the address of a refund with a passkey only, and with its answer to this session alone', async () => {
  await open({ destination: '' });
  await name(await only());
  const device = createAuthenticator('pay.example.com');
  const fields = { name: 'Phone', password: PASSWORD };
  const { payload } = await browser.post(`${SECURITY}/passkeys`, fields);
  const response = device.make(challengeIn(payload), 'https://pay.example.com');
  expect((await browser.post(`${SECURITY}/new-passkey`, { response })).statusCode).toBe(200);
  const send = async (respond: (challenge: string) => string) => {
    const page = await read();
    return confirm({ response: respond(challengeIn(page)) });
  };
  expect((await send(() => '')).statusCode).toBe(400);
  expect((await send(() => device.use('another challenge', 'https://pay.example.com'))).statusCode).toBe(400);
  expect((await only()).status).toBe('awaiting_confirmation');
  const answer = await send((asked) => device.use(asked, 'https://pay.example.com'));
  expect([answer.statusCode, (await only()).status]).toEqual([303, 'awaiting_transfer']);
});
