import { afterAll, beforeAll, expect, it } from 'vitest';
import { refuseForeignHosts } from '../../src/pages/operator/routes.ts';
import { createBaseServer } from '../../src/web/server.ts';
import { createTestConsole, type TestConsole } from '../support/operator.ts';

let console: TestConsole;
beforeAll(async () => {
  console = await createTestConsole({ baseUrl: 'https://admin.example.com' });
});
afterAll(() => console.close());

it.each([
  ['admin.example.com', true],
  ['Admin.Example.com:443', true],
  ['localhost:3001', true],
  ['127.0.0.1:3001', true],
  ['[::1]:3001', true],
  ['192.168.1.5:3001', true],
  ['evil.example:3001', false],
  ['localhost.evil.example', false],
  ['127.0.0.1.evil.example', false],
  ['admin.example.com.evil.example', false],
  ['admin.example.com@evil.example', false],
  ['evil.example/admin.example.com', false],
  ['checkout:3001', false],
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
  const answer = await console.newBrowser().post('/operator/sign-in', { form_token: 'x' }, { headers });
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
