import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MAXIMUM_SESSIONS_PER_PAYMENT } from '../../src/domain/provider-session.ts';
import {
  type CheckoutPages,
  checkoutStates,
  createCheckoutPages,
  pagePayment,
  pageSession,
  pageView,
} from '../support/checkout-pages.ts';

let pages: CheckoutPages;
beforeEach(() => {
  pages = createCheckoutPages();
});
afterEach(() => pages.server.close());

const click = (id: string, provider: string, headers: Record<string, string> = {}) =>
  pages.server.inject({
    method: 'POST',
    url: `/pay/${id}/providers/${provider}`,
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    payload: '',
  });
const open = (url: string, headers: Record<string, string> = {}) => pages.server.inject({ url, headers });

const single = () => pageView(pagePayment({ provider: 'moonpay', email: 'jane@example.com' }));

describe('a click on a provider', () => {
  it('leads there with a 303 that is not kept', async () => {
    const response = await click(pages.put(checkoutStates.choose()), 'wert');
    expect(response.statusCode).toBe(303);
    expect(response.headers['location']).toBe('https://wert.example/visit/1');
    expect(response.headers['cache-control']).toBe('no-store');
    expect(response.headers['referrer-policy']).toBe('strict-origin');
  });

  it('starts one visit however often and fast it is made', async () => {
    const id = pages.put(checkoutStates.choose());
    const together = await Promise.all([click(id, 'wert'), click(id, 'wert'), click(id, 'wert')]);
    const later = await click(id, 'wert');
    const locations = [...together, later].map(({ headers }) => headers['location']);
    expect(new Set(locations)).toEqual(new Set(['https://wert.example/visit/1']));
    expect(pages.started).toEqual(['wert']);
    expect(pages.view(id).sessions).toHaveLength(1);
  });

  it('shows the page again when the provider does not answer, with the others to choose from', async () => {
    pages.failing.add('moonpay');
    const id = pages.put(checkoutStates.choose());
    const response = await click(id, 'moonpay');
    expect(response.statusCode).toBe(502);
    expect(response.headers['content-type']).toBe('text/html; charset=utf-8');
    expect(response.body).toContain('MoonPay could not be reached. Your card was not charged.');
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
      await odd.server.close();
    }
  });

  it('says why a provider cannot serve, and starts nothing', async () => {
    const id = pages.put(checkoutStates.choose());
    expect((await click(id, 'klarna')).body).toContain('Klarna does not take payments in USD.');
    const small = pages.put(checkoutStates['choose-small']());
    const response = await click(small, 'moonpay');
    expect(response.statusCode).toBe(400);
    expect(response.body).toContain('$3.00 is less than MoonPay accepts.');
    pages.settings.set('wert', { active: false, minimumUsdCents: null });
    expect((await click(id, 'wert')).body).toContain('Wert is not available at the moment.');
    expect(pages.started).toEqual([]);
  });

  it("refuses a provider that does not exist or is not this payment's", async () => {
    const response = await click(pages.put(checkoutStates.choose()), 'nobody');
    expect(response.statusCode).toBe(400);
    expect(response.body).toContain('There is no such provider.');
    const other = await click(pages.put(single()), 'wert');
    expect(other.statusCode).toBe(400);
    expect(other.body).toContain('This checkout is for another provider.');
    expect(pages.started).toEqual([]);
  });

  it.each([
    'underpaid',
    'seen',
    'sending',
    'delayed',
    'needs-a-hand',
    'paid',
    'canceled',
    'expired',
    'closed-with-money',
    'closed-and-released',
  ] as const)('charges nobody for a checkout that is %s by now', async (name) => {
    const response = await click(pages.put(checkoutStates[name]()), 'moonpay');
    expect(response.statusCode).toBe(409);
    expect(response.body).not.toContain('<button');
    expect(pages.started).toEqual([]);
  });

  it('is bounded for a payment', async () => {
    const payment = pagePayment();
    const sessions = Array.from({ length: MAXIMUM_SESSIONS_PER_PAYMENT }, () =>
      pageSession(payment, { provider: 'wert', expiresAtMs: 0 }),
    );
    const response = await click(pages.put(pageView(payment, { sessions })), 'moonpay');
    expect(response.statusCode).toBe(429);
    expect(response.headers['retry-after']).toBe('3600');
    expect(response.body).toContain('opened too often');
  });

  it('for an unknown payment leads to the page that says so', async () => {
    expect((await click('unknown', 'wert')).statusCode).toBe(404);
  });

  it('counts only as a form: opening its address does nothing', async () => {
    const id = pages.put(checkoutStates.choose());
    const response = await open(`/pay/${id}/providers/wert`);
    expect(response.statusCode).toBe(405);
    expect(response.headers['allow']).toBe('POST');
    expect(response.body).toContain(`href="/pay/${id}"`);
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
    const json = await pages.server.inject({ method: 'POST', url, payload: { a: 1 } });
    expect(json.statusCode).toBe(415);
    expect(pages.started).toEqual([]);
  });
});

describe('opening a checkout with auto=1', () => {
  it('leads straight to the provider, once started again and again', async () => {
    const id = pages.put(single());
    const first = await open(`/pay/${id}?auto=1&email=jane%40example.com`);
    expect(first.statusCode).toBe(303);
    expect(first.headers['location']).toBe('https://moonpay.example/visit/1');
    expect(first.headers['cache-control']).toBe('no-store');
    expect((await open(`/pay/${id}?auto=1`)).headers['location']).toBe('https://moonpay.example/visit/1');
    expect(pages.started).toEqual(['moonpay']);
  });

  it('shows the page to those who come back unpaid, and a way to go on', async () => {
    const id = pages.put(single());
    await open(`/pay/${id}?auto=1`);
    const back = await open(`/pay/${id}?returned=1`);
    expect(back.statusCode).toBe(200);
    expect(back.body).toContain('Continue at MoonPay');
    expect((await open(`/pay/${id}?auto=1&returned=1`)).statusCode).toBe(200);
  });

  it.each<Record<string, string>>([
    { 'sec-purpose': 'prefetch' },
    { purpose: 'prefetch' },
    { 'user-agent': 'WhatsApp/2.23' },
    { 'user-agent': 'facebookexternalhit/1.1' },
  ])('starts no visit for %j', async (headers) => {
    const response = await open(`/pay/${pages.put(single())}?auto=1`, headers);
    expect(response.statusCode).toBe(200);
    expect(pages.started).toEqual([]);
  });

  it('shows the page where the payment does not say both, whatever the query adds', async () => {
    const noEmail = pages.put(pageView(pagePayment({ provider: 'moonpay' })));
    expect((await open(`/pay/${noEmail}?auto=1&email=x%40example.com`)).statusCode).toBe(200);
    const multi = pages.put(pageView(pagePayment({ email: 'jane@example.com' })));
    expect((await open(`/pay/${multi}?auto=1`)).statusCode).toBe(200);
    expect(pages.started).toEqual([]);
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

  it('shows the page with the reason when the provider does not answer', async () => {
    pages.failing.add('moonpay');
    const response = await open(`/pay/${pages.put(single())}?auto=1`);
    expect(response.statusCode).toBe(502);
    expect(response.body).toContain('MoonPay could not be reached.');
    expect(response.body).toContain('Continue to MoonPay');
  });
});
