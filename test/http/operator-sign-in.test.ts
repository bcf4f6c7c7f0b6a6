import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Account } from '../../src/accounts/account.ts';
import { SERVICE_LOG } from '../../src/accounts/audit-entry.ts';
import { createPasswordLink, setPasswordByLink } from '../../src/accounts/password-links.ts';
import { hashSecretToken } from '../../src/accounts/people-context.ts';
import type { User } from '../../src/accounts/person.ts';
import { SET_UP_MS } from '../../src/accounts/session-lifetimes.ts';
import { createPeerCheck } from '../../src/web/require-https.ts';
import {
  type Authenticator,
  challengeIn,
  createAuthenticator,
  offeredIn,
  recoveryCodesIn,
} from '../support/authenticator.ts';
import { PASSWORD, type TestBrowser, withoutNonces } from '../support/dashboard.ts';
import { appCode, createTestConsole, type TestConsole } from '../support/operator.ts';
import { expectSays, textOf } from '../support/page-text.ts';

const SIGN_IN = '/operator/sign-in';
const COOKIE = 'card_checkout_operator_session';

let console: TestConsole;
let account: Account;
let operator: User;

async function open(options: Parameters<typeof createTestConsole>[0]): Promise<void> {
  console = await createTestConsole(options);
  account = await console.giveAccount();
  operator = await console.giveOperator();
}

const signInAs = (browser: TestBrowser, { email }: User, password = PASSWORD) =>
  browser.post(SIGN_IN, { email, password });

describe('with a password', () => {
  beforeEach(() => open({}));
  afterEach(() => console.close());

  it('an operator gets in, which is written down', async () => {
    const browser = console.newBrowser();
    const answer = await signInAs(browser, operator);
    expect([answer.statusCode, answer.headers['location']]).toEqual([303, '/operator']);
    expect((await browser.get('/operator/accounts')).statusCode).toBe(200);
    expect(await console.dashboard.store.audit.listEntries(null, null, 10)).toMatchObject([
      { accountId: SERVICE_LOG, action: 'session.opened', actor: operator.email, address: '192.0.2.20' },
    ]);
    await browser.post('/operator/sign-out');
    expect((await browser.get('/operator/accounts')).headers['location']).toContain(SIGN_IN);
    expect(await console.dashboard.store.audit.listEntries(null, null, 1)).toMatchObject([
      { accountId: SERVICE_LOG, action: 'session.ended' },
    ]);
  });

  it('an owner of an account is told the same as a stranger', async () => {
    const owner = await console.dashboard.giveUser({ accountId: account.id, role: 'owner' });
    const answers = [];
    for (const email of [owner.email, 'nobody@shop.example']) {
      const answer = await console.newBrowser().post(SIGN_IN, { email, password: PASSWORD });
      const page = withoutNonces(answer.payload);
      answers.push([answer.statusCode, page.replace(email, '')]);
    }
    expect(answers[0]).toEqual(answers[1]);
    expect(answers[0]?.[0]).toBe(401);
  });

  it('a session of the dashboard opens nothing, and the other way round', async () => {
    const both = await console.dashboard.giveUser(
      { accountId: account.id, role: 'owner' },
      { isOperator: true },
    );
    const merchant = await console.dashboard.signIn(both);
    const browser = console.newBrowser();
    browser.cookies.set(COOKIE, merchant.cookies.get('__Host-card_checkout_session') as string);
    expect((await browser.get('/operator/accounts')).statusCode).toBe(303);
    const inside = await console.signIn(both);
    const outside = console.dashboard.newBrowser();
    outside.cookies.set('__Host-card_checkout_session', inside.cookies.get(COOKIE) as string);
    expect((await outside.get('/dashboard')).statusCode).toBe(303);
  });

  it('leads back to the page that was asked for, and to no other host or area', async () => {
    const asked = await console.newBrowser().get('/operator/audit?account=service');
    expect(asked.headers['location']).toBe(
      `${SIGN_IN}?next=${encodeURIComponent('/operator/audit?account=service')}`,
    );
    for (const next of ['/operatorx', '/operator@evil.example', '/dashboard']) {
      const browser = console.newBrowser();
      const answer = await browser.post(SIGN_IN, { email: operator.email, password: PASSWORD, next });
      expect([next, answer.headers['location']]).toEqual([next, '/operator']);
    }
  });

  it('a password that is set by a link is in the log of the service, also of who is in no account', async () => {
    const { context, store } = console.dashboard;
    const token = await createPasswordLink(context, operator);
    expect(await setPasswordByLink(context, token, 'another good password', '192.0.2.20')).toMatchObject({
      id: operator.id,
    });
    expect(await store.audit.listEntries(SERVICE_LOG, null, 1)).toMatchObject([
      { action: 'password.set', actor: operator.email, address: '192.0.2.20' },
    ]);
  });

  it('a link of the command line sets the password in the console, and opens it', async () => {
    const path = `/operator/password/${await createPasswordLink(console.dashboard.context, operator)}`;
    const browser = console.newBrowser();
    expect(textOf((await browser.get(path)).payload)).toContain(operator.email);
    const answer = await browser.post(path, { new_password: 'another good password' });
    expect([answer.statusCode, answer.headers['location']]).toEqual([303, '/operator']);
    expect((await browser.get('/operator/accounts')).statusCode).toBe(200);
    expect((await console.newBrowser().get(path)).statusCode, 'used up').toBe(404);
  });

  it('a link of somebody without the right sets no password in the console', async () => {
    const owner = await console.dashboard.giveUser({ accountId: account.id, role: 'owner' });
    const token = await createPasswordLink(console.dashboard.context, owner);
    const browser = console.newBrowser();
    const shown = await browser.get(`/operator/password/${token}`);
    expectSays(shown, 404, 'Ask an operator with access to the command line for a new one.');
    const fields = { new_password: 'another good password' };
    expect((await browser.post(`/operator/password/${token}`, fields)).statusCode).toBe(404);
    expect((await signInAs(console.newBrowser(), owner)).statusCode).toBe(401);
    const inDashboard = await console.dashboard.newBrowser().get(`/dashboard/password/${token}`);
    expect(inDashboard.statusCode, 'the link still works').toBe(200);
  });

  it('the right ends with the next click when it is taken', async () => {
    const browser = await console.signIn(operator);
    await console.dashboard.store.people.updateUser(operator.id, { isOperator: false });
    expect((await browser.get('/operator/accounts')).statusCode).toBe(303);
  });
});

describe('in live mode', () => {
  beforeEach(() => open({ baseUrl: 'https://admin.example.com', isTestMode: false }));
  afterEach(() => console.close());

  /** Sets the second factor up, and returns its key. */
  async function setUp(browser: TestBrowser): Promise<string> {
    const { key, sealed } = offeredIn((await browser.get('/operator/set-up')).payload);
    const fields = { sealed, password: PASSWORD, code: appCode(key, console.dashboard.nowMs()) };
    const answer = await browser.post('/operator/set-up', fields);
    expectSays(answer, 200, 'Your recovery codes');
    return key;
  }

  it('a password opens nothing but setting up a second factor, which is asked for from then on', async () => {
    const browser = console.newBrowser();
    expect((await signInAs(browser, operator)).headers['location']).toBe('/operator/set-up');
    const before = browser.cookies.get(`__Host-${COOKIE}`);
    for (const path of ['/operator', '/operator/accounts', '/operator/audit', '/operator/nothing'])
      expect([path, (await browser.get(path)).headers['location']]).toEqual([path, '/operator/set-up']);
    const key = await setUp(browser);
    const added = { action: 'second_factor.added', actor: operator.email, target: operator.email };
    expect(await console.dashboard.store.audit.listEntries(SERVICE_LOG, null, 10)).toContainEqual(
      expect.objectContaining(added),
    );
    expect(browser.cookies.get(`__Host-${COOKIE}`), 'a new session').not.toBe(before);
    expect((await browser.get('/operator/accounts')).statusCode).toBe(200);

    const next = console.newBrowser();
    expect((await signInAs(next, operator)).headers['location']).toContain('/operator/second-factor');
    expect((await next.get('/operator/accounts')).headers['location']).toContain('/operator/second-factor');
    const code = (atMs: number) => next.post('/operator/second-factor', { code: appCode(key, atMs) });
    expect((await code(console.dashboard.nowMs())).statusCode, 'used already').toBe(401);
    console.dashboard.advance(60_000);
    expect((await code(console.dashboard.nowMs())).headers['location']).toBe('/operator');
    expect((await next.get('/operator/accounts')).statusCode).toBe(200);
  });

  it('who had the password only stays outside when somebody else has set it up', async () => {
    const [thief, owner] = [console.newBrowser(), console.newBrowser()];
    await signInAs(thief, operator);
    await signInAs(owner, operator);
    await setUp(owner);
    expect((await thief.get('/operator/accounts')).headers['location']).toBe('/operator/set-up');
    expect((await thief.get('/operator/set-up')).headers['location']).toBe(SIGN_IN);
  });

  it('setting up wants password and code, and does not wait for ever', async () => {
    const browser = console.newBrowser();
    await signInAs(browser, operator);
    const { key, sealed } = offeredIn((await browser.get('/operator/set-up')).payload);
    const code = appCode(key, console.dashboard.nowMs());
    for (const wrong of [{ password: 'wrong' }, { code: '000000' }, { sealed: 'x' }]) {
      const answer = await browser.post('/operator/set-up', { sealed, code, password: PASSWORD, ...wrong });
      expect([wrong, answer.statusCode]).toEqual([wrong, 400]);
    }
    console.dashboard.advance(SET_UP_MS);
    expect((await browser.get('/operator/set-up')).headers['location']).toBe(SIGN_IN);
  });
});

describe('with a passkey as the only second factor', () => {
  const PUBLIC_HOST = 'pay.example.com';
  const ADMIN_URL = 'https://admin.pay.example.com';
  let device: Authenticator;
  let recoveryCodes: readonly string[];

  async function openAt(baseUrl: string): Promise<void> {
    await open({ baseUrl, isTestMode: false });
    device = createAuthenticator(PUBLIC_HOST);
    const { context, store } = console.dashboard;
    await store.people.putMembership({
      accountId: account.id,
      userId: operator.id,
      role: 'viewer',
      createdAtMs: context.nowMs(),
    });
    const merchant = await console.dashboard.signIn(operator);
    const fields = { name: 'Phone', password: PASSWORD };
    const { payload } = await merchant.post('/dashboard/security/passkeys', fields);
    const response = device.make(challengeIn(payload), `https://${PUBLIC_HOST}`);
    const answer = await merchant.post('/dashboard/security/new-passkey', { response });
    recoveryCodes = recoveryCodesIn(answer.payload);
    expect(recoveryCodes).toHaveLength(10);
  }
  afterEach(() => console.close());

  it('the password alone leads to the question for it, and never to setting up another one', async () => {
    await openAt(ADMIN_URL);
    const browser = console.newBrowser();
    expect((await signInAs(browser, operator)).headers['location']).toContain('/operator/second-factor');
    expect((await browser.get('/operator/accounts')).headers['location']).toContain(
      '/operator/second-factor',
    );
    expect((await browser.get('/operator/set-up')).headers['location']).toBe(SIGN_IN);
    const posted = await browser.post('/operator/set-up', { password: PASSWORD });
    expect(posted.headers['location']).toBe(SIGN_IN);
    expect((await console.dashboard.store.people.findUser(operator.id))?.totpSecret).toBeNull();
  });

  it('a session that was begun to set one up is worth nothing once there is a passkey', async () => {
    await open({ baseUrl: ADMIN_URL, isTestMode: false });
    const thief = console.newBrowser();
    expect((await signInAs(thief, operator)).headers['location']).toBe('/operator/set-up');
    const page = (await thief.get('/operator/set-up')).payload;
    const { key, sealed } = offeredIn(page);
    await console.dashboard.store.people.addPasskey({
      id: 'one',
      userId: operator.id,
      name: 'Phone',
      publicKey: 'x',
      counter: 0,
      transports: '[]',
      createdAtMs: 0,
      lastUsedAtMs: null,
      isPasswordless: false,
    });
    const code = appCode(key, console.dashboard.nowMs());
    const answer = await thief.post('/operator/set-up', { sealed, code, password: PASSWORD });
    expect(answer.headers['location']).toBe(SIGN_IN);
    expect((await console.dashboard.store.people.findUser(operator.id))?.totpSecret).toBeNull();
  });

  it('the passkey of the dashboard opens the console below its name, and a recovery code does, once', async () => {
    await openAt(ADMIN_URL);
    const browser = console.newBrowser();
    await signInAs(browser, operator);
    const page = (await browser.get('/operator/second-factor')).payload;
    const fromElsewhere = device.use(challengeIn(page), `https://${PUBLIC_HOST}`);
    const refused = await browser.post('/operator/second-factor', { response: fromElsewhere });
    expect(refused.statusCode).toBe(401);
    const response = device.use(challengeIn(refused.payload), ADMIN_URL);
    const passed = await browser.post('/operator/second-factor', { response });
    expect(passed.headers['location']).toBe('/operator');
    expect((await browser.get('/operator/accounts')).statusCode).toBe(200);

    const [code = ''] = recoveryCodes;
    const use = async () => {
      const next = console.newBrowser();
      await signInAs(next, operator);
      return (await next.post('/operator/second-factor', { code })).statusCode;
    };
    expect([await use(), await use()]).toEqual([303, 401]);
  });

  it('at an address that passkeys do not reach, a recovery code is asked for', async () => {
    await openAt('http://localhost:3001');
    const browser = console.newBrowser();
    await signInAs(browser, operator);
    const page = await browser.get('/operator/second-factor');
    expect(page.payload).not.toContain('data-passkey="use"');
    expect(textOf(page.payload)).toContain('Recovery code');
    const [code = ''] = recoveryCodes;
    expect((await browser.post('/operator/second-factor', { code })).headers['location']).toBe('/operator');
  });

  it('removing it closes the console at once', async () => {
    await openAt(ADMIN_URL);
    const browser = await console.signIn(operator);
    expect((await browser.get('/operator/accounts')).statusCode).toBe(200);
    await console.dashboard.store.people.removePasskey(operator.id, device.id);
    expect((await browser.get('/operator/accounts')).headers['location']).toContain(SIGN_IN);
  });
});

describe('whose password strangers have tried too often', () => {
  afterEach(() => console.close());

  const tryEverywhere = async ({ email }: User) => {
    for (let index = 0; index < 30; index++)
      await console.limits.strangersOfUser.take(hashSecretToken(email));
  };
  const ask = (browser: TestBrowser, { email }: User) => browser.post('/operator/new-browser', { email });

  it('an operator is let in with a new browser by a link to the console, and nobody else is sent one', async () => {
    await open({ baseUrl: 'https://admin.example.com' });
    const owner = await console.dashboard.giveUser({ accountId: account.id, role: 'owner' });
    await tryEverywhere(operator);
    const browser = console.newBrowser();
    const page = await signInAs(browser, operator);
    expect(page.statusCode).toBe(429);
    expect(page.payload).toContain('action="/operator/new-browser"');
    const texts = [];
    for (const user of [owner, operator]) texts.push(textOf((await ask(browser, user)).payload));
    expect(texts[0]).toBe(texts[1]);
    const { mails } = console.dashboard;
    await vi.waitFor(() => expect(mails).toHaveLength(1), { timeout: 10_000 });
    expect(mails[0]?.to).toBe(operator.email);
    const [, token = ''] =
      /https:\/\/admin\.example\.com\/operator\/new-browser\?token=(\S+)/.exec(mails[0]?.text ?? '') ?? [];
    await browser.post('/operator/new-browser/known', { token });
    expect((await signInAs(browser, operator)).headers['location']).toBe('/operator');
    expect((await signInAs(console.newBrowser(), operator)).statusCode).toBe(429);
  });

  it('an operator is promised nothing that has no effect where no email is configured', async () => {
    await open({ hasMail: false });
    await tryEverywhere(operator);
    const page = await signInAs(console.newBrowser(), operator);
    expect(page.statusCode).toBe(429);
    expect(page.payload).not.toContain('/new-browser');
    expect(textOf(page.payload)).toMatch(
      /This browser can sign in in \d+ minutes\. The operator can unblock it/,
    );
    expect(textOf(page.payload)).not.toMatch(/link to set a new password/);
  });
});

it('nobody from another machine is served over plain HTTP', async () => {
  await open({ isTestMode: false, isTrustedPeer: createPeerCheck(['10.0.0.0/8']) });
  expect((await console.newBrowser('192.0.2.20').get(SIGN_IN)).statusCode).toBe(403);
  expect((await console.newBrowser('10.1.2.3').get(SIGN_IN)).statusCode).toBe(200);
  expect((await console.newBrowser('127.0.0.1').get(SIGN_IN)).statusCode).toBe(200);
  await console.close();
});
