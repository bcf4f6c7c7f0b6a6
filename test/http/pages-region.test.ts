import { beforeEach, expect, it } from 'vitest';
import {
  type CheckoutPages,
  createCheckoutPages,
  NOW_MS,
  pagePayment,
  pageSession,
  pageView,
} from '../support/checkout-pages.ts';
import { textOf } from '../support/page-text.ts';

let pages: CheckoutPages;
beforeEach(() => {
  pages = createCheckoutPages({ countryHeader: 'x-country' });
});

const open = async (url: string) => (await pages.server.inject({ url })).body;
const waysIn = (body: string) =>
  [...body.matchAll(/formaction="[^"]*\/providers\/(\w+)"/g)].map(([, id]) => id);
const banner = 'MoonPay does not serve customers in your region.';

it('a customer whom a provider sends back for the region reads so, and chooses among the others', async () => {
  const payment = pagePayment();
  const id = pages.put(pageView(payment, { sessions: [pageSession(payment)] }));
  const before = await open(`/pay/${id}`);
  expect(textOf(before)).toContain('Waiting for your payment at MoonPay');
  const back = await open(`/pay/${id}?returned=1&unserved=moonpay`);
  expect(textOf(back)).toContain(banner);
  expect(textOf(back)).not.toContain('Waiting for your payment');
  expect(waysIn(back)).toContain('wert');
  expect(waysIn(back)).not.toContain('moonpay');
  expect(back).toContain('data-refresh-seconds=""');
  expect(textOf(await open(`/pay/${id}`))).toBe(textOf(before));
  expect(pages.started).toEqual([]);
});

it('a customer whom a provider refuses on the click for the region reads so, and can choose another', async () => {
  pages.unserving.add('stripe');
  const id = pages.put(pageView(pagePayment()));
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  const click = { method: 'POST', url: `/pay/${id}/providers/stripe`, headers, payload: '' } as const;
  const { statusCode, body } = await pages.server.inject(click);
  expect(statusCode).toBe(400);
  expect(textOf(body)).toContain('Stripe does not serve customers in your region.');
  expect(waysIn(body)).toContain('wert');
});

it('a checkout with that provider alone says that it cannot be paid there', async () => {
  const id = pages.put(pageView(pagePayment({ provider: 'moonpay' })));
  const back = textOf(await open(`/pay/${id}?returned=1&unserved=moonpay`));
  expect(back).toContain(banner);
  expect(back).toContain('This cannot be paid at the moment');
});

it.each(['', 'evil', 'https://evil.example/', 'toString', 'moonpay&unserved=wert'])(
  'an invented marker changes nothing: %j',
  async (marker) => {
    const id = pages.put(pageView(pagePayment()));
    const page = await open(`/pay/${id}?returned=1&unserved=${marker}`);
    expect(page).not.toMatch(/evil|does not serve/);
    expect(waysIn(page)).toContain('moonpay');
  },
);

it('the marker hides no payment that is under way', async () => {
  const payment = pagePayment();
  const session = pageSession(payment, { progress: 'delivering', progressAtMs: NOW_MS - 1_000 });
  const id = pages.put(pageView(payment, { sessions: [session] }));
  expect(textOf(await open(`/pay/${id}?unserved=moonpay`))).toBe(textOf(await open(`/pay/${id}`)));
});

it.each([
  ['US-NY', 'US', 'NY'],
  ['us-ny', 'US', 'NY'],
  ['US', 'US', null],
  ['CA-QC', 'CA', null],
  ['US-', null, null],
  ['XX-NY', null, null],
  ['US-NY-1', null, null],
  ['de', 'DE', null],
  ['T1', null, null],
  ['D3', null, null],
  ['Germany', null, null],
  ['', null, null],
])('a proxy that reports %s tells of country %s and state %s', async (header, country, state) => {
  const id = pages.put(pageView(pagePayment()));
  await pages.server.inject({
    method: 'POST',
    url: `/pay/${id}/providers/wert`,
    headers: { 'content-type': 'application/x-www-form-urlencoded', 'x-country': header },
    payload: '',
  });
  expect([pages.countries, pages.states]).toEqual([[country], [state]]);
});
