import { expect, it } from 'vitest';
import { serveJson } from './serve-json.ts';
import { adapterWith, outcomeOf, someSession } from './stage.ts';

const OTHER_WALLET = '0x52908400098527886E0F7030069857D2E4169EE7';
const locked = {
  wallet_address: someSession.depositAddress,
  lock_wallet_address: true,
  destination_currencies: ['usdc'],
  destination_networks: ['polygon'],
};

/** A Stripe that makes sessions with these details, whatever it is asked for. */
async function startStripe(details: unknown, failure: unknown = null) {
  const session = { id: 'cos_1', redirect_url: 'https://crypto.link.com/1', transaction_details: details };
  const quotes = [{ destination_currency: 'usdc', destination_amount: '104.50' }];
  const server = await serveJson((path) => {
    if (failure !== null) return { status: 400, body: failure };
    return {
      body: path.endsWith('/quotes') ? { destination_network_quotes: { polygon: quotes } } : session,
    };
  });
  const adapter = adapterWith('stripe', { API_KEY: 'sk_test_1', BASE_URL: server.url });
  return { server, adapter };
}

it('a session that is locked to the deposit address is used, whatever the letters of the address', async () => {
  const { server, adapter } = await startStripe({
    ...locked,
    wallet_address: someSession.depositAddress.toLowerCase(),
  });
  expect(await adapter.startSession(someSession)).toMatchObject({
    redirectUrl: 'https://crypto.link.com/1',
    providerReference: 'cos_1',
    quotedUnits: 104_500_000n,
  });
  expect(server.asked.at(-1)).toBe('GET /api/v1/crypto/onramp_sessions/cos_1');
});

it('a session whose wallet is read back for Polygon alone is used', async () => {
  const { adapter } = await startStripe({
    ...locked,
    wallet_address: null,
    wallet_addresses: { polygon: someSession.depositAddress, ethereum: null },
  });
  expect(await outcomeOf(adapter.startSession(someSession))).toBe('answered');
});

it.each([
  ['is not locked', { ...locked, lock_wallet_address: false }],
  ['says nothing of a lock', { ...locked, lock_wallet_address: undefined }],
  ['pays another wallet', { ...locked, wallet_address: OTHER_WALLET }],
  ['pays no wallet yet', { ...locked, wallet_address: null }],
  ['names no wallet for any network', { ...locked, wallet_address: null, wallet_addresses: null }],
  ['also pays another wallet', { ...locked, wallet_addresses: { polygon: OTHER_WALLET } }],
  ['also sells another coin', { ...locked, destination_currencies: ['usdc', 'eth'] }],
  ['sells on every network', { ...locked, destination_networks: null }],
  ['has no details', null],
])('a session that %s is shown to nobody', async (_what, details) => {
  const { adapter } = await startStripe(details);
  expect(await outcomeOf(adapter.startSession(someSession))).toBe('provider_unavailable');
});

it('a product that Stripe switched off is provider_unavailable, and its word is in the cause', async () => {
  const { adapter } = await startStripe(locked, { error: { code: 'crypto_onramp_disabled' } });
  await expect(adapter.quote(someSession)).rejects.toMatchObject({
    errorName: 'provider_unavailable',
    cause: expect.objectContaining({ message: expect.stringContaining('crypto_onramp_disabled') }),
  });
});
