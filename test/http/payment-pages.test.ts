import { describe, expect, it } from 'vitest';
import { HOLD_MS, MAXIMUM_HELD, type PaymentPage } from '../../src/features/payment-pages/payment-page.ts';
import { ServiceError } from '../../src/payment/errors.ts';
import { DAY_MS, newPayment, pay } from '../store/fixtures.ts';
import { newPage } from '../store/payment-pages.ts';
import { PASSWORD, type TestBrowser } from '../support/dashboard.ts';
import { type TestShop, useShop } from '../support/dashboard-shop.ts';
import { expectSays, textOf } from '../support/page-text.ts';

const WALLET = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';

let { dashboard, account, signIn } = {} as TestShop;
useShop((shop) => ({ dashboard, account, signIn } = shop), {
  account: { wallet: WALLET, timeZone: 'Asia/Kolkata' },
});

/** A page of the account that takes any amount and asks nothing, unless a test says otherwise. */
async function give(change: Partial<PaymentPage> = {}, { id } = account): Promise<PaymentPage> {
  const page = newPage(id, {
    endsAtMs: null,
    stock: null,
    question: null,
    passFeeToCustomer: false,
    minimumCents: null,
    maximumCents: null,
    callbackUrl: null,
    ...change,
  });
  await dashboard.store.paymentPages.createPage(page);
  return page;
}

const visitor = (address?: string) => dashboard.newBrowser(address);
const tokenIn = (page: string) => /name="token" value="([^"]+)"/.exec(page)?.[1] ?? '';

async function submit(
  { slug }: PaymentPage,
  fields: Record<string, string> = {},
  { from = visitor(), headers = {} as Record<string, string> } = {},
) {
  const token = fields['token'] ?? tokenIn((await from.get(`/p/${slug}`, headers)).payload);
  const body = new URLSearchParams({ ...fields, token }).toString();
  return from.sendBody(`/p/${slug}`, Buffer.from(body), {
    'content-type': 'application/x-www-form-urlencoded',
    ...headers,
  });
}

const paymentsOf = ({ id }: PaymentPage) => dashboard.store.payments.listByOrigin(account.id, id, 1_000);
const fieldIn = (page: string, name: string) =>
  new RegExp(`name="${name}" [^>]*value="([^"]*)"`).exec(page)?.[1];
const errorOf = (page: string, name: string) => {
  const isMarked = new RegExp(`name="${name}" [^>]*aria-invalid="true"`).test(page);
  const [, text] = new RegExp(`id="${name}-error">([^<]*)<`).exec(page) ?? [];
  return isMarked && text !== undefined ? textOf(text) : undefined;
};

describe('the public page', () => {
  it('makes a payment of a fixed amount and leads to its checkout', async () => {
    const page = await give({ amountCents: 1_250, orderLine: 'One place' });
    const shown = await visitor().get(`/p/${page.slug}`);
    expect(textOf(shown.payload)).toMatch(/Payment to Tea shop Tea “tasting” €12\.50 One place/);
    expect(shown.payload).not.toContain('name="amount"');
    const made = await submit(page);
    const [payment] = await paymentsOf(page);
    expect([made.statusCode, made.headers['location']]).toEqual([303, `/pay/${payment?.id}`]);
    expect(payment).toMatchObject({
      amountCents: 1_250,
      currency: 'EUR',
      provider: 'multi',
      payoutAddress: WALLET,
      callbackUrl: null,
      orderLine: 'One place',
      origin: page.id,
      email: null,
      note: null,
    });
    expect((await visitor().get(`/pay/${payment?.id}`)).statusCode).toBe(200);
  });

  it('creates nothing for GET, HEAD, prefetches, previews and forms of other sites', async () => {
    const page = await give({ amountCents: 1_250 });
    for (const headers of [{}, { 'sec-purpose': 'prefetch' }, { 'user-agent': 'WhatsApp/2.23' }])
      expect((await visitor().get(`/p/${page.slug}?amount=5&token=x`, headers)).statusCode).toBe(200);
    expect((await visitor().head(`/p/${page.slug}`)).statusCode).toBe(200);
    const foreign = await submit(page, {}, { headers: { 'sec-fetch-site': 'cross-site' } });
    expect([foreign.statusCode, (await submit(page, { token: 'none' })).statusCode]).toEqual([400, 400]);
    expect(await paymentsOf(page)).toEqual([]);
  });

  it('makes one payment of a double click or a repeated form, and another of another amount', async () => {
    const page = await give();
    const browser = visitor();
    const token = tokenIn((await browser.get(`/p/${page.slug}`)).payload);
    const answers = await Promise.all(
      [1, 2, 3].map(() => submit(page, { token, amount: '5,00' }, { from: browser })),
    );
    expect(new Set(answers.map(({ headers }) => headers['location'])).size).toBe(1);
    expect(await paymentsOf(page)).toHaveLength(1);
    const other = await submit(page, { token, amount: '6.00' }, { from: browser });
    expect(other.headers['location']).not.toBe(answers[0]?.headers['location']);
    expect((await paymentsOf(page)).map(({ amountCents }) => amountCents)).toEqual([600, 500]);
  });

  it('passes the fee on, and bounds what the customer may type so that the charge stays within the limit', async () => {
    const page = await give({ passFeeToCustomer: true, currency: 'USD' });
    expect(textOf((await visitor().get(`/p/${page.slug}`)).payload)).toContain('A fee is added.');
    await submit(page, { amount: '100' });
    expect(await paymentsOf(page)).toMatchObject([{ amountCents: 10_257, originalAmountCents: 10_000 }]);
    const refused = await submit(page, { amount: '9750.01' });
    expect(errorOf(refused.payload, 'amount')).toBe(
      'Enter an amount from \u2068$0.01 USD\u2069 to \u2068$9,750.00 USD\u2069.',
    );
    expect((await submit(page, { amount: '9750' })).statusCode).toBe(303);
  });

  it.each([
    ['nothing', ''],
    ['less than the minimum', '4.99'],
    ['more than the maximum', '50.01'],
  ])(
    'says at the field what is wrong with an amount that is %s, and keeps what was typed',
    async (_, amount) => {
      const page = await give({ minimumCents: 500, maximumCents: 5_000, question: 'Which tea?' });
      const refused = await submit(page, { amount, answer: 'Sencha' });
      expect(refused.statusCode).toBe(400);
      expect(errorOf(refused.payload, 'amount')).toBe(
        'Enter an amount from \u2068€5.00\u2069 to \u2068€50.00\u2069.',
      );
      expect(fieldIn(refused.payload, 'amount')).toBe(amount);
      expect(fieldIn(refused.payload, 'answer')).toBe('Sencha');
      expect(await paymentsOf(page)).toEqual([]);
    },
  );

  it('suggests amounts within its bounds, fills one in without script, and says how many are left', async () => {
    const page = await give({ minimumCents: 500, maximumCents: 5_000, stock: 3 });
    const { payload } = await visitor().get(`/p/${page.slug}?amount=20`);
    expect(payload.match(/(?<=data-amount=")[^"]+/g)).toEqual(['5', '10', '20', '50']);
    expect([fieldIn(payload, 'amount'), textOf(payload).includes('3 left')]).toEqual(['20.00', true]);
    for (const amount of ['4.99', '1e1', '20&amount=30', ''])
      expect(fieldIn((await visitor().get(`/p/${page.slug}?amount=${amount}`)).payload, 'amount')).toBe('');
    await submit(page, { amount: '€ ２０' });
    expect(await paymentsOf(page)).toMatchObject([{ amountCents: 2_000 }]);
    expect(textOf((await visitor().get(`/p/${page.slug}`)).payload)).toContain('2 left');
  });

  it('asks for an amount that can be read in one way', async () => {
    const refused = await submit(await give(), { amount: '1.234' });
    expect(errorOf(refused.payload, 'amount')).toBe(
      'Enter the amount with two decimals, for example 1234.00.',
    );
  });

  it.each([
    ['missing', ' ', 'Please answer this question.'],
    ['too long', 'x'.repeat(201), 'Use one line of at most 200 characters.'],
    ['more than one line', 'one\u0085two', 'Use one line of at most 200 characters.'],
  ])('says at the field that an answer is %s, and keeps what was typed', async (_, answer, error) => {
    const page = await give({ question: 'Which tea?', isAnswerRequired: true });
    const refused = await submit(page, { amount: '5', answer });
    expect(refused.statusCode).toBe(400);
    expect(errorOf(refused.payload, 'answer')).toBe(error);
    expect(fieldIn(refused.payload, 'answer')).toBe(answer);
    expect(fieldIn(refused.payload, 'amount')).toBe('5');
  });

  it('takes an answer of 200 characters in any script, and none where it is optional', async () => {
    const page = await give({ question: 'Which tea?', isAnswerRequired: false, amountCents: 500 });
    for (const answer of ['茶'.repeat(200), '🍵'.repeat(200), ''])
      expect((await submit(page, { answer })).statusCode).toBe(303);
    const ids = (await paymentsOf(page)).map(({ id }) => id);
    const answers = await dashboard.store.paymentPages.listPagesOf(account.id, ids);
    expect(ids.map((id) => answers.get(id)?.answer)).toEqual([null, '🍵'.repeat(200), '茶'.repeat(200)]);
  });

  it('ignores an answer where nothing is asked, and an amount where it is fixed', async () => {
    const page = await give({ amountCents: 500 });
    await submit(page, { answer: 'Jane Doe', amount: '1' });
    const [payment] = await paymentsOf(page);
    expect(payment?.amountCents).toBe(500);
    const pages = await dashboard.store.paymentPages.listPagesOf(account.id, [payment?.id ?? '']);
    expect([...pages.values()]).toMatchObject([{ answer: null }]);
  });

  it('shows the answer to the merchant only: not on checkout, short link or in a log', async () => {
    const page = await give({ amountCents: 500, question: 'Where to?' });
    const secret = 'Canary Street 7';
    await submit(page, { answer: secret });
    const [payment] = await paymentsOf(page);
    const browser = await signIn('viewer');
    expect(textOf((await browser.get(`/dashboard/payments/${payment?.id}`)).payload)).toContain(secret);
    expect((await browser.get('/dashboard/payments.csv')).payload).toContain(`,${page.slug},"${secret}",`);
    const { shortCodeOf } = await import('../../src/payment/payment-id.ts');
    for (const path of [`/pay/${payment?.id}`, `/s/${shortCodeOf(payment?.id ?? '')}`, `/p/${page.slug}`]) {
      const { statusCode, payload } = await visitor().get(path);
      expect([path, statusCode, payload.includes('Canary')]).toEqual([path, 200, false]);
    }
    expect(dashboard.logLines.filter((line) => line.includes('Canary'))).toEqual([]);
  });

  it('escapes what merchants and customers write', async () => {
    const script = '<script>alert(1)</script>"\'';
    const page = await give({ title: script, orderLine: script, question: script, isAnswerRequired: true });
    const refused = await submit(page, { amount: script, answer: script });
    for (const { payload } of [await visitor().get(`/p/${page.slug}`), refused]) {
      for (const words of ['<script>alert', '"\'']) expect(payload).not.toContain(words);
    }
    await submit(page, { amount: '5', answer: script });
    const [payment] = await paymentsOf(page);
    const browser = await signIn('developer');
    for (const path of ['/pages', `/pages/${page.id}`, '/payments', `/payments/${payment?.id}`]) {
      const { payload } = await browser.get(`/dashboard${path}`);
      for (const words of ['<script>alert', '"\'']) expect(payload, path).not.toContain(words);
    }
  });

  it.each([
    ['paused', { isPaused: true }, 'This page takes no payments at the moment'],
    ['ended', { endsAtMs: 1 }, 'This offer has ended'],
  ])('says that it is %s, and makes no payment', async (_, change, heading) => {
    const page = await give({ amountCents: 500 });
    const token = tokenIn((await visitor().get(`/p/${page.slug}`)).payload);
    await dashboard.store.paymentPages.changePage(account.id, page.id, change);
    const shown = await visitor().get(`/p/${page.slug}`);
    expect(shown.statusCode).toBe(200);
    const refused = await submit(page, { token });
    expect(refused.statusCode).toBe(409);
    for (const { payload } of [shown, refused]) {
      expect(textOf(payload)).toContain(heading);
      expect(payload).not.toContain('<form');
    }
    expect(await paymentsOf(page)).toEqual([]);
  });

  it.each([
    ['is suspended', { suspended: true }],
    ['may not use card checkout', { features: ['fee_pass_through' as const] }],
    ['has no wallet any more', { wallet: null }],
  ])('takes no payment for an account that %s', async (_, change) => {
    const page = await give({ amountCents: 500, payoutAddress: null });
    const token = tokenIn((await visitor().get(`/p/${page.slug}`)).payload);
    await dashboard.store.accounts.updateAccount(account.id, change);
    expect(textOf((await visitor().get(`/p/${page.slug}`)).payload)).toContain('takes no payments');
    expect((await submit(page, { token })).statusCode).toBe(409);
    expect(await paymentsOf(page)).toEqual([]);
  });

  it('passes no fee on for an account that may not', async () => {
    const page = await give({ amountCents: 500, passFeeToCustomer: true });
    await dashboard.store.accounts.updateAccount(account.id, { features: ['card_checkout'] });
    expect((await submit(page, { token: 'a'.repeat(22) })).statusCode).toBe(409);
  });

  it.each([
    ['reserved', null, 'Try again'],
    ['paused', 'mailto:help@tea.example', 'Contact Tea shop'],
    ['paused', null, 'Try again'],
    ['ended', 'mailto:help@tea.example', 'Contact Tea shop'],
    ['ended', null, undefined],
  ])('has one next step while it takes nothing: %s, support at %s', async (state, supportUrl, label) => {
    await dashboard.store.accounts.updateAccount(account.id, { supportUrl });
    const page = await give({
      amountCents: 500,
      stock: 1,
      isPaused: state === 'paused',
      endsAtMs: state === 'ended' ? 1 : null,
    });
    if (state === 'reserved') await submit(page);
    const { payload } = await visitor().get(`/p/${page.slug}`);
    const steps = [...payload.matchAll(/<a class="button primary wide" href="[^"]+">(.*?)<\/a>/g)];
    expect(steps.map(([, text = '']) => textOf(text).trim())).toEqual(label === undefined ? [] : [label]);
  });

  it('is an unknown link for every other address', async () => {
    for (const slug of ['nothing-here', 'NO', '-', '%00', encodeURIComponent('<b>')]) {
      const { statusCode, payload } = await visitor().get(`/p/${slug}`);
      expect([slug, statusCode]).toEqual([slug, 404]);
      expect(textOf(payload)).toContain('Checkout not found');
    }
  });

  it('holds places of the stock for 30 minutes, sells out, and counts what is paid late', async () => {
    const page = await give({ amountCents: 500, stock: 1 });
    await submit(page);
    const [late] = await paymentsOf(page);
    const reserved = await submit(page, { token: 'a'.repeat(22) });
    expectSays(reserved, 409, 'within 30 minutes becomes available again');
    dashboard.advance(HOLD_MS);
    expect((await submit(page)).statusCode).toBe(303);
    const [next] = await paymentsOf(page);
    for (const payment of [next, late]) {
      await dashboard.store.payments.decidePayment((payment ?? newPayment('')).id, (view) => ({
        ...pay(view),
        change: { ...pay(view)?.change, receivedUnits: 4_900_000n },
      }));
    }
    const soldOut = await visitor().get(`/p/${page.slug}`);
    expect(textOf(soldOut.payload)).toContain('Sold out');
    const browser = await signIn('developer');
    const listed = textOf((await browser.get('/dashboard/pages')).payload);
    expect(listed).toMatch(/Sold out 2 of 1 1 oversold 9\.80/);
    expect(textOf((await browser.get(`/dashboard/pages/${page.id}`)).payload)).toContain(
      'More than the stock is paid',
    );
  });

  it('bounds the submissions of a visitor, by network, and says when to try again', async () => {
    const page = await give();
    const token = 'a'.repeat(22);
    for (let count = 0; count < 10; count++)
      await submit(page, { token, amount: '5' }, { from: visitor(`2001:db8:1:2::${count + 1}`) });
    const refused = await submit(page, { token, amount: '7' }, { from: visitor('2001:db8:1:2:ffff::1') });
    expect(refused.statusCode).toBe(429);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    expect(textOf(refused.payload)).toContain('Too many payments are being started here');
    expect(fieldIn(refused.payload, 'amount')).toBe('7');
    const other = await submit(page, { token, amount: '7' }, { from: visitor('2001:db8:1:3::1') });
    expect(other.statusCode).toBe(303);
    dashboard.advance(61_000);
    expect((await submit(page, { amount: '8' }, { from: visitor('2001:db8:1:2::1') })).statusCode).toBe(303);
  });

  it('lets one network take 30 places of a stock in the time for which they are held', async () => {
    const page = await give({ amountCents: 500, stock: 100 });
    const other = await give({ amountCents: 500, stock: 100 });
    const from = visitor('192.0.2.7');
    for (let minute = 0; minute < 3; minute++) {
      for (let count = 0; count < 10; count++)
        await submit(page, { token: `${minute}${count}`.padEnd(22, 'a') }, { from });
      dashboard.advance(61_000);
    }
    expect(await paymentsOf(page)).toHaveLength(30);
    const refused = await submit(page, { token: 'b'.repeat(22) }, { from });
    expect([refused.statusCode, Number(refused.headers['retry-after']) > 60]).toEqual([429, true]);
    expect((await submit(other, { token: 'b'.repeat(22) }, { from })).statusCode).toBe(303);
    const elsewhere = await submit(page, { token: 'b'.repeat(22) }, { from: visitor('192.0.2.8') });
    expect(elsewhere.statusCode).toBe(303);
    dashboard.advance(HOLD_MS);
    expect((await submit(page, { token: 'c'.repeat(22) }, { from })).statusCode).toBe(303);
  });

  it('bounds the submissions of a page and of an account, whoever sends them', async () => {
    for (const [index, most] of [120, 120, 60].entries()) {
      const page = await give({ amountCents: 500 });
      const statuses: number[] = [];
      for (let count = 0; count < 121; count++) {
        const from = visitor(`10.0.${index}.${count}`);
        statuses.push((await submit(page, { token: 'a'.repeat(22) }, { from })).statusCode);
      }
      expect(statuses).toEqual([...Array(most).fill(303), ...Array(121 - most).fill(429)]);
    }
  });

  it('bounds the unpaid payments of a page, and goes on once their time is over', async () => {
    const page = await give({ amountCents: 500 });
    const nowMs = dashboard.nowMs();
    for (let count = 0; count < MAXIMUM_HELD; count++) {
      const payment = newPayment(account.id, { origin: page.id, createdAtMs: nowMs });
      const pagePayment = {
        accountId: account.id,
        paymentId: payment.id,
        pageId: page.id,
        submission: `${count}`,
        answer: null,
        heldUntilMs: nowMs + HOLD_MS,
      };
      await dashboard.store.paymentPages.createPagePayment(payment, pagePayment, () => {});
    }
    const refused = await submit(page);
    expect([refused.statusCode, refused.headers['retry-after']]).toEqual([429, '300']);
    expect(refused.payload).toContain('<form');
    dashboard.advance(HOLD_MS);
    expect((await submit(page)).statusCode).toBe(303);
  });

  it('refuses a form that is larger than any answer', async () => {
    const page = await give({ amountCents: 500, question: 'Which tea?' });
    expect((await submit(page, { answer: 'x'.repeat(5_000) })).statusCode).toBe(413);
  });

  it('creates nothing where the rates cannot be read, and keeps what was typed', async () => {
    const page = await give();
    const { rates } = dashboard.context.create;
    Object.assign(rates, { usdRate: () => Promise.reject(new ServiceError('conversion_failed')) });
    const refused = await submit(page, { amount: '5' });
    expectSays(refused, 400, 'That did not work.');
    expect(fieldIn(refused.payload, 'amount')).toBe('5');
    expect(await paymentsOf(page)).toEqual([]);
  });
});

const typed = { title: 'Tea tasting', amount: '12,50', currency: 'EUR' };
/** As a member sends it. */
const confirmed = { ...typed, password: PASSWORD };

async function createWith(browser: TestBrowser, fields: Record<string, string>): Promise<string> {
  const made = await browser.post('/dashboard/pages/new', { password: PASSWORD, ...fields });
  expect([made.statusCode, errorsOf(made.payload)]).toEqual([303, []]);
  return /\/pages\/(page_\w+)/.exec(String(made.headers['location']))?.[1] ?? '';
}

const lineOf = (most: number) =>
  `Must be one line of at most ${most} characters, without control characters.`;
const slugRule =
  'Must be 3 to 64 letters a to z, digits and hyphens, without a hyphen at its beginning or end.';

const errorsOf = (page: string) =>
  [...page.matchAll(/class="error" id="([\w-]+)-error">([^<]*)</g)].map(([, name, text]) => [
    name,
    textOf(text ?? ''),
  ]);

describe('the dashboard', () => {
  it.each(['owner', 'developer'] as const)(
    'lets a member who is %s create, change, pause and resume a page',
    async (role) => {
      const browser = await signIn(role);
      const id = await createWith(browser, {
        ...typed,
        slug: 'Tea-Tasting',
        order_line: 'One place',
        stock: '20',
        end_date: '2099-01-31',
        question: 'Which tea?',
        answer_required: '1',
        pass_fee: '1',
        callback: 'https://shop.example.com/hook',
      });
      const found = async () =>
        (await dashboard.store.paymentPages.findPage(account.id, id, dashboard.nowMs()))?.page;
      expect(await found()).toMatchObject({
        slug: 'tea-tasting',
        title: 'Tea tasting',
        orderLine: 'One place',
        currency: 'EUR',
        amountCents: 1_250,
        minimumCents: null,
        stock: 20,
        question: 'Which tea?',
        isAnswerRequired: true,
        passFeeToCustomer: true,
        // The end of the day in India.
        endsAtMs: Date.UTC(2099, 0, 31, 18, 30),
        payoutAddress: null,
        callbackUrl: 'https://shop.example.com/hook',
      });
      const page = `/dashboard/pages/${id}`;
      const shown = await browser.get(page);
      expect(fieldIn(shown.payload, 'end_date')).toBe('2099-01-31');
      expect(shown.payload).toContain('aria-label="QR code of the page"');
      expect(shown.payload).toMatch(/href="data:image\/svg\+xml,[^"]+" download="qr-code.svg"/);
      expect(shown.payload).toContain('value="https://pay.example.com/p/tea-tasting"');
      expect(shown.payload).toContain(
        'value="&#60;a href&#61;&#34;https://pay.example.com/p/tea-tasting&#34; ',
      );
      expect(textOf((await browser.get('/dashboard/pages')).payload)).toContain(
        'Tea tasting €12.50 EUR Open 0 of 20',
      );

      await browser.post(page, { ...confirmed, amount: '', minimum: '5', slug: 'another' });
      expect(await found()).toMatchObject({
        slug: 'tea-tasting',
        amountCents: null,
        minimumCents: 500,
        stock: null,
        question: null,
      });
      await browser.post(`${page}/pause`, {});
      expect((await found())?.isPaused).toBe(true);
      await browser.post(page, confirmed);
      expect((await found())?.isPaused).toBe(true);
      await browser.post(`${page}/resume`, {});
      expect((await found())?.isPaused).toBe(false);
      const entries = await dashboard.store.audit.listEntries(account.id, null, 10);
      const audited = entries.filter(({ action }) => action.startsWith('page.'));
      expect(audited.map(({ action, target }) => [action, target])).toEqual([
        ['page.resumed', 'tea-tasting'],
        ['page.changed', 'tea-tasting'],
        ['page.paused', 'tea-tasting'],
        ['page.changed', 'tea-tasting'],
        ['page.created', 'tea-tasting'],
      ]);
    },
  );

  it.each([
    ['title', '', 'Must not be empty.'],
    ['title', 'x'.repeat(81), lineOf(80)],
    ['slug', 'no spaces', slugRule],
    ['slug', 'taken', 'This is already taken: choose another one.'],
    ['amount', 'much', 'Must be an amount in EUR from 0.01 to 10000.00.'],
    ['amount', '1.234', 'This can be read in two ways: write it with two decimals, for example 1234.00.'],
    ['currency', 'GBP', 'Must be one of USD, EUR, CAD, INR.'],
    ['order_line', 'x'.repeat(121), lineOf(120)],
    ['end_date', '9999-12-31', 'Must be a date like 2026-11-21, before 9999-12-31.'],
    ['end_date', '2020-01-01', 'Must not be in the past.'],
    ['stock', '100001', 'Must be a whole number from 1 to 100000.'],
    ['question', 'x'.repeat(121), lineOf(120)],
    ['callback', 'http://shop.example.com/hook', 'Must be https.'],
  ])('names the error of the field %s with “%s”, and keeps what was typed', async (name, value, error) => {
    await give({ slug: 'taken' });
    const browser = await signIn('developer');
    const refused = await browser.post('/dashboard/pages/new', {
      ...confirmed,
      slug: 'tea',
      question: 'Which?',
      pass_fee: '1',
      [name]: value,
    });
    expect(refused.statusCode).toBe(400);
    expect(errorsOf(refused.payload)).toEqual([[name, error]]);
    if (name !== 'currency') expect(fieldIn(refused.payload, name)).toBe(value);
    for (const [field, kept] of Object.entries({ ...typed, question: 'Which?' })) {
      if (field !== name && field !== 'currency')
        expect([field, fieldIn(refused.payload, field)]).toEqual([field, kept]);
    }
    expect(refused.payload).toContain('name="pass_fee" type="checkbox" value="1" checked');
    expect(await dashboard.store.paymentPages.listPages(account.id, 0)).toHaveLength(1);
  });

  it('names a maximum below the minimum, and a charge that would exceed the limit with the fee', async () => {
    const browser = await signIn('developer');
    const post = async (fields: Record<string, string>) =>
      errorsOf((await browser.post('/dashboard/pages/new', { ...confirmed, ...fields })).payload);
    expect(await post({ amount: '', minimum: '6', maximum: '5' })).toEqual([
      ['maximum', 'Must not be below the minimum.'],
    ]);
    expect(await post({ kind: 'fixed', amount: '' })).toMatchObject([['amount', expect.any(String)]]);
    expect(await post({ kind: 'open', amount: 'x', minimum: '6', maximum: '5' })).toHaveLength(1);
    expect(await post({ amount: '9999', pass_fee: '1' })).toEqual([
      ['amount', 'Must be at most 9750.00, because the fee is added.'],
    ]);
  });

  it('previews the page that customers get, and leaves the frame as it is while a field is refused', async () => {
    const browser = await signIn('developer');
    const preview = (fields: Record<string, string>) =>
      browser.post('/dashboard/pages/preview', { ...typed, ...fields });
    const shown = await preview({ kind: 'open', title: '<b>Tea</b>', minimum: '3', question: 'Which tea?' });
    for (const text of ['<b>Tea</b>', 'Amount in EUR', '€3.00', 'Which tea?'])
      expect(textOf(shown.payload)).toContain(text);
    expect(shown.headers['content-security-policy']).toContain("frame-ancestors 'self'; sandbox");
    expect((await preview({ amount: 'x' })).statusCode).toBe(204);
    const fixed = textOf((await preview({ kind: 'fixed', amount: '' })).payload);
    expect([fixed.includes('€0.00'), fixed.includes('Amount in EUR')]).toEqual([true, false]);
    expect(await dashboard.store.paymentPages.listPages(account.id, 0)).toEqual([]);
  });

  it('asks for a wallet where none is saved, and refuses pass-through where it is not enabled', async () => {
    await dashboard.store.accounts.updateAccount(account.id, { wallet: null, features: ['card_checkout'] });
    const browser = await signIn('developer');
    const refused = await browser.post('/dashboard/pages/new', {
      ...confirmed,
      address: '0x12',
      pass_fee: '1',
    });
    expect(errorsOf(refused.payload)).toEqual([
      ['pass_fee', 'This is not enabled for the account: contact support.'],
      ['address', 'Must be an address (0x…) with a valid checksum.'],
    ]);
    expect(fieldIn(refused.payload, 'address')).toBe('0x12');
    const id = await createWith(browser, { ...typed, address: WALLET });
    expect((await dashboard.store.paymentPages.findPage(account.id, id, 0))?.page.payoutAddress).toBe(WALLET);
  });

  it('forgets its own wallet when it is saved under the wallet of the account', async () => {
    const page = await give({
      amountCents: 500,
      payoutAddress: '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359',
    });
    const browser = await signIn('developer');
    expect((await browser.post(`/dashboard/pages/${page.id}`, confirmed)).statusCode).toBe(303);
    await dashboard.store.accounts.updateAccount(account.id, { wallet: null });
    expect(tokenIn((await visitor().get(`/p/${page.slug}`)).payload)).toBe('');
    await submit(page);
    expect(await paymentsOf(page)).toEqual([]);
  });

  it('erases a customer’s answer from everywhere, by hand and with the retention', async () => {
    const page = await give({ amountCents: 500, question: 'Where to?' });
    const [one, two] = ['Canary Street 7', 'Canary Street 8'];
    await submit(page, { answer: one });
    await submit(page, { answer: two });
    const [second, first] = await paymentsOf(page);
    const owner = await signIn('owner');
    const path = `/dashboard/payments/${first?.id}`;
    expect(textOf((await owner.get(path)).payload)).toContain('Erase the answer…');
    expect((await owner.post(`${path}/erase-email`, {})).statusCode).toBe(303);
    expect(textOf((await owner.get(path)).payload)).not.toMatch(/Canary|Erase/);
    expect((await owner.get('/dashboard/payments.csv')).payload).not.toContain(one);
    const { eraseEmailsOlderThan } = await import('../../src/accounts/erase-old-data.ts');
    dashboard.advance(2 * DAY_MS);
    const { emails } = dashboard.store;
    expect(await eraseEmailsOlderThan({ emails, nowMs: dashboard.nowMs }, account.id, 1)).toMatchObject({
      erased: 1,
    });
    expect(textOf((await owner.get(`/dashboard/payments/${second?.id}`)).payload)).not.toContain('Canary');
  });
});
