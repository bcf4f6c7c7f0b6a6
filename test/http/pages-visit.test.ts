import { describe, expect, it } from 'vitest';
import type { ProviderId } from '../../src/payment/provider-catalog.ts';
import { MAXIMUM_SESSIONS_PER_HOUR } from '../../src/payment/provider-session.ts';
import {
  type CheckoutPages,
  checkoutStates,
  createCheckoutPages,
  NOW_MS,
  pagePayment,
  pageSession,
  pageView,
  usePages,
} from '../support/checkout-pages.ts';
import { expectSays, textOf } from '../support/page-text.ts';

let pages = {} as CheckoutPages;
const reopen = usePages((opened) => (pages = opened));

const click = (id: string, provider: string, headers: Record<string, string> = {}) =>
  press(`/pay/${id}/providers/${provider}`, headers);
const press = (url: string, headers: Record<string, string> = {}) =>
  pages.server.inject({
    method: 'POST',
    url,
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    payload: '',
  });
const open = (url: string, headers: Record<string, string> = {}) => pages.server.inject({ url, headers });

/** Presses the page's button of a provider, with what its address carries. */
const pressIn = ({ body }: { readonly body: string }, provider: string) =>
  press(new RegExp(`formaction="([^"]*/providers/${provider}[^"]*)"`).exec(decoded(body))?.[1] ?? '');
const decoded = (body: string) =>
  body.replaceAll(/&#(\d+);/g, (_, code) => String.fromCodePoint(Number(code)));

const single = () => pageView(pagePayment({ provider: 'moonpay', email: 'jane@example.com' }));

describe('a click on a provider', () => {
  it('leads there with a 303 that is not kept', async () => {
    const response = await click(pages.put(checkoutStates.choose()), 'wert');
    expect(response.statusCode).toBe(303);
    expect(response.headers['location']).toBe('https://wert.example/visit/1');
    expect(response.headers['cache-control']).toBe('no-store');
    expect(response.headers['referrer-policy']).toBe('strict-origin');
  });

  it('shows the page again when the provider does not answer, with the others to choose from', async () => {
    pages.failing.add('moonpay');
    const id = pages.put(checkoutStates.choose());
    const response = await click(id, 'moonpay');
    expect(response.statusCode).toBe(502);
    expect(response.headers['content-type']).toBe('text/html; charset=utf-8');
    expect(textOf(response.body)).toContain('MoonPay could not be reached. Your card was not charged.');
    expect(response.body).toContain(`formaction="/pay/${id}/providers/wert"`);
  });

  it("takes an address that is no web address for the provider's failure", async () => {
    for (const redirectUrl of ['javascript:alert(1)', 'data:text/html,x', 'nonsense']) {
      const odd = createCheckoutPages({ redirectUrl });
      const id = odd.put(checkoutStates.choose());
      const response = await odd.server.inject({ method: 'POST', url: `/pay/${id}/providers/wert` });
      expect(response.statusCode).toBe(502);
      expect(response.headers['location']).toBeUndefined();
      expect(response.body).not.toContain(redirectUrl);
    }
  });

  it('says why a provider cannot serve, and starts nothing', async () => {
    const id = pages.put(checkoutStates.choose());
    expect(textOf((await click(id, 'klarna')).body)).toContain('Klarna does not take payments in USD.');
    const small = pages.put(checkoutStates['choose-small']());
    const response = await click(small, 'moonpay');
    expectSays(response, 400, '$3.00 USD is less than MoonPay accepts.');
    pages.settings.set('wert', { active: false, pinned: null, minimumUsdCents: null });
    expect(textOf((await click(id, 'wert')).body)).toContain('Wert is not available at the moment.');
    expect(pages.started).toEqual([]);
  });

  it("refuses a provider that does not exist or is not this payment's", async () => {
    const response = await click(pages.put(checkoutStates.choose()), 'nobody');
    expectSays(response, 400, 'This payment service does not exist.');
    const other = await click(pages.put(single()), 'wert');
    expectSays(other, 400, 'This checkout is for another payment service.');
    expect(pages.started).toEqual([]);
  });

  it('charges only the rest of a checkout that is underpaid by now, where the provider accepts so little', async () => {
    const id = pages.put(checkoutStates.underpaid());
    const refused = await click(id, 'moonpay');
    expectSays(refused, 400, '$15.10 USD is less than MoonPay accepts.');
    expect(pages.started).toEqual([]);
    expect((await click(id, 'wert')).statusCode).toBe(303);
    expect(pages.started).toEqual(['wert']);
    const started = pages.view(id).sessions.at(-1);
    expect(started).toMatchObject({ chargedCents: 15_10, receivedUnits: 10_123_456n });
  });

  it.each([
    'seen',
    'sending',
    'delayed',
    'needs-attention',
    'paid',
    'canceled',
    'expired',
    'closed-with-money',
    'closed-and-released',
  ] as const)('charges nobody for a checkout that is %s by now', async (name) => {
    const response = await click(pages.put(checkoutStates[name]()), 'moonpay');
    expect(response.statusCode).toBe(409);
    expect(response.body).not.toContain('/providers/');
    expect(pages.started).toEqual([]);
  });

  it('is bounded for a payment', async () => {
    const payment = pagePayment();
    const sessions = Array.from({ length: MAXIMUM_SESSIONS_PER_HOUR }, () =>
      pageSession(payment, { provider: 'wert', expiresAtMs: 0 }),
    );
    const response = await click(pages.put(pageView(payment, { sessions })), 'moonpay');
    expect([response.statusCode, response.headers['retry-after']]).toEqual([429, '3600']);
    expect(textOf(response.body)).toContain('opened too often');
  });

  it('is bounded by what was started within the last hour, not by what was started ever', async () => {
    const payment = pagePayment();
    const sessions = Array.from({ length: 2 * MAXIMUM_SESSIONS_PER_HOUR }, () =>
      pageSession(payment, { provider: 'wert', createdAtMs: NOW_MS - 3_600_000, expiresAtMs: 0 }),
    );
    expect((await click(pages.put(pageView(payment, { sessions })), 'moonpay')).statusCode).toBe(303);
  });

  it.each([1n, 10n ** 12n])(
    'is refused, and the log says why, when the provider quotes %d units for 26.10 USD',
    async (quotedUnits) => {
      pages.quotes.set('wert', quotedUnits);
      const id = pages.put(checkoutStates.choose());
      const before = pages.view(id);
      const response = await click(id, 'wert');
      expect(response.statusCode).toBe(502);
      expect(response.headers['location']).toBeUndefined();
      expect(textOf(response.body)).toContain('Wert could not be reached. Your card was not charged.');
      expect(pages.view(id)).toEqual(before);
      expect(pages.logLines.join('')).toMatch(/wert quoted [\d.]+ USDC for a charge of 26\.100000 USD/);
    },
  );

  it('is not led to a higher total than the page names: the page names it, and the next click accepts it', async () => {
    pages.charges.set('rampnetwork', 27_40);
    const id = pages.put(checkoutStates.choose());
    const refused = await click(id, 'rampnetwork');
    expectSays(refused, 409, 'Ramp Network: You pay $27.40 there, fees included.');
    expect(refused.headers['location']).toBeUndefined();
    expect(pages.view(id).sessions).toEqual([]);
    pages.charges.set('rampnetwork', 28_40);
    const again = await pressIn(refused, 'rampnetwork');
    expectSays(again, 409, 'Ramp Network: You pay $28.40 there, fees included.');
    pages.charges.set('rampnetwork', 28_60);
    expect((await pressIn(again, 'rampnetwork')).statusCode).toBe(303);
    expect(pages.view(id).sessions).toMatchObject([{ chargedCents: 26_10 }]);
    pages.charges.set('rampnetwork', 20_00);
    expect((await click(pages.put(checkoutStates.choose()), 'rampnetwork')).statusCode).toBe(303);
  });

  it.each(['refused-by-provider', 'visit-ended', 'underpaid'] as const)(
    'of a checkout that is %s accepts the higher total that the page names beside the button',
    async (name) => {
      const id = pages.put(checkoutStates[name]());
      const [first = ''] = /(?<=\/providers\/)(?!multi)\w+/.exec((await open(`/pay/${id}`)).body) ?? [];
      pages.charges.set(first as ProviderId, 27_40);
      const refused = await click(id, first);
      expectSays(refused, 409, 'You pay $27.40 there, fees included. ');
      expect(textOf(refused.body).split('27.40').length).toBeGreaterThan(2);
      expect((await pressIn(refused, first)).statusCode).toBe(303);
    },
  );

  it('asks the token about a payout wallet once in half a minute, however many checkouts are clicked', async () => {
    for (let count = 0; count < 5; count++) await click(pages.put(checkoutStates.choose()), 'wert');
    expect(pages.blocklistReads).toEqual([0]);
    pages.clock.monotonicMs = 29_999;
    await click(pages.put(checkoutStates.choose()), 'wert');
    pages.clock.monotonicMs = 30_000;
    await click(pages.put(checkoutStates.choose()), 'wert');
    expect(pages.blocklistReads).toEqual([0, 30_000]);
  });

  it('for an unknown payment leads to the page that says so', async () => {
    expect((await click('unknown', 'wert')).statusCode).toBe(404);
  });

  it('counts only as a form: opening its address leads to the checkout', async () => {
    const id = pages.put(checkoutStates.choose());
    const response = await open(`/pay/${id}/providers/wert`);
    expect([response.statusCode, response.headers['location']]).toEqual([303, `/pay/${id}`]);
    expect(pages.started).toEqual([]);
  });
});

describe('a form from elsewhere', () => {
  it.each<Record<string, string>>([
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { origin: 'http://localhost:3001' },
  ])('starts nothing: %j', async (headers) => {
    const response = await click(pages.put(checkoutStates.choose()), 'wert', headers);
    expect(response.statusCode).toBe(403);
    expect(response.body).toContain('Please use the buttons on this page');
    expect(pages.started).toEqual([]);
  });

  it.each<Record<string, string>>([
    { 'sec-fetch-site': 'same-origin', origin: 'http://localhost:3000' },
    { origin: 'http://localhost:3000' },
    { origin: 'http://127.0.0.1:3000', host: '127.0.0.1:3000' },
    {},
  ])('is none of ours: %j', async (headers) => {
    expect((await click(pages.put(checkoutStates.choose()), 'wert', headers)).statusCode).toBe(303);
  });

  it('with a large or other body is refused', async () => {
    const id = pages.put(checkoutStates.choose());
    const url = `/pay/${id}/providers/wert`;
    const large = await pages.server.inject({
      method: 'POST',
      url,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      payload: 'x'.repeat(2000),
    });
    expect(large.statusCode).toBe(413);
    expect((await pages.server.inject({ method: 'POST', url, payload: { a: 1 } })).statusCode).toBe(400);
    expect(pages.started).toEqual([]);
  });
});

it('an opened checkout is recorded for a customer, and not for a preview, a prefetch, a HEAD request or an unknown payment', async () => {
  const id = pages.put(checkoutStates.choose());
  for (const headers of [{ 'user-agent': 'WhatsApp/2.23' }, { 'sec-purpose': 'prefetch;prerender' }])
    await open(`/pay/${id}`, headers as Record<string, string>);
  await pages.server.inject({ method: 'HEAD', url: `/pay/${id}` });
  await open('/pay/unknown');
  await open(`/pay/${id}/status`);
  expect(pages.opened).toEqual([]);
  await open(`/pay/${id}`, { 'user-agent': 'Mozilla/5.0 (Windows NT 10.0; rv:140.0) Firefox/140.0' });
  expect(pages.opened).toEqual([id]);
});

describe('opening a checkout with auto=1', () => {
  it('leads to no total above the amount, which no page has named', async () => {
    pages.charges.set('moonpay', 27_40);
    const id = pages.put(single());
    const refused = await open(`/pay/${id}?auto=1`);
    expect((await open(`/pay/${id}?auto=1`)).statusCode).toBe(409);
    expectSays(refused, 409, 'MoonPay: You pay $27.40 there, fees included.');
    expect((await pressIn(refused, 'moonpay')).statusCode).toBe(303);
  });

  it('leads straight to the provider, once started again and again', async () => {
    const id = pages.put(single());
    const first = await open(`/pay/${id}?auto=1&email=jane%40example.com`);
    expect([first.statusCode, first.headers['location']]).toEqual([303, 'https://moonpay.example/visit/1']);
    expect(first.headers['cache-control']).toBe('no-store');
    const again = await open(`/pay/${id}?auto=1&email=jane%40example.com`);
    expect(again.headers['location']).toBe('https://moonpay.example/visit/1');
    expect(pages.started).toEqual(['moonpay']);
  });

  it('shows the page to those who come back unpaid, and a way to go on', async () => {
    const id = pages.put(single());
    await open(`/pay/${id}?auto=1`);
    const back = await open(`/pay/${id}?returned=1`);
    expectSays(back, 200, 'Continue at MoonPay');
    expect((await open(`/pay/${id}?auto=1&returned=1`)).statusCode).toBe(200);
  });

  it('shows what has become of a payment that cannot be paid any more', async () => {
    for (const name of ['paid', 'expired', 'underpaid'] as const) {
      const view = checkoutStates[name]();
      const id = pages.put({
        ...view,
        payment: { ...view.payment, provider: 'moonpay', email: 'a@example.com' },
      });
      expect((await open(`/pay/${id}?auto=1`)).statusCode).toBe(200);
    }
    expect(pages.started).toEqual([]);
  });
});

describe('one address', () => {
  const visitor = '203.0.113.7';
  const from = (remoteAddress: string, method: 'GET' | 'POST', url: string) =>
    pages.server.inject({ method, url, remoteAddress });
  async function repeat(times: number, ...request: Parameters<typeof from>): Promise<number[]> {
    const statuses = new Set<number>();
    for (let index = 0; index < times; index++) statuses.add((await from(...request)).statusCode);
    return [...statuses];
  }

  it('may start twenty visits a minute, of whatever checkouts, and then is asked for patience', async () => {
    const ids = Array.from({ length: 21 }, () => pages.put(checkoutStates.choose()));
    const last = ids.pop();
    for (const id of ids)
      expect(await repeat(1, visitor, 'POST', `/pay/${id}/providers/wert`)).toEqual([303]);
    pages.clock.monotonicMs = 20_000;
    const refused = await from(visitor, 'POST', `/pay/${last}/providers/wert`);
    expect([refused.statusCode, refused.headers['retry-after']]).toEqual([429, '40']);
    expect(refused.headers['content-type']).toBe('text/html; charset=utf-8');
    expect(refused.body).toContain('Too many requests from your network');
    expect(pages.started).toHaveLength(20);
    // Its pages are still shown, other addresses are not concerned, and the minute ends.
    expect(await repeat(1, visitor, 'GET', `/pay/${last}`)).toEqual([200]);
    expect(await repeat(1, '203.0.113.8', 'POST', `/pay/${last}/providers/wert`)).toEqual([303]);
    pages.clock.monotonicMs = 60_000;
    expect(await repeat(1, visitor, 'POST', `/pay/${last}/providers/banxa`)).toEqual([303]);
  });

  it('may not start more by opening links with auto=1', async () => {
    const id = pages.put(single());
    expect(await repeat(20, visitor, 'GET', `/pay/${id}?auto=1`)).toEqual([303]);
    expect(await repeat(1, visitor, 'GET', `/pay/${id}?auto=1`)).toEqual([429]);
    expect(await repeat(1, visitor, 'GET', `/pay/${id}`)).toEqual([200]);
  });

  it('may open 120 pages a minute, short links and unknown ones included', async () => {
    const id = pages.put(checkoutStates.paid());
    expect(await repeat(60, visitor, 'GET', `/pay/${id}`)).toEqual([200]);
    expect(await repeat(60, visitor, 'GET', '/s/unknown')).toEqual([404]);
    for (const url of [`/pay/${id}`, '/s/unknown', '/pay/unknown']) {
      const refused = await from(visitor, 'GET', url);
      expect([refused.statusCode, refused.headers['retry-after']]).toEqual([429, '60']);
    }
    expect(await repeat(1, visitor, 'GET', `/pay/${id}/status`)).toEqual([200]);
  });

  it('may have thirty open pages look again every three seconds', async () => {
    const id = pages.put(checkoutStates.sending());
    expect(await repeat(600, visitor, 'GET', `/pay/${id}/status`)).toEqual([200]);
    expect(await repeat(1, visitor, 'GET', `/pay/${id}/status`)).toEqual([429]);
  });

  it('that is this machine is not counted: it may be a proxy before all customers', async () => {
    const id = pages.put(single());
    for (const local of ['127.0.0.1', '::1', '::ffff:127.0.0.1'])
      expect(await repeat(60, local, 'GET', `/pay/${id}?auto=1`)).toEqual([303]);
  });
});

describe("the customer's IP address", () => {
  const clickFrom = (id: string, remoteAddress: string, headers: Record<string, string> = {}) =>
    pages.server.inject({ method: 'POST', url: `/pay/${id}/providers/wert`, remoteAddress, headers });
  const linkFrom = async (...visitor: Parameters<typeof clickFrom>) =>
    (await clickFrom(...visitor)).headers['location'];

  it('is the one that a trusted proxy names, and never the one that a customer names', async () => {
    const headers = { 'x-forwarded-for': '8.8.8.8' };
    await clickFrom(pages.put(checkoutStates.choose()), '9.9.9.9', headers);
    const direct = pages.addresses;
    await reopen({ trustProxy: ['10.0.0.0/8'] });
    await clickFrom(pages.put(checkoutStates.choose()), '10.1.2.3', headers);
    await clickFrom(pages.put(checkoutStates.choose()), '9.9.9.9', headers);
    expect([direct, pages.addresses]).toEqual([['9.9.9.9'], ['8.8.8.8', '9.9.9.9']]);
  });

  it.each([
    ['81.2.69.142:61598', '81.2.69.142'],
    ['[2a00:1450::1]:443', '2a00:1450::1'],
    ['"[2A00:1450::1]"', '2a00:1450::1'],
    ['::ffff:81.2.69.142:61598', '81.2.69.142'],
    ['2a00:1450::1%eth0', '2a00:1450::1'],
    ['8.8.8.8, 81.2.69.142:61598, 10.0.0.5:8080', '81.2.69.142'],
    ['8.8.8.8, 81.2.69.142,, ', '81.2.69.142'],
    ['localhost', null],
    ['unknown, _hidden', null],
    ['081.2.69.142', null],
    ['81.2.69.142:', null],
    [`${'x'.repeat(5_000)}:1`, null],
  ])('as a proxy forwards it, %s, is told to the provider as %s', async (forwarded, told) => {
    await reopen({ trustProxy: ['10.0.0.0/8'] });
    await clickFrom(pages.put(checkoutStates.choose()), '10.1.2.3', { 'x-forwarded-for': forwarded });
    expect(pages.addresses).toEqual([told]);
  });

  it('binds the link: another address gets another link, and each its own again', async () => {
    const id = pages.put(checkoutStates.choose());
    const together = await Promise.all([linkFrom(id, '8.8.8.8'), linkFrom(id, '9.9.9.9')]);
    expect(new Set(together).size).toBe(2);
    expect(await linkFrom(id, '::ffff:8.8.8.8')).toBe(together[0]);
    expect(await linkFrom(id, '9.9.9.9')).toBe(together[1]);
    expect(await linkFrom(id, '127.0.0.1')).not.toBe(together[0]);
    expect(pages.started).toHaveLength(3);
  });

  it('may change twenty times an hour, after which known addresses still get their link', async () => {
    const id = pages.put(checkoutStates.choose());
    const links = [];
    for (let index = 1; index <= 20; index++) links.push(await linkFrom(id, `8.8.8.${index}`));
    expect(new Set(links).size).toBe(20);
    const refused = await clickFrom(id, '8.8.8.21');
    expect([refused.statusCode, refused.headers['retry-after']]).toEqual([429, '3600']);
    expect(await linkFrom(id, '8.8.8.1')).toBe(links[0]);
  });

  it('stands neither in the store nor in the log', async () => {
    const id = pages.put(checkoutStates.choose());
    await clickFrom(id, '8.8.8.8');
    pages.failing.add('wert');
    await clickFrom(id, '8.8.4.4');
    const [session] = pages.view(id).sessions;
    expect(session?.customerIpHash).toMatch(/^[\w-]{43}$/);
    const stored = JSON.stringify(pages.view(id), (_, value) =>
      typeof value === 'bigint' ? `${value}` : value,
    );
    expect(stored + pages.logLines.join('')).not.toMatch(/8\.8\.[48]/);
  });
});

describe("the customer's country", () => {
  it('is not believed from a header that the operator has not named', async () => {
    await click(pages.put(checkoutStates.choose()), 'wert', { 'cf-ipcountry': 'DE' });
    expect(pages.countries).toEqual([null]);
  });

  /** Every button that leads to the provider. */
  const buttonsTo = (body: string, provider: string) =>
    [...body.matchAll(new RegExp(`action="[^"]*/providers/${provider}"`, 'g'))].length;
  const choose = (id: string, country: string) =>
    pages.server.inject({
      method: 'POST',
      url: `/pay/${id}/providers/revolut`,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      payload: `country=${country}`,
    });

  it('is asked by a page that is no error, when a direct link leads to a provider that needs it', async () => {
    await reopen({ needsCountry: 'revolut' });
    const id = pages.put(pageView(pagePayment({ provider: 'revolut', email: 'jane@example.com' })));
    const response = await open(`/pay/${id}?auto=1&email=jane%40example.com`);
    expect(response.statusCode).toBe(200);
    expect(response.body).toContain('<select id="country"');
    expect(pages.started).toEqual([]);
  });

  it('stays chosen when the provider could not be reached', async () => {
    await reopen({ needsCountry: 'revolut' });
    pages.failing.add('revolut');
    const id = pages.put(pageView(pagePayment({ provider: 'revolut', email: 'jane@example.com' })));
    const response = await choose(id, 'AT');
    expect(response.statusCode).toBe(502);
    expect(response.body).toContain('<option value="AT" selected>Austria');
    expect(buttonsTo(response.body, 'revolut')).toBe(1);
  });
});

describe('a direct link to a provider that checks where customers come from', () => {
  const email = 'jane@example.com';
  const link = (id: string) => `/pay/${id}?auto=1&email=${encodeURIComponent(email)}`;
  const withTransak = async () => {
    await reopen({ checksReferrer: 'transak' });
    return pages.put(pageView(pagePayment({ provider: 'transak', email })));
  };

  it.each<Record<string, string>>([{}, { referer: 'https://shop.example/' }, { referer: 'about:blank' }])(
    'answers with a page that leads on by itself, because a redirect would pass on %j',
    async (headers) => {
      const id = await withTransak();
      // A higher total that is known is not shown before the script goes on, so the button does not accept it.
      const deliveryUnits = null;
      pages.quoteAnswers.set('transak', async () => ({
        deliveryUnits,
        minimumUsdCents: null,
        chargedCents: 27_40,
      }));
      await open(`/pay/${id}`);
      await new Promise((resolve) => setImmediate(resolve));
      const response = await open(link(id), headers);
      expect([response.statusCode, response.headers['referrer-policy']]).toEqual([200, 'strict-origin']);
      expect(response.body).toContain(' data-auto-continue>');
      expect(decoded(response.body)).toContain(
        `<noscript><meta http-equiv="refresh" content="0; url=/pay/${id}?auto=1&refreshed=1"></noscript>`,
      );
      expect(response.body).toContain(`formaction="/pay/${id}/providers/transak"`);
      expect(pages.started).toEqual([]);
    },
  );

  it('goes straight on where the browser says that it comes from our own page', async () => {
    const id = await withTransak();
    const response = await open(`/pay/${id}?auto=1&refreshed=1`, { referer: 'http://localhost:3000/' });
    expect(response.statusCode).toBe(303);
    expect(response.headers['location']).toBe('https://transak.example/visit/1');
    expect(response.headers['referrer-policy']).toBe('strict-origin');
  });

  it('leaves the button to a browser without script that never says where it comes from', async () => {
    const id = await withTransak();
    const response = await open(`/pay/${id}?auto=1&refreshed=1`);
    expect(response.statusCode).toBe(200);
    expect(response.body).not.toContain('http-equiv="refresh"');
    expect(response.body).not.toContain('data-auto-continue');
    expect(response.body).toContain(`formaction="/pay/${id}/providers/transak"`);
  });

  it('stays a plain redirect for all other providers', async () => {
    await withTransak();
    const other = pages.put(pageView(pagePayment({ provider: 'moonpay', email })));
    expect((await open(link(other), { referer: 'https://shop.example/' })).statusCode).toBe(303);
  });
});

it('a direct link does not lead to pay a second time while the provider says that it has the money', async () => {
  const payment = pagePayment({ provider: 'moonpay', email: 'jane@example.com' });
  const id = pages.put(pageView(payment, { sessions: [pageSession(payment, { progress: 'delivering' })] }));
  const response = await open(`/pay/${id}?auto=1&email=jane%40example.com`);
  expectSays(response, 200, 'Your card is approved');
  expect(pages.started).toEqual([]);
});
