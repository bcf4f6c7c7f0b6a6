import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { createApiKey } from '../../src/accounts/api-key.ts';
import { type ApiService, useFreshApi, validRequest } from '../support/api-service.ts';

let service = {} as ApiService;
useFreshApi((api) => (service = api));

type Headers = Record<string, string | string[]>;

async function statusOf(headers: Headers, url = '/api/v1/payment-status'): Promise<number> {
  const response = await service.server.inject({ method: 'GET', url, headers });
  if (response.statusCode === 401) {
    expect(response.json()).toEqual({
      error:
        'The API key is missing, invalid or revoked. Send one key, as X-API-Key or as Authorization: Bearer.',
    });
    expect(response.headers['www-authenticate']).toBe('Bearer');
  }
  return response.statusCode;
}

/** What an admitted status read without parameters is answered. */
const ADMITTED = 400;

it.each([
  ['Bearer', (key: string): Headers => ({ authorization: `Bearer ${key}` })],
  ['bearer in any case', (key: string): Headers => ({ authorization: `bEaReR ${key}` })],
  ['several spaces', (key: string): Headers => ({ authorization: `Bearer   ${key}` })],
  ['X-API-Key', (key: string): Headers => ({ 'x-api-key': key })],
])('admits a key by %s', async (_name, headers) => {
  expect(await statusOf(headers(service.apiKey))).toBe(ADMITTED);
});

it.each([
  ['no header', (): Headers => ({})],
  ['both headers', (key: string): Headers => ({ authorization: `Bearer ${key}`, 'x-api-key': key })],
  [
    'both headers, one of another scheme',
    (key: string): Headers => ({ authorization: 'Basic eDp5', 'x-api-key': key }),
  ],
  ['X-API-Key twice', (key: string): Headers => ({ 'x-api-key': [key, key] })],
  ['Authorization twice', (key: string): Headers => ({ authorization: [`Bearer ${key}`, `Bearer ${key}`] })],
  ['another scheme', (key: string): Headers => ({ authorization: `Basic ${key}` })],
  ['no scheme', (key: string): Headers => ({ authorization: key })],
  ['two keys in one header', (key: string): Headers => ({ authorization: `Bearer ${key} ${key}` })],
  ['an empty key', (): Headers => ({ 'x-api-key': '' })],
  ['an empty bearer', (): Headers => ({ authorization: 'Bearer ' })],
  ['an unknown key', (): Headers => ({ 'x-api-key': createApiKey() })],
  ['a key in another case', (key: string): Headers => ({ 'x-api-key': key.toUpperCase() })],
  ['a key with more behind it', (key: string): Headers => ({ 'x-api-key': `${key}x` })],
  ['a key longer than 256 characters', (): Headers => ({ 'x-api-key': `service_live_${'a'.repeat(300)}` })],
])('answers 401 for %s', async (_name, headers) => {
  expect(await statusOf(headers(service.apiKey))).toBe(401);
});

it('takes neither the hash of a key nor an id or a token for a key', async () => {
  const { apiKey, keyId, account } = await service.addAccount();
  const created = (await service.post(validRequest)).json();
  const hash = createHash('sha256').update(apiKey).digest('hex');
  for (const text of [hash, keyId, account.id, created.payment_id, created.ipn_token, apiKey.slice(0, -1)])
    for (const headers of [{ 'x-api-key': text }, { authorization: `Bearer ${text}` }])
      expect(await statusOf(headers)).toBe(401);
});

it('answers 401 for a key in the query, also beside a good one in a header', async () => {
  const encoded = service.apiKey.replaceAll('_', '%5F');
  for (const key of [service.apiKey, encoded, encoded.toLowerCase().replace('service', '%73ervice')]) {
    const url = `/api/v1/payment-status?api_key=${key}`;
    expect(await statusOf({}, url)).toBe(401);
    expect(await statusOf({ 'x-api-key': service.apiKey }, url)).toBe(401);
  }
});

it('refuses a revoked key with the next request', async () => {
  const { apiKey, keyId } = await service.addAccount();
  expect(await statusOf({ 'x-api-key': apiKey })).toBe(ADMITTED);
  await service.store.accounts.revokeKey(keyId, Date.now());
  expect(await statusOf({ 'x-api-key': apiKey })).toBe(401);
});

it('guards every operation, and creates nothing without a key', async () => {
  const query = new URLSearchParams(validRequest);
  const answers = await Promise.all([
    service.server.inject({ method: 'POST', url: '/api/v1/wallet', payload: validRequest }),
    service.server.inject({ method: 'GET', url: `/api/v1/wallet?${query}` }),
    service.server.inject({ method: 'GET', url: '/api/v1/payment-status?payment_id=x' }),
  ]);
  expect(answers.map(({ statusCode }) => statusCode)).toEqual([401, 401, 401]);
  expect(await service.store.payments.listPayments({}, null, 10)).toEqual([]);
});
