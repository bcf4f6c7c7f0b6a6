import { beforeEach, describe, expect, it } from 'vitest';
import type { Payment } from '../../src/payment/payment.ts';
import { providerCatalog } from '../../src/payment/provider-catalog.ts';
import { MAXIMUM_SESSIONS_PER_HOUR } from '../../src/payment/provider-session.ts';
import { adapterWith } from '../providers/stage.ts';
import {
  type CheckoutPages,
  createCheckoutPages,
  pagePayment,
  pageSession,
  pageView,
} from '../support/checkout-pages.ts';
import { textOf } from '../support/page-text.ts';

const email = 'Jane.Doe+shop@Zebra.example';
/** As `checkout_url` carries it. */
const withEmail = `email=${encodeURIComponent(email)}`;

let pages: CheckoutPages;
let id: string;
beforeEach(() => {
  pages = createCheckoutPages({ needsCountry: 'revolut' });
  id = pages.put(pageView(pagePayment({ email })));
});

const open = (url: string, headers: Record<string, string> = {}) => pages.server.inject({ url, headers });
const post = (url: string, fields: Record<string, string> = {}, headers: Record<string, string> = {}) =>
  pages.server.inject({
    method: 'POST',
    url,
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    payload: new URLSearchParams(fields).toString(),
  });
const click = (fields: Record<string, string> = {}, headers: Record<string, string> = {}) =>
  post(`/pay/${id}/providers/wert`, fields, headers);

/** The hidden field of a page's forms, as a browser would send it. */
function tokenIn(body: string): Record<string, string> {
  const values = [...body.matchAll(/name="email_token" value="([^"]+)"/g)].map(
    ([, value]) => value as string,
  );
  return values[0] === undefined ? {} : { email_token: values[0] };
}
function cookiesOf(headers: Record<string, unknown>): string {
  return [headers['set-cookie'] ?? []]
    .flat()
    .map((cookie) => String(cookie).split(';')[0])
    .join('; ');
}

describe("the customer's email address", () => {
  it.each([email, 'jane.doe+shop@zebra.example', '  JANE.DOE+SHOP@ZEBRA.EXAMPLE '])(
    'goes to the provider for a visitor whose link carries it: %j',
    async (given) => {
      const page = await open(`/pay/${id}?email=${encodeURIComponent(given)}`);
      expect(textOf(page.body)).toContain(
        'We share your email address, J…@Zebra.example, with the payment service.',
      );
      expect((await click(tokenIn(page.body))).statusCode).toBe(303);
      expect(pages.emails).toEqual([email]);
    },
  );

  it.each([
    '',
    '?email=',
    '?email=jane.doe%40zebra.example',
    `?email=x&${withEmail}`,
    `?email=${'x'.repeat(300)}`,
    `?${withEmail}x`,
  ])('stays here for every other link, which can be paid all the same: %j', async (query) => {
    const page = await open(`/pay/${id}${query}`);
    expect(page.statusCode).toBe(200);
    expect(page.headers['set-cookie']).toBeUndefined();
    expect(tokenIn(page.body)).toEqual({});
    expect(page.body.toLowerCase()).not.toMatch(/jane|doe\+|shop@|zebra/);
    expect(textOf(page.body)).toContain('•••@•••');
    expect((await click()).statusCode).toBe(303);
    expect(pages.emails).toEqual([null]);
  });

  it('cannot be found by guessing: after ten wrong addresses in an hour none is confirmed', async () => {
    const confirms = async (query: string) =>
      Object.keys(tokenIn((await open(`/pay/${id}?${query}`)).body)).length > 0;
    for (let guess = 0; guess < 9; guess++)
      expect(await confirms(`email=${guess}@zebra.example`)).toBe(false);
    expect(await confirms(withEmail)).toBe(true);
    expect(await confirms('email=9@zebra.example')).toBe(false);
    expect(await confirms(withEmail)).toBe(false);
  });

  it('goes along with the question for the country, without a script and without cookies', async () => {
    const page = await open(`/pay/${id}?${withEmail}`);
    const path = `/pay/${id}/providers/revolut`;
    const question = await post(path, tokenIn(page.body));
    expect(question.statusCode).toBe(200);
    expect((await post(path, { ...tokenIn(question.body), country: 'AT' })).statusCode).toBe(303);
    expect(pages.emails).toEqual([email]);
  });

  it('still goes along after the page was loaded again without it, and when the customer comes back', async () => {
    const page = await open(`/pay/${id}?${withEmail}`);
    const cookie = cookiesOf(page.headers);
    for (const query of ['', '?lang=de', '?returned=1']) {
      const again = await open(`/pay/${id}${query}`, { cookie });
      expect(textOf(again.body)).toContain('J…@Zebra.example');
      expect(tokenIn(again.body)).not.toEqual({});
    }
    await click({}, { cookie });
    expect(pages.emails).toEqual([email]);
  });

  it('is in no cookie and in no field, and the cookie is for this checkout alone', async () => {
    const page = await open(`/pay/${id}?${withEmail}`);
    expect(page.headers['set-cookie']).toMatch(
      new RegExp(`^email_token=[\\w-]{43}; Path=/pay/${id}; HttpOnly; SameSite=Lax$`),
    );
    expect(JSON.stringify(tokenIn(page.body))).not.toMatch(/jane/i);
  });

  it('takes no token of another payment, of another address or of nobody', async () => {
    const other = pages.put(pageView(pagePayment({ email })));
    const otherToken = tokenIn((await open(`/pay/${other}?${withEmail}`)).body);
    const own = tokenIn((await open(`/pay/${id}?${withEmail}`)).body);
    const view = pages.view(id);
    const guesses = [otherToken, ...['', 'x'.repeat(43), 'é'].map((email_token) => ({ email_token }))];
    for (const guess of guesses) await click(guess);
    pages.put({ ...view, payment: { ...view.payment, email: 'someone@else.example' } });
    await click(own);
    expect(pages.emails.every((each) => each === null)).toBe(true);
  });

  it('is nowhere in the log', async () => {
    pages.failing.add('wert');
    const page = await open(`/pay/${id}?${withEmail}`);
    for (let count = 0; count < 101; count++) await open(`/pay/${id}?${withEmail}`);
    await click(tokenIn(page.body));
    expect(pages.logLines.length).toBeGreaterThan(0);
    expect(pages.logLines.join('').toLowerCase()).not.toMatch(/jane|zebra/);
  });
});

describe('a session that shows the email address at the provider', () => {
  it('is handed to no visitor who does not know the address, not even while it is being started', async () => {
    const token = tokenIn((await open(`/pay/${id}?${withEmail}`)).body);
    const [own, stranger] = await Promise.all([click(token), click()]);
    const later = await click();
    expect(own.headers['location']).not.toBe(stranger.headers['location']);
    expect(later.headers['location']).toBe(stranger.headers['location']);
    expect(pages.emails).toEqual([email, null]);
  });

  it("stays the customer's, whatever visitors with the bare link start in between", async () => {
    const token = tokenIn((await open(`/pay/${id}?${withEmail}`)).body);
    const first = await click(token);
    await click();
    await post(`/pay/${id}/providers/moonpay`);
    expect((await click(token)).headers['location']).toBe(first.headers['location']);
  });

  it('can be started although others with the bare link have used up theirs', async () => {
    const payment = pagePayment({ email });
    const sessions = Array.from({ length: MAXIMUM_SESSIONS_PER_HOUR }, () =>
      pageSession(payment, { provider: 'wert', expiresAtMs: 0, hasEmail: false }),
    );
    id = pages.put(pageView(payment, { sessions }));
    expect((await click()).statusCode).toBe(429);
    const token = tokenIn((await open(`/pay/${id}?${withEmail}`)).body);
    expect((await click(token)).statusCode).toBe(303);
  });
});

it('a short link leads to a checkout that can be paid, and gives the provider no address', async () => {
  const payment = pagePayment({ provider: 'moonpay', email });
  id = pages.put(pageView(payment));
  expect((await open(`/pay/${id}?auto=1`)).statusCode).toBe(303);
  expect(pages.emails).toEqual([null]);
  await open(`/pay/${id}?auto=1&${withEmail}`);
  expect(pages.emails).toEqual([null, email]);
});

it.each([
  ['revolut', null, false, '1–10'],
  ['banxa', null, false, '5–30'],
  ['moonpay', null, true, '2–15'],
  ['paypal', 'banxa', false, '5–30'],
  ['paypal', 'moonpay', true, '2–15'],
] as const)(
  'what the page says of %s by way of %j is true of that way',
  async (provider, route, isTold, time) => {
    const key = { API_KEY: 'key', SECRET_KEY: 'key', PARTNER: 'shop', BASE_URL: 'http://127.0.0.1:1' };
    const adapter = adapterWith(provider, { ...key, ...(route === null ? {} : { ROUTE: route }) });
    pages = createCheckoutPages({ adapters: new Map([[provider, adapter]]) });
    const view = async (chosen: Payment['provider']) => {
      const payment = pagePayment({ provider: chosen, email, currency: 'EUR' });
      return textOf((await open(`/pay/${pages.put(pageView(payment))}?${withEmail}`)).body);
    };
    expect((await view(provider)).includes('We share your email address')).toBe(isTold);
    const told = isTold ? 'We share your email address' : 'If the payment service accepts an email address';
    expect(await view('multi')).toContain(told);
    const { name } = providerCatalog[provider];
    expect(await view('multi')).toMatch(new RegExp(`${name} (Card · )?Usually ${time} minutes`));
  },
);
