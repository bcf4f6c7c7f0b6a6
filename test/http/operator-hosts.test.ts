import { afterAll, beforeAll, expect, it } from 'vitest';
import { refuseForeignHosts } from '../../src/pages/operator/routes.ts';
import { createBaseServer } from '../../src/web/server.ts';
import { createTestConsole, type TestConsole } from '../support/operator.ts';

let console: TestConsole;
beforeAll(async () => {
  console = await createTestConsole({ baseUrl: 'https://admin.example.com' });
});
afterAll(() => console.close());

const own =
  'admin.example.com Admin.Example.com:443 localhost:3001 127.0.0.1:3001 [::1]:3001 192.168.1.5:3001';
const foreign = `evil.example:3001 localhost.evil.example 127.0.0.1.evil.example checkout:3001
  admin.example.com.evil.example admin.example.com@evil.example evil.example/admin.example.com`;
it.each([
  ...own.split(' ').map((host) => [host, true] as const),
  ...foreign.split(/\s+/).map((host) => [host, false] as const),
])('the console under the name %j: %s', async (host, isServed) => {
  const browser = console.newBrowser();
  for (const path of ['/operator/sign-in', '/dashboard']) {
    const { statusCode } = await browser.get(path, { host });
    expect([path, statusCode === 400]).toEqual([path, !isServed]);
  }
});

it('a page of another site that lets its name lead here can send no form', async () => {
  const host = 'evil.example:3001';
  const headers = { host, origin: `http://${host}`, 'sec-fetch-site': 'same-origin' };
  const answer = await console.newBrowser().post('/operator/sign-in', {}, { headers });
  expect(answer.statusCode).toBe(400);
});

it.each([
  ['checkout:3001', 200],
  ['checkout.shops.svc.cluster.local:3001', 200],
  ['checkout.internal', 200],
  ['10.0.0.7:3001', 200],
  ['admin.example.com', 200],
  ['evil.example:3001', 400],
  ['internal.evil.example', 400],
])('metrics are collected under the name %j: %i', async (host, status) => {
  const server = createBaseServer({ trustProxy: [] });
  refuseForeignHosts(server, 'https://admin.example.com');
  server.get('/metrics', async (_request, reply) => reply.send('up 1'));
  const answer = await server.inject({ url: '/metrics', headers: { host } });
  await server.close();
  expect(answer.statusCode).toBe(status);
});
