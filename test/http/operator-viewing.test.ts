import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Account } from '../../src/accounts/account.ts';
import type { User } from '../../src/accounts/person.ts';
import { MAXIMUM_SESSIONS, VIEWING_MS } from '../../src/accounts/session-lifetimes.ts';
import type { Payment } from '../../src/payment/payment.ts';
import { newPayment } from '../store/fixtures.ts';
import type { TestBrowser } from '../support/dashboard.ts';
import { createTestConsole, type TestConsole } from '../support/operator.ts';
import { textOf } from '../support/page-text.ts';

let console: TestConsole;
let operator: User;
let browser: TestBrowser;
let account: Account;
let payment: Payment;

beforeEach(async () => {
  console = await createTestConsole();
  operator = await console.giveOperator();
  browser = await console.signIn(operator);
  account = await console.giveAccount({ name: 'Tea shop' });
  payment = newPayment(account.id, { note: 'Green tea' });
  await console.dashboard.store.payments.createPayment(payment, null);
});
afterEach(() => console.close());

const begin = () => browser.post(`/operator/accounts/${account.id}/view`, {});

it('an operator reads an account’s dashboard under a banner, and its audit log says so', async () => {
  const before = await browser.get('/dashboard');
  expect([before.statusCode, before.headers['location']]).toEqual([303, '/operator/accounts']);
  expect((await begin()).headers['location']).toBe('/dashboard');
  for (const path of ['/dashboard', '/dashboard/payments', `/dashboard/payments/${payment.id}`]) {
    const page = await browser.get(path);
    expect([path, page.statusCode]).toEqual([path, 200]);
    expect(textOf(page.payload)).toMatch(/Read-only\. You are viewing Tea shop as an operator until .* UTC/);
  }
  expect(textOf((await browser.get(`/dashboard/payments/${payment.id}`)).payload)).toContain('Green tea');
  expect(await console.dashboard.store.audit.listEntries(account.id, null, 10)).toMatchObject([
    { action: 'account.viewed', actor: operator.email, userId: operator.id, address: '192.0.2.20' },
  ]);
});

it('every form is refused, whatever it is, and nothing changes', async () => {
  await begin();
  const forms = [
    `/dashboard/payments/${payment.id}/note`,
    `/dashboard/payments/${payment.id}/cancel`,
    '/dashboard/keys',
    '/dashboard/links',
    '/dashboard/settings/wallet',
    '/dashboard/people/invite',
    '/dashboard/security/password',
    '/dashboard/sign-out',
    '/dashboard/nothing',
  ];
  for (const path of forms) {
    const answer = await browser.post(path, { note: 'changed', name: 'x' });
    expect([path, answer.statusCode]).toEqual([path, 403]);
    expect(textOf(answer.payload)).toContain('change nothing');
  }
  const page = (await browser.get(`/dashboard/payments/${payment.id}`)).payload;
  const posted = [...page.matchAll(/<form[^>]+method="post"[^>]+action="([^"]+)"/g)].map(
    ([, action]) => action,
  );
  expect(posted, 'no other form is offered').toEqual(['/operator/stop-viewing']);
  expect(await console.dashboard.store.payments.findPaymentById(payment.id)).toMatchObject({
    note: 'Green tea',
  });
  expect(await console.dashboard.store.audit.listEntries(account.id, null, 10)).toHaveLength(1);
});

it('what is not for viewers, and what is another account’s, is not there', async () => {
  await begin();
  const other = newPayment((await console.giveAccount()).id);
  await console.dashboard.store.payments.createPayment(other, null);
  const unread = ['keys', 'people', 'settings', 'audit', 'security', 'sessions', 'links', 'sign-in', 'x'];
  for (const path of [`payments/${other.id}`, ...unread])
    expect([path, (await browser.get(`/dashboard/${path}`)).statusCode]).toEqual([path, 404]);
});

it('ends by itself, and with stopping, signing out, and losing the right', async () => {
  await begin();
  const token = browser.cookies.get('card_checkout_operator_viewing') as string;
  const stopped = await browser.post('/operator/stop-viewing');
  expect(stopped.headers['location']).toBe(`/operator/accounts/${account.id}`);
  browser.cookies.set('card_checkout_operator_viewing', token);
  expect((await browser.get('/dashboard')).headers['location'], 'on the server too').toBe(
    '/operator/accounts',
  );

  await begin();
  console.dashboard.advance(VIEWING_MS);
  expect((await browser.get('/dashboard')).headers['location']).toBe('/operator/accounts');

  await begin();
  await browser.post('/operator/sign-out');
  expect((await browser.get('/dashboard')).headers['location']).toContain('/operator/sign-in');
});

it('who looks at one account after the other stays signed in, and has one look at a time', async () => {
  for (let look = 0; look < MAXIMUM_SESSIONS + 1; look++) {
    expect([look, (await begin()).headers['location']]).toEqual([look, '/dashboard']);
    console.dashboard.advance(1_000);
  }
  expect((await browser.get('/dashboard')).statusCode).toBe(200);
  expect((await browser.get('/operator/accounts')).statusCode).toBe(200);
  const areas = (await console.dashboard.store.sessions.listSessions(operator.id)).map(({ area }) => area);
  expect(areas).toEqual(['viewing', 'operator']);
});

it('its cookie opens neither the public dashboard nor somebody else’s console', async () => {
  await begin();
  const token = browser.cookies.get('card_checkout_operator_viewing') as string;
  const outside = console.dashboard.newBrowser();
  outside.cookies.set('__Host-card_checkout_session', token);
  expect((await outside.get('/dashboard')).statusCode).toBe(303);
  const other = await console.signIn(await console.giveOperator());
  other.cookies.set('card_checkout_operator_viewing', token);
  expect((await other.get('/dashboard')).headers['location']).toBe('/operator/accounts');
  const stranger = console.newBrowser();
  stranger.cookies.set('card_checkout_operator_viewing', token);
  expect((await stranger.get('/dashboard')).headers['location']).toContain('/operator/sign-in');
  expect((await browser.post('/operator/accounts/acc_never/view')).statusCode).toBe(404);
});
