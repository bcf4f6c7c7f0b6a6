import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { scaleToCharge } from '../../src/providers/adapters/stripe.ts';
import { serveJson } from './serve-json.ts';
import { adapterWith, outcomeOf, someSession } from './stage.ts';
import { stripeSigned } from './webhooks.ts';

const OTHER_WALLET = '0x52908400098527886E0F7030069857D2E4169EE7';
const OWN_WALLET = someSession.depositAddress;
const EMAIL = 'customer_information[email]';
const QUOTES = '/api/v1/crypto/onramp_quotes';
const EARLIER_QUOTES = '/api/v1/crypto/onramp/quotes';
const locked = {
  wallet_address: OWN_WALLET,
  lock_wallet_address: true,
  destination_currencies: ['usdc'],
  destination_networks: ['polygon'],
};
/** As in Stripe's own fixture: null for each network without an address, and an object among the addresses. */
const ofFixture = { ethereum: null, polygon: null, solana: null, destination_tags: { stellar: null } };
/** 200.00 USD, as in Stripe's published example. */
const published = { ...someSession, currency: 'USD', amountCents: 200_00, usdUnits: 200_000_000n } as const;

/** Fees through both of Stripe's published points on Solana: 3.05 of 100.00 USD, and 12.71 of 200.00. */
const publishedFee = (cents: number) =>
  Math.round(cents <= 100_00 ? cents * 0.0305 : 3_05 + (cents - 100_00) * 0.0966);

function publishedQuote(query: URLSearchParams) {
  const cents = Math.round(Number(query.get('source_amount')) * 100);
  const feeCents = publishedFee(cents) - 1;
  return {
    destination_currency: 'usdc',
    destination_amount: (cents / 100).toFixed(2),
    fees: { network_fee_monetary: '0.01', transaction_fee_monetary: (feeCents / 100).toFixed(2) },
    source_total_amount: ((cents + feeCents + 1) / 100).toFixed(2),
  };
}

interface StripeAnswers {
  readonly details?: unknown;
  readonly quote?: (query: URLSearchParams) => unknown;
  readonly refuses?: (path: string) => { readonly status: number; readonly body: unknown } | null;
}

/** A Stripe that makes sessions with these details, whatever it is asked for. */
async function startStripe({ details = locked, quote = publishedQuote, refuses }: StripeAnswers = {}) {
  const session = { id: 'cos_1', redirect_url: 'https://crypto.link.com/1', transaction_details: details };
  const server = await serveJson((path, query) => {
    const refused = refuses?.(path) ?? null;
    if (refused !== null) return refused;
    return {
      body: path.endsWith('quotes') ? { destination_network_quotes: { polygon: [quote(query)] } } : session,
    };
  });
  const adapter = adapterWith('stripe', { API_KEY: 'sk_test_1', BASE_URL: server.url });
  const form = () => new URLSearchParams(server.requests.find(({ method }) => method === 'POST')?.body);
  return { server, adapter, form };
}

describe('the charge', () => {
  it('of the published examples is the amount, fees included, and the session is started for less', async () => {
    const { adapter, server, form } = await startStripe();
    const quote = await adapter.quote(published);
    expect(quote.chargedCents).toBe(200_00);
    const asked = () => server.requests.map(({ query }) => query.get('source_amount'));
    expect(asked()).toEqual(['200.00', '188.05', '188.41']);
    expect(quote.deliveryUnits).toBe(188_410_000n);
    const session = await adapter.startSession(published);
    expect(form().get('source_amount')).toBe('188.41');
    expect(session).toMatchObject({ quotedUnits: 188_410_000n, chargedCents: 200_00 });
    // The click repeats no search, since the share is known.
    expect(asked().slice(3)).toEqual(['188.41', null, null]);
  });

  it('is never more than the amount, and hardly less, for any share and any fixed fee', async () => {
    const fees = fc.record({
      share: fc.double({ min: 0, max: 0.2, noNaN: true }),
      fixedCents: fc.integer({ min: 0, max: 10_00 }),
      chargeCents: fc.integer({ min: 14_00, max: 10_000_00 }),
    });
    await fc.assert(
      fc.asyncProperty(fees, async ({ share, fixedCents, chargeCents }) => {
        let quotes = 0;
        const { sourceCents, chargedCents } = await scaleToCharge(chargeCents, async (source) => {
          quotes++;
          const total = source + Math.round(source * share + fixedCents);
          return { sourceCents: source, chargedCents: total, deliveryUnits: 1n };
        });
        expect(sourceCents).toBeGreaterThan(0);
        expect(chargedCents).toBeLessThanOrEqual(chargeCents);
        expect(chargeCents - chargedCents).toBeLessThanOrEqual(5);
        expect(quotes).toBeLessThanOrEqual(3);
      }),
      { numRuns: 2_000 },
    );
  });

  it('for fees with a step is the amount or hardly less, and more only where no amount below the step fits', async () => {
    const fees = fc.record({
      share: fc.double({ min: 0, max: 0.1, noNaN: true }),
      fixedCents: fc.integer({ min: 0, max: 1_00 }),
      stepCents: fc.integer({ min: 1, max: 20_00 }),
      stepAtCents: fc.integer({ min: 20_00, max: 500_00 }),
      chargeCents: fc.integer({ min: 50_00, max: 500_00 }),
      firstShare: fc.double({ min: 0.85, max: 1, noNaN: true }),
    });
    await fc.assert(
      fc.asyncProperty(
        fees,
        async ({ share, fixedCents, stepCents, stepAtCents, chargeCents, firstShare }) => {
          const totalOf = (source: number) =>
            source + Math.round(source * share + fixedCents) + (source >= stepAtCents ? stepCents : 0);
          let quotes = 0;
          const ask = async (source: number) => {
            quotes++;
            return { sourceCents: source, chargedCents: totalOf(source), deliveryUnits: 1n };
          };
          const found = await scaleToCharge(chargeCents, ask, Math.round(chargeCents * firstShare));
          expect(quotes).toBeLessThanOrEqual(3);
          // The total that is named is that of the amount, and never of one far above the step.
          expect(found.chargedCents).toBe(totalOf(found.sourceCents));
          expect(chargeCents - found.chargedCents).toBeLessThanOrEqual(chargeCents / 100);
          expect(found.chargedCents).toBeLessThanOrEqual(totalOf(chargeCents));
          const fittingCents = Math.floor((chargeCents - fixedCents) / (1 + share));
          if (fittingCents < stepAtCents - 2) expect(found.chargedCents).toBeLessThanOrEqual(chargeCents);
        },
      ),
      { numRuns: 2_000 },
    );
  });

  it('just above a step is found with the third quote, although the second falls short', async () => {
    const ask = async (sourceCents: number) => {
      const chargedCents = sourceCents + (sourceCents < 100_00 ? 3_00 : 12_00);
      return { sourceCents, chargedCents, deliveryUnits: 1n };
    };
    expect(await scaleToCharge(102_90, ask)).toMatchObject({ chargedCents: 102_65 });
  });

  it('is the sum of amount and fees where Stripe states no total', async () => {
    const { adapter } = await startStripe({
      quote: (query) => ({ ...publishedQuote(query), source_total_amount: undefined }),
    });
    expect(await adapter.quote(published)).toMatchObject({ chargedCents: 200_00 });
  });

  it.each([
    ['neither a total nor fees', { source_total_amount: undefined, fees: undefined }],
    ['one fee without the other', { source_total_amount: undefined, fees: { network_fee_monetary: '0.01' } }],
    ['a total below the amount', { source_total_amount: '100.00' }],
    ['a total of twice the amount', { source_total_amount: '400.00' }],
    ['a total that does not depend on the amount', { source_total_amount: '212.71' }],
    ['no number', { source_total_amount: 'much' }],
  ])('of a quote with %s is unknown, and it is not used', async (_what, change) => {
    const { adapter } = await startStripe({ quote: (query) => ({ ...publishedQuote(query), ...change }) });
    expect(await outcomeOf(adapter.quote(published))).toBe('provider_unavailable');
  });
});

describe('the path of quotes', () => {
  const refusing = (path: string, status: number, body: unknown): StripeAnswers => ({
    refuses: (asked) => (asked === path ? { status, body } : null),
  });
  const pathsOf = ({ requests }: { readonly requests: readonly { readonly path: string }[] }) =>
    requests.map(({ path }) => path);

  it.each([
    ['404', 404, { error: { type: 'invalid_request_error', message: 'Unrecognized request URL' } }],
    ['404 with a page', 404, '<html>Not Found</html>'],
    ['400 that names no error', 400, { error: { type: 'invalid_request_error' } }],
    ['400 that is no object', 400, 'null'],
  ])('is the earlier one after a %s, and from then on', async (_what, status, body) => {
    const { adapter, server } = await startStripe(refusing(QUOTES, status, body));
    expect(await adapter.quote(published)).toMatchObject({ chargedCents: 200_00 });
    await adapter.quote(published);
    expect(pathsOf(server)).toEqual([QUOTES, EARLIER_QUOTES, EARLIER_QUOTES, EARLIER_QUOTES, EARLIER_QUOTES]);
  });

  it.each([
    ['crypto_onramp_disabled', 'provider_inactive'],
    ['crypto_onramp_merchant_not_properly_setup', 'provider_inactive'],
    ['parameter_invalid_empty', 'provider_unavailable'],
  ])('stays after the error %s of this API, whose name is in the cause: %s', async (code, errorName) => {
    const { adapter, server } = await startStripe(refusing(QUOTES, 400, { error: { code } }));
    await expect(adapter.quote(published)).rejects.toMatchObject({
      errorName,
      cause: expect.objectContaining({ message: expect.stringContaining(code) }),
    });
    expect(pathsOf(server)).toEqual([QUOTES]);
  });

  it('stays, with the first answer as the cause, where neither exists', async () => {
    const { adapter, server } = await startStripe({
      refuses: (path) => ({ status: path === QUOTES ? 404 : 400, body: { error: { code: 'other_code' } } }),
    });
    await expect(adapter.quote(published)).rejects.toMatchObject({
      cause: expect.objectContaining({ message: 'stripe answered 404 other_code' }),
    });
    await outcomeOf(adapter.quote(published));
    expect(pathsOf(server)).toEqual([QUOTES, EARLIER_QUOTES, QUOTES, EARLIER_QUOTES]);
  });
});

describe('a session', () => {
  it.each([
    ['the chosen wallet, whatever its letters', { wallet_address: OWN_WALLET.toLowerCase() }],
    ["Polygon's", { wallet_address: null, wallet_addresses: { ...ofFixture, polygon: OWN_WALLET } }],
    ['the chosen wallet and network, for the amount', { source_currency: 'eur', source_amount: '97.04' }],
    ['both', { wallet_addresses: { ...ofFixture, polygon: OWN_WALLET } }],
    [
      'another network with the same',
      { wallet_addresses: { base_network: OWN_WALLET, polygon: OWN_WALLET } },
    ],
  ])('locked to the deposit address by %s is used', async (_what, change) => {
    const { adapter, server } = await startStripe({ details: { ...locked, ...change } });
    expect(await adapter.startSession(someSession)).toMatchObject({
      redirectUrl: 'https://crypto.link.com/1',
      providerReference: 'cos_1',
    });
    expect(server.asked.at(-1)).toBe('GET /api/v1/crypto/onramp_sessions/cos_1');
  });

  it.each([
    ['is not locked', { lock_wallet_address: false }],
    ['says nothing of a lock', { lock_wallet_address: undefined }],
    ['pays another wallet', { wallet_address: OTHER_WALLET }],
    ['pays no wallet yet', { wallet_address: null }],
    ['names no wallet for any network', { wallet_address: null, wallet_addresses: ofFixture }],
    ['names it for another network', { wallet_address: null, wallet_addresses: { ethereum: OWN_WALLET } }],
    ['also pays another wallet', { wallet_addresses: { polygon: OTHER_WALLET } }],
    ['also pays another on Base', { wallet_addresses: { polygon: OWN_WALLET, base_network: OTHER_WALLET } }],
    ['also sells another coin', { destination_currencies: ['usdc', 'eth'] }],
    ['sells on every network', { destination_networks: null }],
    ['is for another amount', { source_amount: '300.00' }],
    ['is in another currency', { source_currency: 'usd' }],
  ])('that %s is shown to nobody', async (_what, change) => {
    const { adapter } = await startStripe({ details: { ...locked, ...change } });
    expect(await outcomeOf(adapter.startSession(someSession))).toBe('provider_unavailable');
  });

  it('without details is shown to nobody', async () => {
    const { adapter } = await startStripe({ details: null });
    expect(await outcomeOf(adapter.startSession(someSession))).toBe('provider_unavailable');
  });

  it('is passed the wallet by network, the email address and the IP address', async () => {
    const { adapter, form } = await startStripe();
    await adapter.startSession({ ...someSession, customerIp: '203.0.113.7' });
    expect(Object.fromEntries(form())).toMatchObject({
      'wallet_addresses[polygon]': OWN_WALLET,
      customer_ip_address: '203.0.113.7',
      [EMAIL]: someSession.email,
    });
    expect(form().has('wallet_address')).toBe(false);
  });

  it.each([
    ['crypto_onramp_unsupported_country', 'US', 'Stripe does not serve customers in US.'],
    ['crypto_onramp_unsupportable_customer', null, 'Stripe does not serve customers in this region.'],
  ])('refused with %s is an answer to the customer', async (code, customerCountry, message) => {
    const { adapter } = await startStripe({
      refuses: (path) => (path.endsWith('quotes') ? null : { status: 400, body: { error: { code } } }),
    });
    const session = adapter.startSession({ ...someSession, customerCountry });
    await expect(session).rejects.toMatchObject({ errorName: 'provider_inactive', message });
  });
});

it.each([
  [{ customerCountry: 'DE' }, 'DE'],
  [{ customerCountry: 'US', customerState: 'NY' }, 'US-NY'],
  [{ customerCountry: 'US', customerState: 'HI' }, 'US-HI'],
])('customers at %j are refused without a call', async (place, region) => {
  const { adapter, server } = await startStripe();
  const message = `Stripe does not serve customers in ${region}.`;
  await expect(adapter.quote({ ...published, ...place })).rejects.toMatchObject({ message });
  await expect(adapter.startSession({ ...published, ...place })).rejects.toMatchObject({ message });
  expect(server.requests).toEqual([]);
});

it.each([
  ['chosen', { wallet_address: OTHER_WALLET, wallet_addresses: ofFixture }, OTHER_WALLET],
  [
    "Polygon's",
    { wallet_address: null, wallet_addresses: { ...ofFixture, polygon: OWN_WALLET } },
    OWN_WALLET,
  ],
  ['not known', { wallet_address: null, wallet_addresses: ofFixture }, null],
])('the wallet of a webhook is %s', async (_what, transaction_details, walletAddress) => {
  const values = { API_KEY: 'sk_test_1', WEBHOOK_SECRET: 'whsec_1' };
  const metadata = { payment_id: someSession.paymentId };
  const object = { id: 'cos_1', status: 'fulfillment_processing', metadata, transaction_details };
  const event = { type: 'crypto.onramp_session_updated', created: 5, data: { object } };
  const webhook = await adapterWith('stripe', values).readWebhook?.(stripeSigned(values, event, 5_000));
  expect(webhook).toMatchObject({ walletAddress, progress: 'delivering' });
});
