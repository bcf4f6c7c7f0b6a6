import { describe, expect, it } from 'vitest';
import { customerFacts, type ProviderId, providerIds } from '../../src/payment/provider-catalog.ts';
import {
  type CheckoutPages,
  type CheckoutPagesOptions,
  checkoutStates,
  pagePayment,
  pageView,
  usePages,
} from '../support/checkout-pages.ts';
import { textOf } from '../support/page-text.ts';

let pages = {} as CheckoutPages;
const reopen = usePages((opened) => (pages = opened), { trustProxy: ['127.0.0.1'] });

const iphone =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1';
const chrome =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36';

interface Click {
  readonly provider?: string;
  /** In the form. */
  readonly means?: string;
  /** The chosen row. */
  readonly choice?: string;
  readonly country?: string;
  /** Of the address. */
  readonly query?: string;
  readonly agent?: string;
  readonly ip?: string | undefined;
}

async function click(id: string, { provider = 'multi', query = '', agent = iphone, ip, ...fields }: Click) {
  return pages.server.inject({
    method: 'POST',
    url: `/pay/${id}/providers/${provider}${query}`,
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      'user-agent': agent,
      ...(ip === undefined ? {} : { 'x-forwarded-for': ip }),
    },
    payload: new URLSearchParams(fields as Record<string, string>).toString(),
  });
}

/** A checkout whose page has heard what the providers deliver. */
async function quoted(units: Readonly<Partial<Record<ProviderId, bigint>>>): Promise<string> {
  for (const id of providerIds)
    pages.quoteAnswers.set(id, async () => ({
      deliveryUnits: units[id] ?? 23_000_000n,
      minimumUsdCents: null,
    }));
  const id = pages.put(checkoutStates.choose());
  await pages.server.inject({ url: `/pay/${id}` });
  await new Promise((resolve) => setImmediate(resolve));
  return id;
}

it.each([
  ['an iPhone', iphone, ['card', 'apple_pay', 'paypal']],
  ['Chrome', chrome, ['card', 'google_pay', 'paypal']],
  ['an unknown browser', 'curl/8.5', ['card', 'paypal']],
])('the page and its updates offer only the wallets that may work in %s', async (_, agent, means) => {
  const url = `/pay/${pages.put(checkoutStates.choose())}`;
  for (const path of [url, `${url}/status`]) {
    const { body } = await pages.server.inject({ url: path, headers: { 'user-agent': agent } });
    const rows = body.replaceAll('\\"', '"').matchAll(/name="choice" value="\w+ (\w+)"/g);
    expect([...rows].map(([, each]) => each).toSorted()).toEqual(means.toSorted());
  }
});

it('a click on a row leads to the provider that the row named, or says why it cannot', async () => {
  const id = await quoted({ banxa: 26_000_000n });
  const { body } = await pages.server.inject({ url: `/pay/${id}`, headers: { 'user-agent': iphone } });
  expect(body).toContain('value="banxa apple_pay"');
  // Meanwhile another provider has become the best one.
  for (const choice of ['moonpay apple_pay', 'wert card'])
    expect((await click(id, { choice })).headers.location).toContain(choice.split(' ')[0]);
  expect(pages.means).toEqual(['apple_pay', null]);
  pages.settings.set('banxa', { active: false, pinned: null, minimumUsdCents: null });
  const refused = await click(id, { choice: 'banxa apple_pay' });
  expect(refused.statusCode).toBe(400);
  expect(textOf(refused.body)).toContain('Banxa is not available at the moment. Your card was not charged.');
  for (const choice of ['', 'nobody card', 'moonpay cash', 'moonpay toString'])
    expect((await click(id, { choice })).statusCode).toBe(400);
});

it('lists behind "Change" the providers that sell the means here, each of them asked for it', async () => {
  const id = await quoted({ banxa: 26_000_000n });
  const open = async (query: string) =>
    (await pages.server.inject({ url: `/pay/${id}${query}`, headers: { 'user-agent': iphone } })).body;
  const links = [...(await open('')).matchAll(/href="[^"]*\?change=(\w+)#change"/g)].map(
    ([, means]) => means,
  );
  expect(links.toSorted()).toEqual(['apple_pay', 'card']);
  const list = await open('?change=apple_pay');
  const actions = [...list.matchAll(/formaction="[^"]*\/providers\/([^"]+)"/g)].map(([, action]) => action);
  const sellers = providerIds.filter((each) => customerFacts[each].means.includes('apple_pay'));
  expect(actions.toSorted()).toEqual(sellers.map((each) => `${each}?means&#61;apple_pay`).toSorted());
  expect(actions[0]).toMatch(/^banxa/);
  expect(list).toMatch(new RegExp(`<h2>Apple Pay</h2>[^]*<a href="/pay/${id}\\?means=apple_pay">`));
  for (const query of ['?change=klarna', '?change=google_pay', '?change=cash'])
    expect(await open(query)).toContain('name="choice"');
  expect(await open('?means=apple_pay')).toMatch(/value="banxa apple_pay"[^>]* checked>/);
});

it('says who needs the country beside the question for it', async () => {
  await reopen({ needsCountry: 'revolut' });
  const { body } = await pages.server.inject({ url: `/pay/${pages.put(checkoutStates.choose())}` });
  expect(textOf(body)).toContain('Where do you live? Revolut needs to know your country.');
  expect(body).toMatch(/<select id="country"[^>]* aria-describedby="country-reason"/);
});

describe('a click that names means', () => {
  it('asks the named provider for them, from the form or the address', async () => {
    const id = pages.put(checkoutStates.choose());
    for (const asked of [{ means: 'apple_pay' }, { query: '?means=google_pay' }, { means: 'card' }, {}])
      expect((await click(id, { provider: 'transak', ...asked })).statusCode).toBe(303);
    // A card is what it is asked for anyway.
    expect(pages.means).toEqual(['apple_pay', 'google_pay', null]);
  });

  it('goes to the provider that delivers most of those that can be asked for them', async () => {
    const id = await quoted({ wert: 26_000_000n, banxa: 25_500_000n, revolut: 25_000_000n });
    expect((await click(id, { means: 'card' })).headers.location).toContain('wert');
    const reply = await click(id, { means: 'apple_pay' });
    expect(reply.headers.location).toContain('banxa');
    expect(String(reply.headers['set-cookie'])).not.toContain('provider=');
    expect(pages.means).toEqual([null, 'apple_pay']);
    for (const means of ['paypal', 'klarna'] as const) {
      const euros = pages.put(pageView(pagePayment({ currency: 'EUR' })));
      expect((await click(euros, { means })).headers.location).toContain(means);
    }
  });

  it("holds to the merchant's pin and exclusions, and to the only provider of a payment", async () => {
    const openFor = async (account: CheckoutPagesOptions['account'] = {}) => {
      await reopen({ account });
      return quoted({ banxa: 26_000_000n });
    };
    const pinned = await openFor({ pinnedProvider: 'rampnetwork' });
    expect((await click(pinned, { means: 'apple_pay' })).headers.location).toContain('rampnetwork');
    const excluded = await openFor({ excludedProviders: ['banxa'] });
    expect((await click(excluded, { means: 'apple_pay' })).headers.location).not.toContain('banxa');
    const single = pages.put(pageView(pagePayment({ provider: 'revolut' })));
    expect((await click(single, { means: 'apple_pay' })).headers.location).toContain('revolut');
    const without = pages.put(pageView(pagePayment({ provider: 'wert' })));
    expect((await click(without, { means: 'apple_pay' })).statusCode).toBe(400);
  });

  it.each([
    ['unknown means', { means: 'cash' }],
    ['a name that every object has', { means: 'toString' }],
    ['repeated means', { query: '?means=card&means=apple_pay' }],
    ['a choice without means', {}],
    ['Google Pay on an iPhone', { means: 'google_pay' }],
    ['Apple Pay in Chrome', { means: 'apple_pay', agent: chrome }],
  ])('starts nothing for %s', async (_, asked) => {
    const { statusCode, body } = await click(pages.put(checkoutStates.choose()), asked);
    expect(statusCode).toBe(400);
    expect(textOf(body)).toContain('How would you like to pay?');
    expect(pages.started).toEqual([]);
  });

  it('asks a customer whose card was declined for the country, and no update takes the question away', async () => {
    await reopen({ needsCountry: 'revolut' });
    const id = pages.put(checkoutStates['refused-by-provider']());
    const { body } = await click(id, { provider: 'revolut' });
    expect(body).toContain('name="country"');
    const revision = /data-revision="([^"]+)"/.exec(body)?.[1];
    const headers = { 'user-agent': iphone, 'if-none-match': `"${revision}"` };
    expect((await pages.server.inject({ url: `/pay/${id}/status`, headers })).statusCode).toBe(304);
  });

  it('keeps them while it asks for the country', async () => {
    await reopen({ needsCountry: 'revolut' });
    const id = pages.put(pageView(pagePayment({ provider: 'revolut' })));
    const asked = await click(id, { means: 'apple_pay' });
    expect(asked.body).toContain(`/pay/${id}/providers/revolut?means&#61;apple_pay"`);
    const query = '?means=apple_pay';
    expect((await click(id, { provider: 'revolut', query, country: 'DE' })).statusCode).toBe(303);
    expect([pages.means, pages.countries]).toEqual([['apple_pay'], ['DE']]);
  });
});

it.each([undefined, '203.0.113.7'])(
  'a link is reused only for the same means, for a customer at %s',
  async (ip) => {
    const id = pages.put(checkoutStates.choose());
    const go = async (means?: string) => {
      const asked = { provider: 'moonpay', ip, ...(means === undefined ? {} : { means }) };
      return (await click(id, asked)).headers.location;
    };
    const [card, apple, google] = [await go(), await go('apple_pay'), await go('google_pay')];
    expect(new Set([card, apple, google]).size).toBe(3);
    const again = [await go('google_pay'), await go('card'), await go('apple_pay'), await go()];
    expect(again).toEqual([google, card, apple, card]);
    expect(pages.means).toEqual([null, 'apple_pay', 'google_pay']);
  },
);
