import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import type { FastifyInstance } from 'fastify';
import { afterEach, describe, expect, it } from 'vitest';
import { registerOpenApi } from '../../src/api/openapi/create-openapi-document.ts';
import { apiDescription } from '../../src/app/features.ts';
import { registerDocs } from '../../src/pages/docs/register-docs.ts';
import { createBaseServer } from '../../src/web/server.ts';
import { createApiService, validRequest } from '../support/api-service.ts';
import { checkoutStates, createCheckoutPages } from '../support/checkout-pages.ts';
import { createTestDashboard } from '../support/dashboard.ts';

const servers: { close(): Promise<unknown> }[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

const codings = ['br', 'gzip'] as const;
type Coding = (typeof codings)[number];
const decode = (coding: Coding, bytes: Buffer) =>
  (coding === 'br' ? brotliDecompressSync(bytes) : gunzipSync(bytes)).toString();
const withoutNonces = (page: string) => page.replaceAll(/nonce="[^"]+"/g, 'nonce=""');

function openPages() {
  const pages = createCheckoutPages();
  servers.push(pages.server);
  return pages;
}

function openDocs(): FastifyInstance {
  const server = createBaseServer({ trustProxy: [] });
  servers.push(server);
  registerOpenApi(server, { baseUrl: 'https://pay.example.com' }, apiDescription);
  registerDocs(server, {
    baseUrl: 'https://pay.example.com',
    description: apiDescription,
    isTestMode: true,
    limiter: { take: async () => 0 },
  });
  return server;
}

describe.each(codings)('with %s', (coding) => {
  const accepting = { headers: { 'accept-encoding': coding } };

  it('a checkout page is a third as large, and the same', async () => {
    const pages = openPages();
    const url = `/pay/${pages.put(checkoutStates.choose())}`;
    const plain = await pages.server.inject(url);
    const answer = await pages.server.inject({ url, ...accepting });
    expect(answer.headers).toMatchObject({ 'content-encoding': coding, vary: 'Accept-Encoding' });
    expect(Number(answer.headers['content-length'])).toBe(answer.rawPayload.length);
    expect(answer.rawPayload.length).toBeLessThan(plain.rawPayload.length / 3);
    expect(withoutNonces(decode(coding, answer.rawPayload))).toBe(withoutNonces(plain.body));
    expect(plain.headers).toMatchObject({ vary: 'Accept-Encoding' });
    expect(plain.headers).not.toHaveProperty('content-encoding');
  });

  it('the documentation and its constant files are the same, and made once', async () => {
    const server = openDocs();
    for (const url of ['/docs', '/docs/reference', '/docs/api.md', '/docs/style.css', '/openapi.json']) {
      const plain = await server.inject(url);
      const answer = await server.inject({ url, ...accepting });
      expect([url, answer.headers['content-encoding'], answer.headers.vary]).toEqual([
        url,
        coding,
        'Accept-Encoding',
      ]);
      expect(answer.headers['content-type']).toBe(plain.headers['content-type']);
      expect(decode(coding, answer.rawPayload)).toBe(plain.body);
      expect((await server.inject({ url, ...accepting })).rawPayload).toEqual(answer.rawPayload);
    }
  });
});

it('leaves the API’s answers, and what one packet carries anyway, as they are', async () => {
  const service = await createApiService();
  servers.push(service);
  const answer = await service.server.inject({
    method: 'POST',
    url: '/api/v1/wallet',
    payload: validRequest,
    headers: { 'x-api-key': service.apiKey, 'accept-encoding': 'br, gzip' },
  });
  expect(answer.statusCode).toBe(200);
  expect(answer.headers).not.toHaveProperty('content-encoding');
  expect(answer.json().payment_type).toBe('card');
});

it('leaves the events of an open page as they are, so that none waits for the next', async () => {
  const pages = openPages();
  const url = `/pay/${pages.put(checkoutStates.paid())}/events`;
  const answer = await pages.server.inject({ url, headers: { 'accept-encoding': 'br, gzip' } });
  expect(answer.headers).not.toHaveProperty('content-encoding');
  expect(answer.body).toContain('event: end');
});

it('compresses a page of the dashboard for its user, and for no other site that has it opened', async () => {
  const dashboard = await createTestDashboard();
  servers.push(dashboard);
  const account = await dashboard.giveAccount();
  const browser = await dashboard.signIn(
    await dashboard.giveUser({ accountId: account.id, role: 'developer' }),
  );
  const open = (site: string) =>
    browser.get('/dashboard/payments?q=jane', { 'accept-encoding': 'br', 'sec-fetch-site': site });
  for (const site of ['none', 'same-origin']) {
    const answer = await open(site);
    expect([site, answer.headers['content-encoding']]).toEqual([site, 'br']);
    expect(decode('br', answer.rawPayload)).toContain('value="jane"');
  }
  for (const site of ['cross-site', 'same-site']) {
    const answer = await open(site);
    expect([site, answer.headers['content-encoding']]).toEqual([site, undefined]);
    expect(answer.payload).toContain('value="jane"');
  }
});
