import { describe, expect, it } from 'vitest';
import { DEPOSIT_HASH, RELEASE_HASH } from '../../sandbox/pages/example-payments.ts';
import type { ProviderId } from '../../src/payment/provider-catalog.ts';
import type { SessionProgress } from '../../src/payment/provider-session.ts';
import type { ProviderAdapter } from '../../src/providers/provider.ts';
import {
  checkoutStates,
  createCheckoutPages,
  NOW_MS,
  pagePayment,
  pageSession,
  pageView,
  secretsOfPayment,
  shopAccount,
  shopLogo,
} from '../support/checkout-pages.ts';
import { expectSays, textOf } from '../support/page-text.ts';
import { onePixel } from '../support/pictures.ts';

const pages = createCheckoutPages();

const open = (url: string, headers: Record<string, string> = {}) => pages.server.inject({ url, headers });

type StateName = keyof typeof checkoutStates;

/** What customers must find in each state. */
const promises: Record<StateName, readonly (string | RegExp)[]> = {
  choose: [
    'Pay $26.10',
    'All 10 services',
    '$25.00 + $1.10 fee',
    'Service fee $1.10 Total $26.10',
    'Only for payments in EUR',
  ],
  'choose-euro': ['€26.10', 'Klarna'],
  'choose-small': ['Wert', 'Only from $20.00 USD'],
  'choose-single': ['Pay at MoonPay', 'Continue to MoonPay', '•••@•••'],
  direct: ['Send 24 USDC', 'Send only USDC, and only on Polygon', 'Open in your wallet'],
  'direct-part': ['Send 22.876544 USDC', '1.123456 USDC arrived. This is the missing amount.'],
  'none-can-serve': [
    'This cannot be paid at the moment',
    'Payments are possible from $1.00 USD. Please contact',
  ],
  'at-provider': ['Continue at MoonPay', 'MP-48213', 'You can pay until November 28, 2026'],
  'visit-ended': ['session expired', 'don’t pay again', 'Start again at MoonPay', 'MP-48213'],
  'taken-by-provider': [
    'Your card is approved',
    'Usually done in 2–15 minutes.',
    'Don’t pay again',
    '1:42',
    'MP-48213',
  ],
  'taken-for-long': ['Your card is approved', 'Taking longer?', 'ask MoonPay', 'MP-48213'],
  'refused-by-provider': [
    'You haven’t been charged.',
    'Try another card at MoonPay',
    'instead',
    'Other ways to pay',
  ],
  underpaid: ['pay $15.10 USD to finish', 'Pay $15.10', '13.876544 USDC', DEPOSIT_HASH],
  seen: ['Your payment has arrived', DEPOSIT_HASH],
  sending: ['Your payment is being sent to Café Tortuga', DEPOSIT_HASH, RELEASE_HASH],
  delayed: ['Your payment has arrived, but is delayed', 'Please don’t pay again', DEPOSIT_HASH],
  'needs-attention': ['but is delayed', 'contact Café Tortuga', DEPOSIT_HASH],
  paid: [
    'Paid',
    'paid to',
    'within',
    '38 seconds',
    'MoonPay',
    'November 21, 2026',
    DEPOSIT_HASH,
    RELEASE_HASH,
  ],
  overpaid: ['$13.90 USD too much', 'Ask Café Tortuga to refund the difference', 'Reference'],
  'paid-twice': ['arrived more than once', 'Ask Café Tortuga to refund the duplicate'],
  'paid-again': ['Another payment of yours', 'Ask Café Tortuga to refund it'],
  canceled: ['This checkout was canceled', 'To pay $26.10 USD, start again', 'Reference'],
  expired: ['This checkout has expired', 'To pay $26.10 USD, start again', 'Reference'],
  'closed-with-money': [
    /About \$\d+\.\d\d USD of \$26\.10 USD arrived/,
    'Contact Café Tortuga',
    DEPOSIT_HASH,
  ],
  'closed-and-released': ['Café Tortuga received your money', 'does not count as paid'],
};
const stateNames = Object.keys(checkoutStates) as StateName[];

describe.each(stateNames)('a checkout that is %s', (name) => {
  it('says so, in the page and to its script alike', async () => {
    const id = pages.put(checkoutStates[name]());
    const page = await open(`/pay/${id}`);
    expect(page.statusCode).toBe(200);
    const status = (await open(`/pay/${id}/status`)).json();
    for (const promise of promises[name]) expect(textOf(page.body)).toMatch(promise);
    for (const words of [status.status, status.panel ?? '', status.detail])
      expect(page.body).toContain(words);
    expect(page.body).toContain(`data-revision="${status.revision}"`);
  });

  it('keeps note, callback, token and merchant data to itself', async () => {
    const id = pages.put(checkoutStates[name]());
    const { payment } = pages.view(id);
    const secrets = [
      ...Object.values(secretsOfPayment),
      'ipn_',
      'canary',
      'service_live',
      payment.payoutAddress,
      payment.feeWallet,
      // Where a wallet is to pay, or too little arrived, something can be sent there.
      ...(['underpaid', 'direct', 'direct-part'].includes(name) ? [] : [payment.depositAddress]),
      payment.accountId,
      shopAccount.email as string,
    ];
    for (const address of [`/pay/${id}`, `/pay/${id}/status`, `/pay/${id}?returned=1`]) {
      const { body } = await open(address);
      for (const secret of secrets) expect(body.toLowerCase()).not.toContain(secret.toLowerCase());
    }
  });
});

it('loads itself again without script while it waits, by an address that cannot lead to a provider', async () => {
  const id = pages.put(checkoutStates.seen());
  const { body } = await open(`/pay/${id}?auto=1`);
  expect(body).toContain(`<noscript><meta http-equiv="refresh" content="10; url=/pay/${id}"></noscript>`);
  for (const name of ['choose', 'paid', 'canceled', 'expired'] as const)
    expect((await open(`/pay/${pages.put(checkoutStates[name]())}`)).body).not.toContain('http-equiv');
});

it('links both transactions to the explorer, without telling it where the customer comes from', async () => {
  const { body } = await open(`/pay/${pages.put(checkoutStates.paid())}`);
  for (const hash of [DEPOSIT_HASH, RELEASE_HASH])
    expect(body).toContain(`<a href="https://explorer.example/tx/${hash}" rel="noopener noreferrer"`);
});

it('names of several visited providers only those that say they have delivered', async () => {
  const payment = pagePayment({ status: 'paid', forwardStatus: 'completed', paidAtMs: NOW_MS });
  const textOfReceipt = async (first: SessionProgress | null, second: SessionProgress | null) => {
    const sessions = [
      pageSession(payment, { progress: first }),
      pageSession(payment, { provider: 'wert', progress: second }),
    ];
    return textOf((await open(`/pay/${pages.put(pageView(payment, { sessions }))}`)).body);
  };
  expect(await textOfReceipt(null, null)).not.toContain('Likely on your statement');
  expect(await textOfReceipt(null, 'delivered')).toContain('Likely on your statement Wert');
  expect(await textOfReceipt('delivered', 'delivered')).toContain(
    'Likely on your statement MoonPay and Wert',
  );
});

it('names the seller of a route as likely on the statement, and no card where none is charged', async () => {
  const adapter = (id: ProviderId, routedThrough: ProviderId) => ({ id, routedThrough }) as ProviderAdapter;
  const routed = createCheckoutPages({ adapters: new Map([['paypal', adapter('paypal', 'moonpay')]]) });
  const paid = pagePayment({ status: 'paid', forwardStatus: 'completed', paidAtMs: NOW_MS });
  const sessions = [pageSession(paid, { provider: 'paypal' })];
  const { body } = await routed.server.inject(`/pay/${routed.put(pageView(paid, { sessions }))}`);
  expect(textOf(body)).toContain('Likely on your statement MoonPay');
  const single = async (provider: ProviderId) =>
    textOf((await open(`/pay/${pages.put(pageView(pagePayment({ provider })))}`)).body);
  expect(await single('moonpay')).toContain('Your card is charged by MoonPay.');
  expect(await single('paypal')).not.toContain('Your card');
  expect(await single('paypal')).toContain('can go only to Café Tortuga, less any service fee.');
});

it('tells who paid too much how much that is, and who paid twice that it was twice', async () => {
  const paid = { status: 'paid', forwardStatus: 'completed', paidAtMs: NOW_MS } as const;
  const textOfReceipt = async (amountMismatch: 'overpaid' | null, deposits: readonly bigint[]) =>
    textOf(
      (await open(`/pay/${pages.put(pageView(pagePayment({ ...paid, amountMismatch }), { deposits }))}`))
        .body,
    );
  expect(await textOfReceipt('overpaid', [24_000_000n, 12_100_000n])).toContain(
    'About $36.10 USD arrived, $10.00 USD too much. All of it goes to Café Tortuga. Ask Café Tortuga to refund the difference',
  );
  expect(await textOfReceipt('overpaid', [24_500_000n, 24_500_000n])).toContain(
    'arrived more than once: about $49.00 USD in total. All of it goes to Café Tortuga. Ask Café Tortuga to refund the duplicate',
  );
  const both = await textOfReceipt('overpaid', [24_500_000n, 1n, 24_600_000n]);
  for (const arrival of [`24.50 USDC ${DEPOSIT_HASH}`, `24.60 USDC 0x${'d3'.repeat(32)}`])
    expect(both).toContain(`Arrived with transaction ${arrival}`);
  expect(both.split('Arrived with transaction')).toHaveLength(3);
  expect(await textOfReceipt(null, [24_500_000n])).not.toMatch(/refund|24\.50 USDC/);
});

it('lists of many arrivals the largest twenty, in their order, on a receipt that sums all of them', async () => {
  const paid = { status: 'paid', forwardStatus: 'completed', paidAtMs: NOW_MS } as const;
  const deposits = Array.from({ length: 30 }, (_, index) => BigInt(((index * 7) % 30) + 11) * 1_000_000n);
  const payment = pagePayment({ ...paid, amountMismatch: 'overpaid' });
  const text = textOf((await open(`/pay/${pages.put(pageView(payment, { deposits }))}`)).body);
  expect(text).toContain('about $765.00 USD in total');
  const listed = [...text.matchAll(/Arrived with transaction (\d+)\.00 USDC/g)].map(([, units]) =>
    Number(units),
  );
  expect(listed).toEqual(deposits.map((units) => Number(units / 1_000_000n)).filter((units) => units > 20));
});

it('says on the receipt who has a second payment, and offers and starts none while one provider has the money', async () => {
  const receipt = textOf((await open(`/pay/${pages.put(checkoutStates['paid-again']())}`)).body);
  expect(receipt).toContain(
    'Another payment of yours is under way at Wert. It goes to Café Tortuga as well.',
  );
  const payment = pagePayment();
  const taken = { progress: 'delivering', progressAtMs: NOW_MS - 1_000 } as const;
  const later = pageSession(payment, { provider: 'wert', createdAtMs: NOW_MS });
  const id = pages.put(pageView(payment, { sessions: [pageSession(payment, taken), later] }));
  expect(textOf((await open(`/pay/${id}`)).body)).toContain('Your card is approved');
  const click = await pages.server.inject({ method: 'POST', url: `/pay/${id}/providers/wert` });
  expectSays(click, 409, 'Your card is approved');
  expect(pages.started).toEqual([]);
});

it('says that it is a sandbox, and only there', async () => {
  const sandbox = createCheckoutPages({ isTestMode: true });
  const { body } = await sandbox.server.inject(`/pay/${sandbox.put(checkoutStates.choose())}`);
  expect(textOf(body)).toContain('Sandbox. This is a test: no card is charged');
  expect((await open(`/pay/${pages.put(checkoutStates.choose())}`)).body).not.toContain('Sandbox');
});

it('offers nothing while the shop is suspended', async () => {
  const suspended = createCheckoutPages({ account: { suspended: true } });
  const { body } = await suspended.server.inject(`/pay/${suspended.put(checkoutStates.choose())}`);
  expect(body).not.toContain('<button');
  expect(textOf(body)).toContain('No payment service can take this payment');
});

describe('the language of a page', () => {
  const id = pages.put(checkoutStates.choose());

  it('is the one the browser asks for, with direction, words, money and links to all others', async () => {
    const { body } = await open(`/pay/${id}`, { 'accept-language': 'ar,en;q=0.5' });
    expect(body).toContain('<html lang="ar" dir="rtl">');
    expect(textOf(body)).toContain('كيف تود الدفع؟');
    expect(textOf(body).replaceAll(/[\u00a0\u200e\u200f]/g, ' ')).toContain('26.10 US$');
    for (const [code, name] of [
      ['en', 'English'],
      ['de', 'Deutsch'],
      ['hi', 'हिन्दी'],
    ] as const) {
      expect(body).toContain(`href="/pay/${id}?lang=${code}" lang="${code}"`);
      expect(textOf(body)).toContain(name);
    }
  });

  it('has no space between two sentences in Japanese', async () => {
    const { body } = await open(`/pay/${pages.put(checkoutStates['direct-part']())}?lang=ja`);
    expect(body).toContain('表示されているのは不足分の金額です。送金を');
  });

  it('can be chosen by a link, which is remembered, and only for languages there are', async () => {
    const chosen = await open(`/pay/${id}?lang=de`);
    expect(textOf(chosen.body)).toContain('Wie möchten Sie zahlen?');
    const cookie = String(chosen.headers['set-cookie']);
    expect(cookie).toBe('language=de; Path=/; Max-Age=31536000; HttpOnly; SameSite=Lax');
    const later = await open('/pay/unknown', {
      cookie: cookie.split(';')[0] as string,
      'accept-language': 'fr',
    });
    expect(textOf(later.body)).toContain('Bezahlvorgang nicht gefunden');
    for (const lang of ['zz', '%3Cscript%3E', 'de&lang=fr'])
      expect((await open(`/pay/${id}?lang=${lang}`)).headers['set-cookie']).toBeUndefined();
  });

  it('is that of the poll, of a problem and of a refused form as well', async () => {
    const headers = { 'accept-language': 'es' };
    expect((await open(`/pay/${id}/status?lang=fr`, headers)).json().status).toContain(
      'Comment souhaitez-vous payer',
    );
    const click = await pages.server.inject({ method: 'POST', url: `/pay/${id}/providers/klarna`, headers });
    expect(textOf(click.body)).toContain('Klarna no acepta pagos en USD.');
    const elsewhere = { ...headers, 'sec-fetch-site': 'cross-site' };
    const form = await pages.server.inject({
      method: 'POST',
      url: `/pay/${id}/providers/wert`,
      headers: elsewhere,
    });
    expect(textOf(form.body)).toContain('Utilice los botones de esta página');
  });
});

it('sets a name with marks for the direction of writing apart from what is said around it', async () => {
  const shop = createCheckoutPages({ account: { name: '\u202eevil\u202d' } });
  const { body } = await shop.server.inject(`/pay/${shop.put(checkoutStates.paid())}`);
  expect(body).toContain('<p><bdi>\u202eevil\u202d</bdi> has received your payment.');
});

describe('a partial payment', () => {
  it('offers the providers whose minimum the rest reaches, and a transfer from a wallet', async () => {
    const id = pages.put(checkoutStates.underpaid());
    const { body } = await open(`/pay/${id}`);
    expect(textOf(body)).toContain('Pay $15.10');
    expect(textOf(body)).toMatch(/Not available for this payment.*MoonPay Only from \$20\.00/);
    expect(body).not.toContain(`/pay/${id}/providers/moonpay`);
    expect(textOf(body)).toMatch(/only on Polygon\..* 13\.87\d* USDC Copy/);
    expect(textOf(body)).toContain(pages.view(id).payment.depositAddress);
  });

  it('asks for patience, and nothing of the shop, while the provider has not delivered all of it', async () => {
    const payment = pagePayment();
    const session = pageSession(payment, { progress: 'delivering', progressAtMs: NOW_MS - 1_000 });
    const id = pages.put(pageView(payment, { deposits: [10_000_000n], sessions: [session] }));
    const text = textOf((await open(`/pay/${id}`)).body);
    expect(text).toContain('Delivery usually takes a few minutes.');
    expect(text).not.toMatch(/Ask Café Tortuga|How to pay the rest|from a wallet/);
  });

  it('refers to the shop where no provider charges so little', async () => {
    const view = checkoutStates.underpaid();
    const [deposit] = view.observations.deposits;
    if (deposit === undefined) throw new Error('The example has no deposit.');
    const nearly = { ...deposit, units: view.payment.paidThresholdUnits - 500_000n };
    const id = pages.put({ ...view, observations: { ...view.observations, deposits: [nearly] } });
    const { body } = await open(`/pay/${id}`);
    expect(textOf(body)).toContain('Ask Café Tortuga how to pay the rest');
    expect(textOf(body)).toContain('about $0.50 USD is missing');
    expect(body).not.toContain('/providers/');
  });
});

describe('hostile text', () => {
  const hostile = `"><script>alert(1)</script>'&!\${x}<img src=x onerror=alert(2)>`;

  it("in the shop's name and the email address stays text", async () => {
    const shop = createCheckoutPages({ account: { name: hostile } });
    const email = `"<script>alert(3)</script>"@example.com`;
    for (const view of [
      pageView(pagePayment({ provider: 'moonpay', email })),
      checkoutStates.paid(),
      checkoutStates.underpaid(),
    ]) {
      const id = shop.put(view);
      const bodies = [(await shop.server.inject(`/pay/${id}`)).body];
      const status = (await shop.server.inject(`/pay/${id}/status`)).json();
      bodies.push(status.status, status.detail);
      for (const body of bodies) {
        expect(body).not.toContain('<script>alert');
        expect(body.replace(/<img src="\/pay\/[^"]*\/(?:qr|transfer)\.svg"/, '')).not.toContain('<img');
      }
      expect(textOf(bodies[0] as string)).toContain(`alert(1)`);
    }
  });
});

describe('the headers', () => {
  it("let only this response's own style and script work, and forms lead to secure hosts", async () => {
    const secure = createCheckoutPages({ baseUrl: 'https://pay.example' });
    const id = secure.put(checkoutStates.choose());
    const [first, second] = [
      await secure.server.inject(`/pay/${id}`),
      await secure.server.inject(`/pay/${id}`),
    ];
    const nonce = /'nonce-([\w-]+)'/.exec(String(first.headers['content-security-policy']))?.[1] as string;
    expect(first.headers['content-security-policy']).toBe(
      `default-src 'none'; style-src 'nonce-${nonce}'; script-src 'nonce-${nonce}'; connect-src 'self'; img-src 'self' data:; form-action 'self' https:; base-uri 'none'; frame-ancestors 'none'`,
    );
    expect(nonce.length).toBeGreaterThanOrEqual(22);
    expect(second.headers['content-security-policy']).not.toContain(nonce);
    const tags = first.body.match(/<(style|script)\b[^>]*>/g) ?? [];
    expect(tags.length).toBe(2);
    for (const tag of tags) expect(tag).toContain(`nonce="${nonce}"`);
    expect(first.body).not.toMatch(/ (style|on[a-z]+)="/);
  });

  it('let forms lead to plain HTTP only from a page that is plain HTTP itself', async () => {
    const { headers } = await open(`/pay/${pages.put(checkoutStates.choose())}`);
    expect(headers['content-security-policy']).toContain("form-action 'self' https: http:;");
  });

  it.each(['page', 'status', 'short link', 'unknown', 'method'])(
    'keep the %s out of caches, indexes, frames and referrers',
    async (which) => {
      const id = pages.put(checkoutStates['choose-single']());
      const addresses = {
        page: `/pay/${id}`,
        status: `/pay/${id}/status`,
        'short link': `/s/${'0'.repeat(23)}`,
        unknown: '/pay/unknown',
        method: `/pay/${id}/providers/moonpay`,
      };
      const { headers } = await open(addresses[which as keyof typeof addresses]);
      expect(headers).toMatchObject({
        'cache-control': 'no-store',
        'x-robots-tag': 'noindex, nofollow',
        'referrer-policy': 'strict-origin',
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'DENY',
      });
      expect(headers['content-security-policy']).toContain("default-src 'none'");
      expect(headers['content-security-policy']).toContain("frame-ancestors 'none'");
      expect(headers['set-cookie']).toBeUndefined();
    },
  );
});

describe('an unknown link', () => {
  it.each([
    '/pay/unknown',
    '/pay/01900000-0000-7000-8000-000000000000',
    '/s/unknown',
    `/s/${'0'.repeat(23)}`,
  ])('%s is a page of the same look', async (url) => {
    const response = await open(url);
    expect(response.statusCode).toBe(404);
    expect(response.headers['content-type']).toBe('text/html; charset=utf-8');
    expect(textOf(response.body)).toContain('Checkout not found');
  });

  it.each([
    ['https://shop.example:8443/cart?token=1', 'https://shop.example:8443/'],
    ['http://localhost:3000/pay/other', null],
    ['http://shop.example/', null],
    ['android-app://mail.example/', null],
    ['nonsense', null],
    [undefined, null],
  ])('leads back to the site that has the link, if it can: %s', async (referer, back) => {
    for (const url of ['/pay/unknown', '/s/unknown']) {
      const { body } = await open(url, referer === undefined ? {} : { referer });
      const [, href = null, label = ''] =
        /<a class="button primary wide" href="([^"]+)">([^<]+)</.exec(body) ?? [];
      expect([href, label]).toEqual([back, back === null ? '' : 'Back to shop.example:8443']);
      expect(body).not.toContain('token');
    }
  });

  it('is an error to the script', async () => {
    const response = await open('/pay/unknown/status');
    expect(response.statusCode).toBe(404);
    expect(response.json()).toEqual({ error: 'Payment not found.' });
  });
});

it('what the script asks for is answered with nothing while nothing has changed, and anew once it has', async () => {
  const view = checkoutStates.choose();
  const id = pages.put(view);
  const first = await open(`/pay/${id}/status`);
  const etag = String(first.headers['etag']);
  const same = await open(`/pay/${id}/status`, { 'if-none-match': etag });
  expect([same.statusCode, same.body]).toEqual([304, '']);
  pages.put({ ...checkoutStates.seen(), payment: { ...checkoutStates.seen().payment, id } });
  const changed = await open(`/pay/${id}/status`, { 'if-none-match': etag });
  expect(changed.statusCode).toBe(200);
  expect(changed.json()).toMatchObject({ state: 'pending', refreshSeconds: 3 });
  expect(Object.keys(changed.json()).sort()).toEqual([
    'detail',
    'elapsed',
    'mail',
    'panel',
    'refreshSeconds',
    'revision',
    'state',
    'status',
    'title',
  ]);
});

it('answers a failure of ours with a page that says nothing of it', async () => {
  const broken = createCheckoutPages();
  const view = checkoutStates.choose();
  const id = broken.put({ ...view, payment: { ...view.payment, forwardStatus: 'completed' } });
  const response = await broken.server.inject(`/pay/${id}`);
  expectSays(response, 500, 'Something went wrong on our side');
  expect(response.body).not.toContain('unpaid/completed');
});

it('serves the logo of a shop by its hash, as a picture and nothing else, to be kept', async () => {
  const answer = await pages.server.inject({ url: `/logos/${shopLogo.hash}` });
  expect([answer.statusCode, answer.rawPayload.equals(onePixel)]).toEqual([200, true]);
  expect(answer.headers).toMatchObject({
    'content-type': 'image/png',
    'cache-control': 'public, max-age=31536000, immutable',
    'x-content-type-options': 'nosniff',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  });
});

it.each(['f'.repeat(32), shopLogo.hash.toUpperCase(), `${shopLogo.hash}.png`, 'x', '%00', 'a'.repeat(500)])(
  'answers 404 to a logo that there is not: %s',
  async (hash) => {
    const answer = await pages.server.inject({ url: `/logos/${hash}` });
    expect([answer.statusCode, answer.headers['cache-control']]).toEqual([404, 'no-store']);
  },
);
