import { type AddressInfo, connect } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { LAST_SEEN_STEP_MS } from '../../src/accounts/session-lifetimes.ts';
import { shortCodeOf } from '../../src/payment/payment-id.ts';
import {
  type CheckoutPages,
  checkoutStates,
  createCheckoutPages,
  pagePayment,
  pageView,
} from '../support/checkout-pages.ts';
import { createTestDashboard, type TestDashboard } from '../support/dashboard.ts';
import { createTestConsole } from '../support/operator.ts';
import { waitFor } from '../support/wait-for.ts';

let pages: CheckoutPages;
let dashboard: TestDashboard;
beforeEach(async () => {
  pages = createCheckoutPages();
  dashboard = await createTestDashboard();
});
afterEach(async () => {
  await pages.server.close();
  await dashboard.close();
});

async function ask(server: FastifyInstance, method: 'GET' | 'HEAD', url: string) {
  const { statusCode, headers, body } = await server.inject({ method, url });
  const type = headers['content-type'];
  return { statusCode, type, location: headers['location'], body };
}

/** HEAD has what GET has, but for the body. */
async function expectLikeGet(server: FastifyInstance, url: string, statusCode: number): Promise<void> {
  const got = await ask(server, 'GET', url);
  expect([url, got.statusCode]).toEqual([url, statusCode]);
  expect(await ask(server, 'HEAD', url)).toEqual({ ...got, body: '' });
}

it('answers HEAD on the pages of the checkout like GET, without the body', async () => {
  const id = pages.put(checkoutStates.choose());
  for (const path of [`/pay/${id}`, `/pay/${id}/status`, `/s/${shortCodeOf(id)}`])
    await expectLikeGet(pages.server, path, 200);
  await expectLikeGet(pages.server, '/pay/01900000-0000-7000-8000-000000000000', 404);
});

it('starts no visit for HEAD, also where GET leads straight on to the provider', async () => {
  const id = pages.put(pageView(pagePayment({ provider: 'moonpay', email: 'jane@example.com' })));
  const before = pages.view(id);
  const answer = await ask(pages.server, 'HEAD', `/pay/${id}?auto=1`);
  expect(answer).toMatchObject({ statusCode: 200, location: undefined, body: '' });
  expect(pages.started).toEqual([]);
  expect(pages.view(id)).toEqual(before);
  expect((await ask(pages.server, 'GET', `/pay/${id}?auto=1`)).statusCode).toBe(303);
});

it('sends no byte of a body, and goes on serving the connection', async () => {
  const id = pages.put(checkoutStates.choose());
  await pages.server.listen({ host: '127.0.0.1', port: 0 });
  const socket = connect((pages.server.server.address() as AddressInfo).port, '127.0.0.1');
  let text = '';
  socket.on('data', (chunk) => (text += String(chunk)));
  const answers = () => text.split('\r\n\r\n');
  for (let round = 1; round <= 3; round++) {
    socket.write(`HEAD /pay/${id} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
    await waitFor('the answer', 60_000, () => answers().length === round + 1);
  }
  socket.destroy();
  expect(
    answers()
      .slice(0, -1)
      .map((answer) => answer.slice(0, 15)),
  ).toEqual(Array(3).fill('HTTP/1.1 200 OK'));
  expect(answers().at(-1)).toBe('');
});

it.each([
  ['HEAD on a stream of events', '/events', 'GET'],
  ['HEAD on what starts a visit', '/providers/moonpay', 'GET'],
])('answers %s with 405', async (_name, path, allowed) => {
  const id = pages.put(checkoutStates.choose());
  const { statusCode, headers } = await pages.server.inject({ method: 'HEAD', url: `/pay/${id}${path}` });
  expect(statusCode).toBe(405);
  expect(headers['allow']).toContain(allowed);
  expect(pages.started).toEqual([]);
});

it('answers HEAD on the dashboard as to a visitor who is not signed in, and touches no session', async () => {
  const account = await dashboard.giveAccount();
  const owner = await dashboard.giveUser({ accountId: account.id, role: 'owner' });
  const browser = await dashboard.signIn(owner);
  const sessions = () => dashboard.store.sessions.listSessions(owner.id);
  const before = await sessions();
  // A GET would write when the session was last seen.
  dashboard.advance(LAST_SEEN_STEP_MS);
  const answer = await browser.head('/dashboard');
  expect([answer.statusCode, answer.headers['location'], answer.body]).toEqual([
    303,
    '/dashboard/sign-in',
    '',
  ]);
  expect((await browser.head('/dashboard/sign-in')).statusCode).toBe(200);
  expect((await browser.head('/dashboard/sign-out')).statusCode).toBe(405);
  expect(await sessions()).toEqual(before);
  expect((await browser.get('/dashboard')).statusCode).toBe(200);
  expect(await sessions()).not.toEqual(before);
});

it('answers HEAD on every page of the dashboard and the console like GET for a visitor', async () => {
  const console = await createTestConsole();
  try {
    const visitor = console.newBrowser();
    const operator = await console.signIn(await console.giveOperator());
    const inConsole = ['', '/accounts', '/audit?account=acc_1', '/set-up', '/sign-in'];
    for (const path of [
      ...inConsole.map((below) => `/operator${below}`),
      '/dashboard',
      '/dashboard/payments',
    ]) {
      const got = await visitor.get(path);
      const answer = await operator.head(path);
      const expected = [path, got.statusCode, got.headers['location'], ''];
      expect([path, answer.statusCode, answer.headers['location'], answer.body]).toEqual(expected);
      expect([path, answer.statusCode === 200 || answer.statusCode === 303]).toEqual([path, true]);
    }
    expect((await operator.get('/operator/accounts')).statusCode).toBe(200);
  } finally {
    await console.close();
  }
});
