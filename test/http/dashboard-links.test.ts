import { describe, expect, it } from 'vitest';
import { LINK_ORIGIN, type Payment } from '../../src/payment/payment.ts';
import { shortCodeOf } from '../../src/payment/payment-id.ts';
import { pay } from '../store/fixtures.ts';
import { PASSWORD, USDC } from '../support/dashboard.ts';
import { type TestShop, useShop } from '../support/dashboard-shop.ts';
import { textOf } from '../support/page-text.ts';

let { dashboard, account, browser, read } = {} as TestShop;
useShop((shop) => ({ dashboard, account, browser, read } = shop), {
  role: 'developer',
  account: { timeZone: 'Asia/Kolkata' },
});

const own = {
  address: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
  callback: 'https://shop.example.com/hook',
  password: PASSWORD,
};
const form = { ...own, amount: '12.30', currency: 'EUR', provider: 'multi', email: '', note: 'Table 7' };
async function make(path: string, fields: Record<string, string>): Promise<string> {
  const { headers } = await browser.post(path, fields);
  return /\/links\/(.+)$/.exec(String(headers['location']))?.[1] as string;
}

it('a payment link is made with the account’s wallet and callback, through the API’s checks', async () => {
  const id = await make('/dashboard/links', form);
  expect(await dashboard.store.payments.findPaymentById(id)).toMatchObject({
    accountId: account.id,
    amountCents: 1230,
    note: 'Table 7',
    payoutAddress: own.address,
    callbackUrl: own.callback,
    email: null,
    passFeeToCustomer: false,
  });
  const shown = await browser.get(`/dashboard/links/${id}`);
  expect(shown.payload).toContain(`value="https://pay.example.com/s/${shortCodeOf(id)}"`);
  expect(textOf(shown.payload)).toContain('Previews of this link show the note: Table 7');
  expect(shown.payload).toContain('aria-label="QR code of the link"');
  for (const [field, value, text] of [
    ['amount', '', 'Must be an amount in EUR from 0.01 to 10000.00'],
    ['amount', '1.234', 'This can be read in two ways'],
    ['address', '0x0', 'checksum'],
    ['callback', 'https://localhost/hook', 'public host'],
    ['provider', 'nobody', ''],
    ['email', 'nobody', ''],
    ['order_line', 'x'.repeat(121), 'at most 120 characters'],
  ] as const) {
    const refused = await browser.post('/dashboard/links', { ...form, [field]: value });
    expect([field, refused.statusCode]).toEqual([field, 400]);
    for (const shown of [text, 'Table 7']) expect(textOf(refused.payload)).toContain(shown);
    expect(refused.payload).toMatch(new RegExp(`id="${field}"[^>]*aria-invalid="true"`));
  }
});

describe('a link without a webhook address', () => {
  it.each(['/dashboard/links', '/dashboard/links/direct'])(
    'is made by %s with an order line and an amount with a comma, listed, and settled without an event',
    async (path) => {
      const orderLine = `Invoice <b>7</b> ${path}`;
      const id = await make(path, { ...form, callback: '', amount: '12,50', order_line: orderLine });
      const payment = (await dashboard.store.payments.findPaymentById(id)) as Payment;
      expect(payment).toMatchObject({ amountCents: 1250, callbackUrl: null, orderLine, origin: LINK_ORIGIN });
      const listed = await browser.get(path);
      expect(textOf(listed.payload)).toContain('Newest links');
      expect(listed.payload).not.toContain('<b>7');
      expect(listed.payload).toContain(`href="/dashboard/links/${id}"`);
      expect(await read(`/payments/${id}`)).toContain('Paid for');
      expect((await dashboard.store.payments.decidePayment(payment.id, pay))?.status).toBe('paid');
      expect(await dashboard.store.webhooks.listWebhooks(id)).toEqual([]);
      await read(`/payments/${id}`);
    },
  );
});

const plain = (markup: string) => markup.replaceAll('&#61;', '=').replaceAll(/&amp;|&#38;/g, '&');

it('a payment in USDC from a wallet is made by hand, and shows what wallets need until it is paid', async () => {
  expect((await browser.get('/dashboard/links')).payload).toContain('href="/dashboard/links/direct"');
  const id = await make('/dashboard/links/direct', { ...form, currency: 'USD' });
  const payment = (await dashboard.store.payments.findPaymentById(id)) as Payment;
  expect(payment).toMatchObject({
    accountId: account.id,
    provider: 'direct',
    paidThresholdUnits: 12_300_000n,
    note: 'Table 7',
    payoutAddress: own.address,
    callbackUrl: own.callback,
  });
  const uri = `ethereum:${USDC}@137/transfer?address=${payment.depositAddress}&uint256=12300000`;
  for (const path of [`/links/${id}`, `/payments/${id}`]) {
    const { payload } = await browser.get(`/dashboard${path}`);
    const text = textOf(payload);
    for (const words of ['12.30 USDC', payment.depositAddress, USDC, 'Polygon'])
      expect(text, path).toContain(words);
    expect(plain(payload), path).toContain(uri);
    expect(payload).toContain('aria-label="The transfer, for a wallet that scans it"');
  }

  await dashboard.store.payments.decidePayment(payment.id, () => ({
    change: {
      status: 'paid',
      forwardStatus: 'processing',
      receivedUnits: 12_300_000n,
      paidAtMs: Date.now(),
    },
  }));
  const page = await read(`/payments/${id}`);
  expect(page).toContain('release in progress');
  expect(page).toContain('Payment method USDC from a wallet');
  expect(page).not.toContain('ethereum:');
  const list = await read('/payments?provider=direct');
  for (const words of ['From a wallet', 'release in progress']) expect(list).toContain(words);
  expect(await read('/payments?provider=multi')).toContain('No payment matches');
});
