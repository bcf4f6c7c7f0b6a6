import { expect, it } from 'vitest';
import { type ApiService, createApiService, useFreshApi, validRequest } from '../support/api-service.ts';

let service = {} as ApiService;
useFreshApi((api) => (service = api), { trustProxy: ['127.0.0.1'] });

const query = Object.fromEntries(Object.entries(validRequest));

async function repeat(times: number, send: () => Promise<{ statusCode: number }>): Promise<number[]> {
  const statuses = new Set<number>();
  for (let index = 0; index < times; index++) statuses.add((await send()).statusCode);
  return [...statuses];
}

it('lets 60 creates a minute pass per key, POST and GET together, and answers the 61st with 429', async () => {
  expect(await repeat(30, () => service.post(validRequest))).toEqual([200]);
  service.advance(20_000);
  expect(await repeat(30, () => service.get(query))).toEqual([200]);
  const refused = [await service.post(validRequest), await service.get(query)];
  for (const response of refused) {
    expect(response.statusCode).toBe(429);
    expect(Number(response.headers['retry-after'])).toBeGreaterThan(30);
    expect(Number(response.headers['retry-after'])).toBeLessThanOrEqual(40);
    expect(response.json()).toEqual({
      error: expect.stringMatching(/^Too many requests\. Retry after \d+ s\.$/),
    });
  }
  // The window began with the first request, and what was refused did not prolong it.
  service.advance(41_000);
  expect(await repeat(60, () => service.post(validRequest))).toEqual([200]);
  expect((await service.post(validRequest)).statusCode).toBe(429);
});

it('counts a request that is answered 400', async () => {
  expect(await repeat(60, () => service.post({}))).toEqual([400]);
  expect((await service.post(validRequest)).statusCode).toBe(429);
});

it('lets 120 status reads a minute pass per key, apart from the creates', async () => {
  const { payment_id } = (await service.post(validRequest)).json();
  expect(await repeat(120, () => service.status({ payment_id }))).toEqual([200]);
  const refused = await service.status({ payment_id });
  expect(refused.statusCode).toBe(429);
  expect(Number(refused.headers['retry-after'])).toBeGreaterThanOrEqual(1);
  expect((await service.post(validRequest)).statusCode).toBe(200);
});

it('counts every key by itself', async () => {
  const other = await service.addAccount();
  expect(await repeat(61, () => service.post({}))).toEqual([400, 429]);
  expect((await service.post(validRequest, { 'x-api-key': other.apiKey })).statusCode).toBe(200);
});

it('answers 429 instead of 401 to an address after 30 failures, and forgets after the window', async () => {
  const fail = () => service.post(validRequest, { 'x-api-key': 'wrong' });
  expect(await repeat(30, fail)).toEqual([401]);
  const refused = await fail();
  expect(refused.statusCode).toBe(429);
  expect(Number(refused.headers['retry-after'])).toBeGreaterThanOrEqual(1);
  service.advance(60_000);
  expect((await fail()).statusCode).toBe(401);
});

it('lets a valid key pass from an address that keeps failing', async () => {
  await repeat(40, () => service.post(validRequest, { 'x-api-key': 'wrong' }));
  expect((await service.post(validRequest)).statusCode).toBe(200);
});

it('does not count requests with a valid key against their address', async () => {
  await repeat(61, () => service.post({}));
  expect((await service.post(validRequest, { 'x-api-key': 'wrong' })).statusCode).toBe(401);
});

it('counts IPv6 by network of 64 bits and IPv4 by address, as a trusted proxy tells them', async () => {
  const from = (address: string) => service.post({}, { 'x-api-key': 'wrong', 'x-forwarded-for': address });
  for (let host = 1; host <= 30; host++) await from(`2001:db8:0:1::${host.toString(16)}`);
  expect((await from('2001:db8:0:1:ffff::1')).statusCode).toBe(429);
  expect((await from('2001:db8:0:2::1')).statusCode).toBe(401);
  await repeat(30, () => from('203.0.113.7'));
  expect((await from('::ffff:203.0.113.7')).statusCode).toBe(429);
  expect((await from('203.0.113.7:61598')).statusCode).toBe(429);
  expect((await from('203.0.113.8')).statusCode).toBe(401);
});

it('believes no X-Forwarded-For from elsewhere', async () => {
  const direct = await createApiService();
  try {
    const fail = (address: string) => direct.post({}, { 'x-api-key': 'wrong', 'x-forwarded-for': address });
    for (let host = 0; host < 30; host++) await fail(`203.0.113.${host}`);
    expect((await fail('198.51.100.1')).statusCode).toBe(429);
  } finally {
    await direct.close();
  }
});
