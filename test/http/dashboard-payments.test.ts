import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { hourOf } from '../../src/payment/base-currency.ts';
import { USD_RATE_ONE, type UsdRate } from '../../src/payment/money.ts';
import type { Payment } from '../../src/payment/payment.ts';
import { shortCodeOf } from '../../src/payment/payment-id.ts';
import { failedResult, leave, NOW_MS, newSession, pay } from '../store/fixtures.ts';
import { depositOf, releaseOf } from '../store/observations.ts';
import { claimOldest } from '../support/claim-oldest.ts';
import type { TestBrowser } from '../support/dashboard.ts';
import { type TestShop, useShop } from '../support/dashboard-shop.ts';
import { textOf } from '../support/page-text.ts';
import { createTestTokens } from '../support/payment-context.ts';

let { dashboard, account, browser, signIn, give, read } = {} as TestShop;
useShop((shop) => ({ dashboard, account, browser, signIn, give, read } = shop), {
  role: 'developer',
  account: { timeZone: 'Asia/Kolkata' },
});

/** A payment with deposit, release and a webhook that was answered with 500. */
async function givePaid(): Promise<Payment> {
  const { store } = dashboard;
  const tokens = createTestTokens();
  const payment = await give({
    note: '<b>Order</b> 1',
    email: "o'neil@example.com",
    tokenFingerprint: tokens.currentFingerprint,
  });
  await store.payments.addSession(newSession(payment), leave);
  const block = { number: 10, hash: '0x10', timestampMs: Date.now() };
  await store.observations.startCursor(block);
  const deposit = { ...depositOf(payment, 11), transactionHash: `0x${'cd'.repeat(32)}` };
  const release = { ...releaseOf(payment, 12), transactionHash: `0x${'ab'.repeat(32)}` };
  await store.observations.recordScan(
    {
      from: block,
      final: { ...block, number: 12, hash: '0x12' },
      scannedTo: 13,
      deposits: [deposit],
      releases: [release],
    },
    leave,
  );
  await store.payments.decidePayment(payment.id, pay);
  const [webhook] = await claimOldest(store.webhooks, 1, Date.now());
  const body = `{"event":"payment.paid","note":"it's <b>","email":"${payment.email}"}`;
  await store.webhooks.recordWebhookResult(webhook as NonNullable<typeof webhook>, {
    outcome: 'failed',
    httpStatus: 500,
    reason: 'http_500',
    durationMs: 123.4,
    responseExcerpt: '<oops>',
    body,
    finishedAtMs: Date.now(),
    signature: createHmac('sha256', tokens.create(payment.id, tokens.currentFingerprint))
      .update(body)
      .digest('hex'),
  });
  return payment;
}

describe('the list of payments', () => {
  it('shows the newest, filters and searches by its address, and takes single filters away', async () => {
    expect(await read('/payments')).toContain('No payments yet');
    const plain = await give({ email: 'jane@example.com', note: 'Blue shoes' });
    await give({ currency: 'INR', amountCents: 123_450, note: 'Red hat', provider: 'moonpay' });
    await give({ note: 'not yours' }, (await dashboard.giveAccount()).id);
    const all = await read('/payments');
    for (const words of ['Blue shoes', '₹1,234.50']) expect(all).toContain(words);
    expect(all).not.toContain('not yours');

    const filtered = await browser.get(
      '/dashboard/payments?q=hat&currency=INR&from=2026-01-01&to=2099-12-31',
    );
    expect(textOf(filtered.payload)).toContain('Red hat');
    expect(textOf(filtered.payload)).not.toContain('Blue shoes');
    expect(filtered.payload).toContain('href="/dashboard/payments?q&#61;hat&#38;from');
    expect(await read('/payments?currency=CAD')).toContain('No payment matches');
    expect(await read(`/payments?q=${shortCodeOf(plain.id)}`)).toContain('Blue shoes');
    expect(await read('/payments?q=jane%40example.com')).toContain('Blue shoes');
    for (const wrong of ['status=lost', 'from=2026-02-31', 'before=1', 'provider=nobody']) {
      const answer = await browser.get(`/dashboard/payments?${wrong}`);
      expect([wrong, answer.statusCode]).toEqual([wrong, 400]);
      expect(textOf(answer.payload)).toContain('must be');
    }
  });

  it('leads to older payments, and from there to the newest', async () => {
    await Promise.all(Array.from({ length: 51 }, (_, index) => give({ note: `number ${index}.` })));
    const first = await browser.get('/dashboard/payments?currency=EUR');
    const older = /rel="next" href="([^"]+)"/.exec(first.payload)?.[1] ?? '';
    const second = await browser.get(older.replaceAll('&#61;', '=').replaceAll('&#38;', '&'));
    expect(textOf(second.payload)).toContain('number 0.');
    expect(textOf(second.payload)).not.toContain('number 50.');
    expect(second.payload).toContain('>Newest</a>');
  });

  it('names the provider whose session was the last before the payment was paid, in the list, the CSV and on its page', async () => {
    const { store } = dashboard;
    const payment = await give({ provider: 'multi' });
    const paidAtMs = payment.createdAtMs + 60_000;
    const visits = [
      ['wert', 10_000],
      ['stripe', 20_000],
      // Begun when the money had arrived already.
      ['banxa', 70_000],
    ] as const;
    for (const [provider, afterMs] of visits) {
      const session = newSession(payment, { provider, createdAtMs: payment.createdAtMs + afterMs });
      await store.payments.addSession(session, leave);
    }
    const untouched = await give({ provider: 'multi', note: 'untouched' });
    const single = await give({ provider: 'moonpay', note: 'single' });
    const providers = async () =>
      [...(await browser.get('/dashboard/payments')).payload.matchAll(/data-label="Provider">([^<]+)</g)].map(
        ([, name]) => name?.replaceAll(/\s/g, ' '),
      );
    expect((await providers()).toSorted()).toEqual(['Any provider', 'Banxa', 'MoonPay']);
    await store.payments.decidePayment(payment.id, (view) => ({
      ...pay(view),
      change: { status: 'paid', forwardStatus: 'completed', paidAtMs },
    }));
    expect((await providers()).toSorted()).toEqual(['Any provider', 'MoonPay', 'Stripe']);
    const lines = (await browser.get('/dashboard/payments.csv')).payload.split('\r\n');
    const names = (lines[0] as string).split(',');
    const cells = (id: string) => lines.find((line) => line.startsWith(id))?.split(',') ?? [];
    for (const [{ id }, provider, used] of [
      [payment, 'multi', 'stripe'],
      [untouched, 'multi', ''],
      [single, 'moonpay', ''],
    ] as const) {
      expect(cells(id)[names.indexOf('provider')]).toBe(provider);
      expect(cells(id)[names.indexOf('session_provider')]).toBe(used);
    }
    expect(await read(`/payments/${payment.id}`)).toContain(
      'Last session Stripe, before the payment was paid',
    );
  });

  it('comes as a CSV that adds up to the journal and starts no formula', async () => {
    const paid = await givePaid();
    await give({ note: '=cmd|calc', email: null, reference: 'order-17' });
    await give({}, (await dashboard.giveAccount()).id);
    const answer = await browser.get('/dashboard/payments.csv');
    expect(answer.headers['content-type']).toBe('text/csv; charset=utf-8');
    expect(answer.headers['content-disposition']).toMatch(/^attachment; filename="payments-[\d-]{10}\.csv"$/);
    // Spreadsheets take a file without the mark for another encoding than UTF-8.
    expect(answer.payload).toMatch(/^\uFEFFpayment_id,/);
    const lines = answer.payload.split('\r\n');
    expect(lines).toHaveLength(4);
    const names = (lines[0] as string).split(',');
    const cells = (lines.find((line) => line.startsWith(paid.id)) as string).split(',');
    const cell = (name: string) => cells[names.indexOf(name)];
    expect(['deposited', 'forwarded', 'fee', 'held'].map((name) => cell(`${name}_usdc`))).toEqual([
      '1.000000',
      '0.975000',
      '0.025000',
      '0.000000',
    ]);
    expect(answer.payload).toContain(`"'=cmd|calc"`);
    expect(lines.map((line) => line.split(',')[names.indexOf('reference')])).toContain('"order-17"');
    const audit = await dashboard.store.audit.listEntries(account.id, null, 1);
    expect(audit).toMatchObject([{ action: 'payments.exported' }]);
    expect((await browser.get('/dashboard/payments.csv?status=paid')).payload.split('\r\n')).toHaveLength(3);
    expect([cell('usd_amount'), cell('usd_rate')]).toEqual(['111.801300', '1.090000']);
  });

  it('of a month have a statement to print, which shows what providers kept, and a journal', async () => {
    const paid = await givePaid();
    await give({});
    const month = new Date(NOW_MS).toISOString().slice(0, 7);
    const page = await read(`/statement?month=${month}`);
    for (const part of [
      `Statement of ${new Date(NOW_MS).toLocaleDateString('en', { month: 'long', year: 'numeric', timeZone: 'UTC' })}`,
      'Paid payments: 1',
      'of it in eur: 102.57 eur',
      'Charged, in USD 111.80',
      'Kept by providers −110.80',
      'Service fees −0.02 Sent to your wallet 0.98',
      'Unknown 1 111.80 −110.80 0.00 1.00 99.10%',
    ]) {
      expect(page.replaceAll(/\s+/g, ' ').toLowerCase()).toContain(part.toLowerCase());
    }
    const journal = await browser.get(`/dashboard/journal.csv?month=${month}`);
    expect(journal.headers['content-disposition']).toBe(`attachment; filename="journal-${month}.csv"`);
    expect(journal.payload).toContain(`${paid.id},provider_costs,110.801300,,multi,102.57,EUR,1.090000`);
    const audit = await dashboard.store.audit.listEntries(account.id, null, 1);
    expect(audit).toMatchObject([{ action: 'payments.exported' }]);
    expect(await read('/statement?month=1999-01')).toContain('Paid payments: 0');
  });
});

describe('a payment’s page', () => {
  it('tells its whole story, and everything in it is escaped', async () => {
    const payment = await givePaid();
    const answer = await browser.get(`/dashboard/payments/${payment.id}`);
    const page = textOf(answer.payload).replaceAll('&lt;', '<').replaceAll('&gt;', '>');
    for (const words of [
      payment.id,
      shortCodeOf(payment.id),
      'Succeeded',
      'Customer opened the provider',
      'The endpoint responded with 500',
      '123 ms',
      '<oops>',
      'X-Service-Signature: ',
      'User-Agent: card-checkout-webhook/1',
      '1.00 USDC arrived',
      '0.98 USDC sent to your wallet',
      'Final: ',
      'curl --request POST',
      'GMT+5:30',
    ]) {
      expect(page).toContain(words);
    }
    // Two decimals in the text, the exact amount in its title.
    expect(answer.payload).toContain('<data value="0.975000" title="0.975000 USDC">0.98</data>');
    expect(answer.payload).toContain(`href="https://explorer.example.com/tx/0x${'ab'.repeat(32)}"`);
    for (const words of ['<b>', '<oops>', 'ipn_token_of']) expect(answer.payload).not.toContain(words);
    const evidence = await read(`/payments/${payment.id}/evidence`);
    for (const words of ['Evidence of a payment', payment.payoutAddress, '0.975000 USDC'])
      expect(evidence).toContain(words);
  });

  it('has the line items and the reference of a platform’s checkout', async () => {
    const items = [
      { name: 'Tea <b>', quantity: 2, amountCents: 10_757 },
      { name: 'Voucher', quantity: 1, amountCents: -500 },
    ];
    const orderDetails = { items, returnUrl: null, cancelUrl: null };
    const { id } = await give({ reference: 'order-17', orderDetails });
    const page = await read(`/payments/${id}`);
    expect(page).toMatch(/Reference order-17 2 × Tea <b> €107\.57 Voucher -€5\.00/);
  });

  it('verifies the signature of what was sent, and banners a changed record', async () => {
    const payment = await givePaid();
    const verify = () => browser.get(`/dashboard/payments/${payment.id}`);
    expect(textOf((await verify()).payload)).toContain('is the HMAC-SHA256 of this body');
    const token = createTestTokens().create(payment.id);
    expect((await verify()).payload).not.toContain(token.slice(-43));
    await dashboard.execute(`UPDATE webhooks SET body = '{"event":"payment.paid"}'`);
    expect(textOf((await verify()).payload)).toContain('does not match this body');
  });

  it('takes another note, and refuses one that the API would refuse', async () => {
    const payment = await give({ note: 'old words' });
    const page = `/dashboard/payments/${payment.id}`;
    const save = (note: string) => browser.post(`${page}/note`, { note });
    expect((await save('new\r\nwords')).headers['location']).toBe(`${page}?flash=noted`);
    expect((await dashboard.store.payments.findPaymentById(payment.id))?.note).toBe('new\nwords');
    expect(await read('/payments?q=new')).toContain('new words');
    const refused = await save('x'.repeat(501));
    expect([refused.statusCode, textOf(refused.payload).includes('at most 500')]).toEqual([400, true]);
    expect((await save(' ')).statusCode).toBe(303);
    expect((await dashboard.store.payments.findPaymentById(payment.id))?.note).toBeNull();
    expect(await dashboard.store.audit.listEntries(account.id, null, 1)).toMatchObject([
      { action: 'payment.noted', target: payment.id },
    ]);
  });

  it('is canceled while nothing has arrived, and says why when it cannot be', async () => {
    const payment = await give();
    const page = `/dashboard/payments/${payment.id}`;
    const cancel = () => browser.post(`${page}/cancel`, {});
    const unseen = await cancel();
    expect([unseen.statusCode, textOf(unseen.payload).includes('not been read yet')]).toEqual([409, true]);
    await dashboard.store.observations.startCursor({
      number: 1,
      hash: '0x1',
      timestampMs: dashboard.nowMs(),
    });
    expect((await cancel()).headers['location']).toBe(`${page}?flash=canceled`);
    expect(await dashboard.store.payments.findPaymentById(payment.id)).toMatchObject({
      status: 'canceled',
      cancelReason: 'merchant',
    });
  });
});

describe('the overview', () => {
  it('counts what was created and paid, and says what needs attention', async () => {
    expect(await read('')).not.toContain('Needs your attention');
    await give({ currency: 'USD' });
    await givePaid();
    const stuck = await give();
    await dashboard.store.payments.decidePayment(stuck.id, () => ({
      change: { forwardStatus: 'manual_required' },
    }));
    const page = (await read('')) + (await read('/analytics?days=90'));
    for (const words of [
      'Needs your attention',
      'It needs attention',
      'The endpoint responded with 500',
      'The last 90 days',
      'Asia/Kolkata',
      '€102.57',
      'Where customers paid',
    ]) {
      expect(page).toContain(words);
    }
  });

  it('says where customers leave, of the newest payments, by the last provider that each chose', async () => {
    const at = (payment: Payment, change: object) =>
      dashboard.store.payments.addSession(newSession(payment, change), leave);
    await give({ provider: 'multi' });
    await give({ provider: 'direct' });
    const [left, there, declined] = [await give(), await give(), await give()];
    await at(left, { provider: 'stripe', expiresAtMs: Date.now() - 1 });
    await at(there, { provider: 'stripe', expiresAtMs: Date.now() + 60_000 });
    await at(declined, { id: 'declined', provider: 'wert' });
    await dashboard.store.payments.recordSessionProgress(declined.id, 'declined', 'failed', Date.now());
    const page = await read('/analytics');
    expect(page).toContain('Where customers leave All payments of the last 30 days');
    expect(page).toMatch(
      /Step Payments Created 4 \(100%\) Opened 3 \(75%\) Chose a provider 3 \(75%\) Paid 0 \(0%\)/,
    );
    expect(page).toMatch(/Provider Paid Left At provider Declined Stripe 0 1 1 0 Wert 0 0 0 1/);
  });

  it('shows amounts also in the base currency at the rate of each day, and says where none is known', async () => {
    await dashboard.store.accounts.updateAccount(account.id, { baseCurrency: 'EUR' });
    const payment = await give();
    await dashboard.store.payments.decidePayment(payment.id, () => ({
      change: {
        status: 'paid',
        forwardStatus: 'completed',
        paidAtMs: Date.now(),
        receivedUnits: 100_000_000n,
        forwardedUnits: 98_000_000n,
      },
    }));
    expect(await read('/analytics')).toContain('EUR: no rate known');
    const hourMs = hourOf(Date.now()) - 40 * 86_400_000;
    await dashboard.store.search.recordRates(
      [{ currency: 'EUR', hourMs, usdRate: (2n * USD_RATE_ONE) as UsdRate }],
      0,
    );
    expect(await read('/analytics')).toContain('EUR: no rate known');
    const dayMs = hourOf(Date.now()) - 2 * 86_400_000;
    await dashboard.store.search.recordRates(
      [{ currency: 'EUR', hourMs: dayMs, usdRate: (2n * USD_RATE_ONE) as UsdRate }],
      0,
    );
    const tiles = /Net in USDC.*Fees in USDC.{16}/.exec(await read('/analytics'))?.[0];
    expect(tiles).toMatch(
      /Net in USDC 98\.00 ≈ €49\.00 Received in USDC 100\.00 ≈ €50\.00 Fees in USDC 2\.00 ≈ €1\.00/,
    );
  });

  it('groups what failed for one reason, until it is dismissed, and again when there is more of it', async () => {
    const fail = async (reason: string, finishedAtMs: number) => {
      await give({ status: 'unpaid' });
      const [payment] = (await dashboard.store.search.searchPayments({ accountId: account.id }, null, 1))
        .payments;
      await dashboard.store.payments.decidePayment((payment as Payment).id, pay);
      const [claimed] = await claimOldest(dashboard.store.webhooks, 1, finishedAtMs);
      await dashboard.store.webhooks.recordWebhookResult(claimed as never, {
        ...failedResult,
        reason,
        finishedAtMs,
      });
    };
    const nowMs = Date.now();
    await fail('dns_failed', nowMs - 3_000);
    await fail('dns_failed', nowMs - 2_000);
    await fail('timeout', nowMs - 1_000);
    const page = await read('');
    expect(page).toMatch(
      /2 webhooks to \S+ failed. DNS has no address for the host name. Check the URL. The last one:/,
    );
    expect(page).toMatch(/1 webhook to \S+ failed. The endpoint did not respond/);
    const [, name = ''] =
      /name="alert" value="(webhook:[^"]+:dns_failed)"/.exec((await browser.get('/dashboard')).payload) ?? [];
    const dismiss = (from: TestBrowser) => from.post('/dashboard/alerts/dismiss', { alert: name });
    expect((await dismiss(await signIn('viewer'))).statusCode).toBe(403);
    expect((await dismiss(browser)).headers['location']).toBe('/dashboard?flash=dismissed');
    expect(await read('', await signIn('owner'))).not.toContain('DNS has no address for the host name');
    expect(await read('')).toContain('The endpoint did not respond');
    expect((await dismiss(browser)).statusCode).toBe(404);
    await fail('dns_failed', nowMs);
    expect(await read('')).toContain('3 webhooks to');
  });
});

it('the list names the states as a shopkeeper does, with tabs that count them', async () => {
  const at = { createdAtMs: Date.now() };
  const open = await give();
  const [there, late, declined] = [await give(), await give(), await give()];
  const session = (payment: Payment, change: object) =>
    dashboard.store.payments.addSession(newSession(payment, { ...at, ...change }), leave);
  await session(there, { expiresAtMs: Date.now() + 60_000 });
  await session(late, { expiresAtMs: Date.now() - 60_000 });
  const { id } = newSession(declined);
  await session(declined, { id, expiresAtMs: Date.now() + 60_000 });
  await dashboard.store.payments.recordSessionProgress(declined.id, id, 'failed', Date.now());
  const [expired, canceled] = [await give(), await give()];
  for (const [payment, cancelReason] of [
    [expired, 'expired'],
    [canceled, 'merchant'],
  ] as const) {
    const change = { status: 'canceled', forwardStatus: 'canceled', cancelReason } as const;
    await dashboard.store.payments.decidePayment(payment.id, () => ({ change }));
  }
  const page = (await browser.get('/dashboard/payments')).payload;
  const badgeOf = (payment: Payment) => {
    const row = page.slice(page.indexOf(`/dashboard/payments/${payment.id}`));
    return /class="badge [a-z]*">([^<]+)</.exec(row)?.[1];
  };
  expect([open, there, late, declined, expired, canceled].map(badgeOf)).toEqual([
    'open',
    'at provider',
    'open',
    'declined',
    'expired',
    'canceled',
  ]);
  expect(textOf(page)).toContain(
    'All 6 Open 2 At provider 1 Declined 1 Expired 1 Canceled 1 More Partially paid 0 Overpaid 0 Paid 0',
  );
  const declinedOnly = (await browser.get('/dashboard/payments?status=declined')).payload;
  expect(declinedOnly).toMatch(/aria-current="true" href="\/dashboard\/payments\?status&#61;declined"/);
  expect(declinedOnly).toContain(declined.id);
  expect(declinedOnly).not.toContain(open.id);
});

it('a payment that no provider serves says so to its merchant, and from which amount one does', async () => {
  const small = await give({ amountCents: 50, currency: 'USD', usdUnits: 500_000n, provider: 'multi' });
  expect(await read(`/payments/${small.id}`)).toContain(
    'No provider accepts this payment, so the customer cannot pay it. The lowest minimum of a provider is $1.00 (USD).',
  );
  const fine = await give({ provider: 'multi' });
  expect(await read(`/payments/${fine.id}`)).not.toContain('No provider serves');
});

const erase = (from: TestBrowser, { id }: Payment) => from.post(`/dashboard/payments/${id}/erase-email`, {});

it('erasing a customer’s email address is for owners, leaves no trace of it, and says so where the signature is checked', async () => {
  const owner = await signIn('owner');
  const payment = await givePaid();
  expect(await read(`/payments/${payment.id}`)).not.toContain('Erase the email address');
  expect((await erase(browser, payment)).statusCode).toBe(403);
  expect(await read(`/payments/${payment.id}`)).toContain("o'neil@example.com");

  const answer = await erase(owner, payment);
  expect(answer.headers['location']).toBe(`/dashboard/payments/${payment.id}?flash=erased`);
  const page = await read(`/payments/${payment.id}?flash=erased`, owner);
  expect(page).toContain('personal data is erased');
  expect(page).not.toContain('neil');
  expect(await read(`/payments/${payment.id}/evidence`)).not.toContain('neil');
  expect(await dashboard.store.audit.listEntries(account.id, null, 1)).toMatchObject([
    { action: 'payment.email_erased', target: payment.id },
  ]);
  expect(page).toContain('can be verified only with your own copy');
});
