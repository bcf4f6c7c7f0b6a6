import { describe, expect, it } from 'vitest';
import { ServiceError } from '../../src/payment/errors.ts';
import { type ProviderId, providerIds } from '../../src/payment/provider-catalog.ts';
import type { ProviderSession } from '../../src/payment/provider-session.ts';
import { busy, ProviderBusyError } from '../../src/providers/adapters/provider-http.ts';
import type { ProviderAdapter } from '../../src/providers/provider.ts';
import {
  type CheckoutPages,
  checkoutStates,
  createCheckoutPages,
  pageSession,
  usePages,
} from '../support/checkout-pages.ts';
import { expectSays, textOf } from '../support/page-text.ts';
import type { QuoteAnswer } from '../support/quote-answer.ts';

let pages = {} as CheckoutPages;
const reopen = usePages((opened) => (pages = opened));

const open = (url: string, headers: Record<string, string> = {}) => pages.server.inject({ url, headers });
const look = (headers: Record<string, string> = {}) =>
  open(`/pay/${pages.put(checkoutStates.choose())}`, headers);
/** A page after the answers to the quotes that an earlier one has caused. */
async function openNew(headers: Record<string, string> = {}) {
  await look(headers);
  await new Promise((resolve) => setImmediate(resolve));
  return look(headers);
}
const delivers =
  (units: bigint, charge: Pick<QuoteAnswer, 'chargedCents'> = {}) =>
  async (): Promise<QuoteAnswer> => ({ deliveryUnits: units, minimumUsdCents: null, ...charge });
/** The providers of the list, in the order in which they can be reached. */
const orderIn = (body: string) =>
  [...body.matchAll(/formaction="[^"]*\/providers\/(?!multi)(\w+)["?]/g)].map(([, id]) => id);
/** The rows of means, with the provider behind each, the chosen one first. */
const waysIn = (body: string) => [...body.matchAll(/name="choice" value="([^"]+)"/g)].map(([, way]) => way);

it('asks for the means first, each sold by the provider whose expected delivery is the highest', async () => {
  for (const id of providerIds) pages.quoteAnswers.set(id, delivers(24_000_000n));
  pages.quoteAnswers.set('transak', delivers(25_500_000n));
  const { body } = await openNew();
  expect(waysIn(body)).toEqual(['transak card', 'paypal paypal']);
  expect(body).toMatch(/value="transak card"[^>]* checked>/);
  expect(textOf(body)).toMatch(/Card 2–15 min Through Transak · First-time ID check · Change/);
  expect(textOf(body)).toContain('You finish at Transak and pay exactly $26.10 there.');
  expect(textOf(body)).toContain('All 10 services');
  expect(orderIn(body)).toHaveLength(10);
  // The customer's last choice, and with it its means, come first the next time.
  expect(waysIn((await openNew({ cookie: 'provider=paypal' })).body)[0]).toBe('paypal paypal');
});

it('names the total of a provider that charges more, and ranks it behind those that charge the amount', async () => {
  for (const id of providerIds) pages.quoteAnswers.set(id, delivers(24_000_000n));
  pages.quoteAnswers.set('transak', delivers(26_100_000n, { chargedCents: 27_40 }));
  pages.quoteAnswers.set('coinbase', delivers(26_100_000n, { chargedCents: 28_00 }));
  const { body } = await openNew({ cookie: 'provider=coinbase' });
  expect(orderIn(body).slice(-2)).toEqual(['transak', 'coinbase']);
  expect(textOf(body)).toContain('You pay $27.40 there, fees included · Card · Usually 2–15 minutes');
  for (const id of providerIds)
    if (id !== 'transak')
      pages.quoteAnswers.set(id, () => Promise.reject(new ServiceError('provider_inactive')));
  pages.clock.monotonicMs += 60_000;
  const only = await openNew();
  expect(waysIn(only.body)).toEqual(['transak card 2740']);
  expect(textOf(only.body)).toContain(
    'Pay $27.40 You finish at Transak and pay $27.40 there, fees included.',
  );
  expect(textOf(only.body)).not.toContain('Pay $26.10');
  // One button cannot name two totals; its rows do.
  pages.quoteAnswers.set('paypal', delivers(24_000_000n));
  pages.clock.monotonicMs += 60_000;
  const { body: both } = await openNew();
  expect(textOf(both)).toMatch(
    /Card 2–15 min You pay \$27\.40 there, fees included Through.*Continue to payment/,
  );
});

it('leads to no higher total than the chosen row has shown, whatever is known by the click', async () => {
  await reopen({ account: { excludedProviders: providerIds.filter((id) => id !== 'stripe') } });
  pages.quoteAnswers.set('stripe', delivers(26_100_000n, { chargedCents: 27_40 }));
  pages.charges.set('stripe', 27_40);
  const id = pages.put(checkoutStates.choose());
  const click = (choice: string) =>
    pages.server.inject({
      method: 'POST',
      url: `/pay/${id}/providers/multi`,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      payload: new URLSearchParams({ choice, country: 'DE' }).toString(),
    });
  const { body } = await open(`/pay/${id}`);
  expect(textOf(body)).toContain('pay exactly $26.10 there.');
  expect(waysIn(body)).toEqual(['stripe card']);
  await new Promise((resolve) => setImmediate(resolve));
  for (const forged of ['', ' 2740.0', ' 27400000000', ' -2740', ' 0x2740', ' 2700'])
    expectSays(await click(`stripe card${forged}`), 409, 'Stripe: You pay $27.40 there, fees included.');
  const named = await click('stripe card');
  expect(named.body).toContain(`formaction="/pay/${id}/providers/stripe?means&#61;card&#38;total&#61;2740"`);
  expect(textOf(named.body)).toContain('pay $27.40 there, fees included.');
  expect(waysIn((await open(`/pay/${id}`)).body)).toEqual(['stripe card 2740']);
  pages.charges.set('stripe', 27_68);
  expect((await click('stripe card 2740')).statusCode).toBe(409);
  pages.charges.set('stripe', 27_67);
  expect((await click('stripe card 2740')).statusCode).toBe(303);
});

it('compares the total again at a click that would reuse a session', async () => {
  await reopen({ account: { excludedProviders: providerIds.filter((id) => id !== 'stripe') } });
  const id = pages.put(checkoutStates.choose());
  const click = (total: string) =>
    pages.server.inject({ method: 'POST', url: `/pay/${id}/providers/stripe${total}` });
  const quoteNow = async (chargedCents: number) => {
    pages.charges.set('stripe', chargedCents);
    pages.quoteAnswers.set('stripe', delivers(24_000_000n, { chargedCents }));
    pages.clock.monotonicMs += 60_000;
    await open(`/pay/${id}`);
    await new Promise((resolve) => setImmediate(resolve));
  };
  await quoteNow(28_00);
  const dearer = (await click('?total=2800')).headers.location;
  expect((await click('?total=2800')).headers.location).toBe(dearer);
  // A customer who reads a lower total does not get the session of the higher one.
  await quoteNow(26_10);
  const cheaper = (await click('')).headers.location;
  expect((await click('')).headers.location).toBe(cheaper);
  expect(cheaper).not.toBe(dearer);
  await quoteNow(28_00);
  expectSays(await click(''), 409, 'Stripe: You pay $28.00 there, fees included.');
  expect(pages.started).toEqual(['stripe', 'stripe']);
});

it('reuses a session only for a page that shows the total which its provider has stated', async () => {
  const id = pages.put(checkoutStates.choose());
  const click = async (total: number) =>
    (await pages.server.inject({ method: 'POST', url: `/pay/${id}/providers/stripe?total=${total}` })).headers
      .location;
  pages.charges.set('stripe', 28_28);
  const dearer = await click(28_00);
  expect(await click(28_28)).toBe(dearer);
  pages.charges.set('stripe', 28_00);
  const cheaper = await click(28_00);
  expect(cheaper).not.toBe(dearer);
  expect(await click(28_00)).toBe(cheaper);
  expect(pages.started).toHaveLength(2);
});

it('reuses no session for another rest of the same part', async () => {
  const {
    payment,
    observations,
    sessions: [first],
  } = checkoutStates.underpaid();
  const [{ units = 0n } = {}] = observations.deposits;
  const rest = { receivedUnits: units, progress: null, progressAtMs: null, provider: 'wert' } as const;
  const clickWith = async (chargedCents: number) => {
    const session = { ...(first as ProviderSession), ...rest, chargedCents };
    const id = pages.put({ payment, observations, sessions: [session] });
    return (await pages.server.inject({ method: 'POST', url: `/pay/${id}/providers/wert` })).headers.location;
  };
  expect(await clickWith(15_77)).toBe('https://provider.example/earlier');
  expect(await clickWith(15_90)).toBe('https://wert.example/visit/1');
});

it('says in which country nothing is sold, and lets the customer change it', async () => {
  const stripe = {
    id: 'stripe',
    countriesServed: new Set(['US']),
    quote: () => Promise.reject(new Error('silent')),
  };
  const adapters = new Map([['stripe' as const, stripe as unknown as ProviderAdapter]]);
  const account = { excludedProviders: providerIds.filter((each) => each !== 'stripe') };
  await reopen({ countryHeader: 'cf-ipcountry', adapters, account });
  const id = pages.put(checkoutStates.choose());
  const abroad = await open(`/pay/${id}`, { 'cf-ipcountry': 'DE' });
  expect(textOf(abroad.body)).toMatch(/Not available in Germany .*Where do you live\?.* Change /);
  expect(abroad.body).toContain('<option value="DE" selected>');
  expect(orderIn(abroad.body)).toEqual([]);
  const changed = await pages.server.inject({
    method: 'POST',
    url: `/pay/${id}/providers/multi`,
    headers: { 'content-type': 'application/x-www-form-urlencoded', 'cf-ipcountry': 'DE' },
    payload: 'country=US',
  });
  expect([changed.statusCode, changed.headers.location]).toEqual([303, `/pay/${id}`]);
  const cookie = String(changed.headers['set-cookie']).split(';')[0] as string;
  const here = await open(`/pay/${id}`, { 'cf-ipcountry': 'DE', cookie });
  expect(textOf(here.body)).toContain('How would you like to pay?');
  expect(waysIn(here.body)).toEqual(['stripe card']);
});

it('names a next step with every refusal of a click', async () => {
  const refuse = async (provider: 'multi' | ProviderId) => {
    const { payment, ...rest } = checkoutStates['choose-small']();
    const id = pages.put({ ...rest, payment: { ...payment, provider } });
    const { body } = await pages.server.inject({ method: 'POST', url: `/pay/${id}/providers/moonpay` });
    return { text: textOf(body), ways: orderIn(body) };
  };
  const several = await refuse('multi');
  expect(several.text).toContain('is less than MoonPay accepts. Please choose another way to pay.');
  expect(several.ways.length).toBeGreaterThan(0);
  const single = await refuse('moonpay');
  expect(single.text).toMatch(/less than MoonPay accepts\. Please contact Café Tortuga\..*cannot be paid/);
  expect(single.ways).toEqual([]);
});

it('ranks by what is delivered for the charge', async () => {
  for (const id of providerIds) pages.quoteAnswers.set(id, delivers(24_000_000n));
  pages.quoteAnswers.set('transak', delivers(25_000_000n));
  pages.quoteAnswers.set('stripe', delivers(24_900_000n, { chargedCents: 25_90 }));
  expect(orderIn((await openNew()).body).slice(0, 2)).toEqual(['stripe', 'transak']);
});

it('shows payers what the adapters state, and neither minimums nor what reaches the merchant', async () => {
  pages.quoteAnswers.set('moonpay', delivers(24_100_000n));
  const { body } = await openNew();
  expect(textOf(body)).toMatch(/Pay at Coinbase Card · Usually 1–5 minutes · Coinbase account required/);
  expect(textOf(body)).toMatch(/Pay at MoonPay Card · Usually 2–15 minutes · First-time ID check/);
  expect(textOf(body)).toMatch(/Pay at Crypto.com (?!Usually)/);
  expect(body).not.toMatch(/<small>(?:<span class="dotted">)?<\//);
  expect(textOf(body)).not.toMatch(/min\. |arrives|USDC arrive|Best value/);
});

it('says in its row why a provider cannot serve, and keeps one that is silent', async () => {
  pages.quoteAnswers.set('moonpay', async () => ({ deliveryUnits: null, minimumUsdCents: 50_00 }));
  pages.quoteAnswers.set('stripe', () => Promise.reject(new ServiceError('provider_inactive')));
  pages.quoteAnswers.set('wert', () => Promise.reject(new ServiceError('provider_unavailable')));
  pages.quoteAnswers.set('revolut', () => Promise.reject(new Error('nonsense')));
  const { body } = await openNew();
  expect(orderIn(body)).not.toContain('moonpay');
  expect(orderIn(body)).not.toContain('stripe');
  expect(orderIn(body)).toEqual(expect.arrayContaining(['wert', 'revolut']));
  expect(textOf(body)).toContain('Stripe Not available at the moment');
  expect(textOf(body)).toMatch(/Pay at Wert Card · Usually 1–5 minutes · Temporarily unavailable/);
});

it('waits for no provider, and shows to later visitors what was answered meanwhile', async () => {
  const answers = new Map<ProviderId, PromiseWithResolvers<QuoteAnswer>>();
  for (const id of providerIds) {
    const answer = Promise.withResolvers<QuoteAnswer>();
    answers.set(id, answer);
    pages.quoteAnswers.set(id, () => answer.promise);
  }
  for (const { body } of [await look(), await look()]) {
    expect(orderIn(body)).toHaveLength(providerIds.length - 1);
    expect(orderIn(body)[0]).toBe('revolut');
    expect(textOf(body)).not.toContain('Temporarily unavailable');
  }
  // Each was asked once, although none has answered.
  expect(pages.asked.toSorted()).toEqual(providerIds.filter((id) => id !== 'klarna').toSorted());
  answers.get('transak')?.resolve({ deliveryUnits: 26_000_000n, minimumUsdCents: null });
  answers.get('moonpay')?.reject(new ServiceError('provider_unavailable'));
  await new Promise((resolve) => setImmediate(resolve));
  const { body } = await look();
  expect([orderIn(body).at(0), orderIn(body).at(-1)]).toEqual(['transak', 'moonpay']);
  expect(textOf(body).split('Temporarily unavailable')).toHaveLength(2);
});

it('puts providers that fail at once behind all others, the first of the list and the last choice as well', async () => {
  pages.quoteAnswers.set('moonpay', () => Promise.reject(new ServiceError('provider_unavailable')));
  pages.quoteAnswers.set('wert', () => Promise.reject(busy('wert', 2, new ProviderBusyError(2))));
  const { body } = await openNew({ cookie: 'provider=moonpay' });
  expect(orderIn(body).at(0)).toBe('revolut');
  expect(orderIn(body).slice(-2)).toEqual(['wert', 'moonpay']);
  expect(textOf(body)).toContain('Busy at the moment');
});

it("asks for quotes in the customer's country: as the proxy says it, or as the customer has chosen it", async () => {
  await reopen({ countryHeader: 'cf-ipcountry', needsCountry: 'revolut' });
  const asked = async (headers: Record<string, string>) => {
    pages.quotedCountries.length = 0;
    pages.clock.monotonicMs += 5_000;
    await openNew(headers);
    return [...new Set(pages.quotedCountries)];
  };
  expect(await asked({})).toEqual([null]);
  expect(await asked({ 'cf-ipcountry': 'DE' })).toEqual(['DE']);
  const chosen = await pages.server.inject({
    method: 'POST',
    url: `/pay/${pages.put(checkoutStates.choose())}/providers/revolut`,
    headers: { 'content-type': 'application/x-www-form-urlencoded', 'cf-ipcountry': 'DE' },
    payload: 'country=FR',
  });
  const cookie = [chosen.headers['set-cookie']].flat().find((each) => each?.startsWith('country='));
  expect(cookie).toBe('country=FR; Path=/; HttpOnly; SameSite=Lax');
  expect(await asked({ 'cf-ipcountry': 'DE', cookie: 'country=FR' })).toEqual(['FR']);
  // The quotes of the countries are kept apart, and what is no country counts as none.
  expect(await asked({ 'cf-ipcountry': 'DE' })).toEqual([]);
  expect(await asked({ cookie: 'country=XX' })).toEqual([null]);
});

it('offers no provider in a country or state that it is known not to serve, and asks it for no quote there', async () => {
  let asked = 0;
  const stripe: ProviderAdapter = {
    id: 'stripe',
    countriesServed: new Set(['US']),
    regionsNotServed: new Set(['US-NY']),
    quote: async ({ amountCents }) => {
      asked++;
      return { chargedCents: amountCents, deliveryUnits: null, minimumUsdCents: null };
    },
    startSession: () => Promise.reject(new Error('no session')),
  };
  await reopen({ countryHeader: 'cf-ipcountry', adapters: new Map([['stripe', stripe]]) });
  for (const region of ['DE', 'US-NY'])
    expect(orderIn((await openNew({ 'cf-ipcountry': region })).body)).not.toContain('stripe');
  expect(asked).toBe(0);
  for (const region of ['US', 'US-CA'])
    expect(orderIn((await look({ 'cf-ipcountry': region })).body)).toContain('stripe');
  expect(orderIn((await look()).body)).toContain('stripe');
});

describe('with visits that ended', () => {
  const visitTimes = (times: number, provider: ProviderId, country: string | null, isDelivered: boolean) => {
    for (let count = 0; count < times; count++) pages.visits.unshift({ provider, country, isDelivered });
  };

  it('orders the list by delivered amount times success, in the country of the customer', async () => {
    await reopen({ countryHeader: 'cf-ipcountry' });
    for (const id of providerIds) pages.quoteAnswers.set(id, delivers(24_000_000n));
    pages.quoteAnswers.set('stripe', delivers(24_500_000n));
    visitTimes(1, 'wert', null, true);
    expect(orderIn((await openNew()).body).slice(0, 2)).toEqual(['wert', 'stripe']);
    visitTimes(15, 'stripe', 'DE', false);
    visitTimes(2, 'banxa', 'FR', true);
    pages.clock.monotonicMs += 60_000;
    expect(orderIn((await openNew({ 'cf-ipcountry': 'FR' })).body).at(0)).toBe('banxa');
    const inGermany = orderIn((await openNew({ 'cf-ipcountry': 'DE' })).body);
    expect(inGermany.slice(0, 2)).toEqual(['banxa', 'wert']);
    expect(inGermany.at(-1)).toBe('stripe');
    expect(orderIn((await openNew({ cookie: 'provider=stripe' })).body).at(0)).toBe('stripe');
  });

  it('offers another card at the provider that declined, then the next best, with the others folded', async () => {
    for (const id of providerIds) pages.quoteAnswers.set(id, delivers(24_000_000n));
    visitTimes(3, 'transak', null, true);
    const state = checkoutStates.choose();
    const session = pageSession(state.payment, { provider: 'transak', progress: 'failed', progressAtMs: 1 });
    const id = pages.put({ ...state, sessions: [session] });
    await openNew();
    const { body } = await pages.server.inject({
      url: `/pay/${id}`,
      headers: { cookie: 'provider=transak' },
    });
    const order = orderIn(body);
    expect(order).toHaveLength(providerIds.length - 1);
    expect(order.slice(0, 2)).toEqual(['transak', 'moonpay']);
    expect(textOf(body)).toMatch(/Try another card at Transak.*Pay with MoonPay instead/);
    expect(body).toContain('<details class="others"><summary>');
  });
});

it("offers what can serve the customer's country and amount, and asks no quote of the others", async () => {
  await reopen({ countryHeader: 'cf-ipcountry' });
  const limit = { minimumCents: 1_00, maximumCents: 10_00, isSold: true, readAtMs: 0 };
  pages.limits.set('wert DE', limit);
  pages.limits.set('transak DE', { ...limit, minimumCents: 500_00, maximumCents: null });
  pages.limits.set('banxa DE', { ...limit, isSold: false });
  const { body } = await openNew({ 'cf-ipcountry': 'DE' });
  const offered = [...body.matchAll(/formaction="[^"]*\/providers\/(\w+)"/g)].map(([, id]) => id);
  expect(offered).not.toEqual(expect.arrayContaining(['wert']));
  expect(offered.filter((id) => ['wert', 'transak', 'banxa'].includes(id ?? ''))).toEqual([]);
  expect(textOf(body)).toMatch(/Wert Only up to \$10\.00/);
  expect(textOf(body)).toMatch(/Transak Only from \$500\.00/);
  expect(pages.asked).not.toContain('wert');
  const click = (headers: Record<string, string>) =>
    pages.server.inject({
      method: 'POST',
      url: `/pay/${pages.put(checkoutStates.choose())}/providers/wert`,
      headers,
    });
  const refused = await click({ 'cf-ipcountry': 'DE' });
  expectSays(refused, 400, 'is more than Wert accepts.');
  expect((await click({ 'cf-ipcountry': 'FR' })).statusCode).toBe(303);
  pages.limits.set('wert US', { ...limit, maximumCents: null, regionsNotServed: new Set(['US-NY']) });
  expect(orderIn((await look({ 'cf-ipcountry': 'US-NY' })).body)).not.toContain('wert');
  expect(orderIn((await look({ 'cf-ipcountry': 'US-TX' })).body)).toContain('wert');
  expect((await click({ 'cf-ipcountry': 'US-NY' })).statusCode).toBe(400);
});

it('is not replaced by the poll, which asks nobody', async () => {
  pages.quoteAnswers.set('moonpay', delivers(24_100_000n));
  const id = pages.put(checkoutStates.choose());
  const { body } = await open(`/pay/${id}`);
  const revision = /data-revision="([^"]+)"/.exec(body)?.[1] as string;
  const asked = pages.asked.length;
  expect((await open(`/pay/${id}/status`, { 'if-none-match': `"${revision}"` })).statusCode).toBe(304);
  expect(pages.asked).toHaveLength(asked);
});

it('is replaced by the poll once a minimum of the operator rules a provider out, or switches a provider off', async () => {
  const id = pages.put(checkoutStates.choose());
  const revisions = new Set<unknown>();
  for (const change of [
    null,
    { active: null, pinned: null, minimumUsdCents: 99_00 },
    { active: false, pinned: null, minimumUsdCents: null },
  ]) {
    if (change !== null) pages.settings.set('wert', change);
    const { body } = await open(`/pay/${id}`);
    const poll = await open(`/pay/${id}/status`);
    expect(body).toContain(`data-revision="${poll.json().revision}"`);
    expect(poll.json().detail).not.toContain('<!--offers-->');
    revisions.add(poll.json().revision);
  }
  expect(revisions.size).toBe(3);
});

it('lets a pinned provider lead where it can serve: the merchant’s, then the operator’s, then the best', async () => {
  for (const id of providerIds) pages.quoteAnswers.set(id, delivers(24_000_000n));
  pages.quoteAnswers.set('transak', delivers(25_500_000n));
  pages.settings.set('wert', { active: null, pinned: true, minimumUsdCents: null });
  expect(orderIn((await openNew({ cookie: 'provider=stripe' })).body).slice(0, 3)).toEqual([
    'wert',
    'stripe',
    'transak',
  ]);
  await reopen({ account: { pinnedProvider: 'moonpay', excludedProviders: ['transak'] } });
  pages.settings.set('wert', { active: null, pinned: true, minimumUsdCents: null });
  for (const id of providerIds) pages.quoteAnswers.set(id, delivers(24_000_000n));
  const { body } = await openNew();
  expect(orderIn(body).slice(0, 2)).toEqual(['moonpay', 'wert']);
  expect(body).not.toContain('Transak');
  pages.quoteAnswers.set('moonpay', () => Promise.reject(new ServiceError('provider_inactive')));
  pages.clock.monotonicMs += 60_000;
  expect(orderIn((await openNew()).body)[0]).toBe('wert');
});

it('starts no session at a provider that the merchant excludes, and says so for a checkout of that provider alone', async () => {
  await reopen({ account: { excludedProviders: ['wert'] } });
  const id = pages.put(checkoutStates.choose());
  const click = await pages.server.inject({ method: 'POST', url: `/pay/${id}/providers/wert` });
  expect(click.statusCode).toBe(400);
  expect(pages.started).toEqual([]);
  const { payment, ...rest } = checkoutStates.choose();
  const alone = pages.put({ ...rest, payment: { ...payment, provider: 'wert' } });
  expect(textOf((await open(`/pay/${alone}`)).body)).toContain('Wert');
});

it('puts the provider first that the customer went to the last time', async () => {
  const id = pages.put(checkoutStates.choose());
  const click = await pages.server.inject({ method: 'POST', url: `/pay/${id}/providers/transak` });
  expect(click.headers['set-cookie']).toBe(
    'provider=transak; Path=/; Max-Age=31536000; HttpOnly; SameSite=Lax',
  );
  const { body } = await openNew({ cookie: 'a=b; provider=transak' });
  expect(orderIn(body).slice(0, 3)).toEqual(['transak', 'revolut', 'coinbase']);
  expect(textOf(body)).toMatch(/Through Transak · Your last choice · /);
  for (const value of ['nobody', '<script>', 'klarna'])
    expect(orderIn((await openNew({ cookie: `provider=${value}` })).body)[0]).toBe('revolut');
});

it('asks for the country where a provider needs it, and goes on with the answer', async () => {
  const asking = createCheckoutPages({ needsCountry: 'revolut' });
  const id = asking.put(checkoutStates.choose());
  const post = (payload: string) =>
    asking.server.inject({
      method: 'POST',
      url: `/pay/${id}/providers/revolut`,
      headers: { 'content-type': 'application/x-www-form-urlencoded', 'accept-language': 'de' },
      payload,
    });
  const question = await post('');
  expectSays(question, 200, 'In welchem Land wohnen Sie?');
  expect(question.body).toContain('<option value="AT">Österreich');
  for (const nonsense of ['country=', 'country=XX', 'country=de', 'country=DE%00']) {
    const again = await post(nonsense);
    expectSays(again, 400, 'Bitte wählen Sie Ihr Land aus: Revolut benötigt diese Angabe.');
  }
  expect(asking.started).toEqual([]);
  expect((await post('country=AT')).statusCode).toBe(303);
  expect(asking.countries).toEqual(['AT']);
});
