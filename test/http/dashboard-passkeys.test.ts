import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openSession } from '../../src/accounts/open-session.ts';
import type { Account } from '../../src/domain/account.ts';
import { SERVICE_LOG } from '../../src/domain/audit-entry.ts';
import type { User } from '../../src/domain/person.ts';
import { type Authenticator, createAuthenticator } from '../support/authenticator.ts';
import {
  createTestDashboard,
  PASSWORD,
  type TestBrowser,
  type TestDashboard,
  textOf,
} from '../support/dashboard.ts';

const SECURITY = '/dashboard/security';
const QUESTION = '/dashboard/second-factor';
const HOST = 'pay.example.com';
const ORIGIN = `https://${HOST}`;
const SESSION_COOKIE = '__Host-card_checkout_session';

let dashboard: TestDashboard;
let account: Account;
let owner: User;
let browser: TestBrowser;
let device: Authenticator;
let recoveryCodes: string[];

beforeEach(async () => {
  dashboard = await createTestDashboard();
  account = await dashboard.giveAccount();
  owner = await dashboard.giveUser({ accountId: account.id, role: 'owner' });
  browser = await dashboard.signIn(owner);
  device = createAuthenticator(HOST);
  const answer = await add(device);
  recoveryCodes = answer.payload.match(/[a-z2-7]{4}(?:-[a-z2-7]{4}){3}/g) ?? [];
});
afterEach(() => dashboard.close());

/** What a page asks a browser to sign. */
function challengeIn(page: string): string {
  const [, options = ''] = /data-options="([^"]+)"/.exec(page) ?? [];
  const json = options.replaceAll(/&#(\d+);/g, (_entity, code) => String.fromCodePoint(Number(code)));
  return JSON.parse(json === '' ? '{}' : json).challenge ?? '';
}

async function add(some: Authenticator, { origin = ORIGIN, password = PASSWORD, challenge = '' } = {}) {
  const asked = challengeIn((await browser.get(SECURITY)).payload);
  return send(some.make(challenge || asked, origin), password);
}

/** Without looking at the page again, which would ask for something new. */
async function send(response: string, password = PASSWORD) {
  const form_token = /name="form_token" value="([^"]+)"/.exec((await browser.get('/dashboard')).payload)?.[1];
  return browser.post(`${SECURITY}/passkeys`, {
    ...{ name: 'Phone', response, password },
    form_token: form_token as string,
  });
}

/** A browser whose user has given the password, without the hash that it costs. */
async function givePassword(user = owner): Promise<TestBrowser> {
  const next = dashboard.newBrowser();
  const caller = { address: '192.0.2.10', userAgent: 'Firefox' };
  const how = { area: 'dashboard', stage: 'second_factor', caller } as const;
  const { token } = await openSession({ ...dashboard.store, nowMs: dashboard.nowMs } as never, user, how);
  next.cookies.set(SESSION_COOKIE, token);
  return next;
}

/** Signs what the page asks for, or something else. */
async function answer(who: TestBrowser, respond: (challenge: string) => string) {
  const page = (await who.get(QUESTION)).payload;
  const form_token = /name="form_token" value="([^"]+)"/.exec(page)?.[1] as string;
  return who.post(QUESTION, { response: respond(challengeIn(page)), form_token });
}

describe('a passkey', () => {
  it('is added by its name, with recovery codes, and asked for after the password', async () => {
    expect(recoveryCodes).toHaveLength(10);
    expect(textOf((await browser.get(SECURITY)).payload)).toContain('Phone');
    expect(await dashboard.store.audit.listEntries(account.id, null, 1)).toMatchObject([
      { action: 'passkey.added', target: 'Phone' },
    ]);
    const next = dashboard.newBrowser();
    const asked = await next.post('/dashboard/sign-in', { email: owner.email, password: PASSWORD });
    expect(asked.headers['location']).toContain(QUESTION);
    expect((await next.get('/dashboard')).headers['location']).toBe(QUESTION);
    const before = next.cookies.get(SESSION_COOKIE);
    const passed = await answer(next, (challenge) => device.use(challenge, ORIGIN));
    expect([passed.statusCode, passed.headers['location']]).toEqual([303, '/dashboard']);
    expect(next.cookies.get(SESSION_COOKIE)).not.toBe(before);
    expect((await next.get('/dashboard')).statusCode).toBe(200);
    const [member] = await dashboard.store.people.listMembers(account.id);
    expect(member?.hasSecondFactor).toBe(true);
  });

  it('opens nothing from another origin, to another challenge, or with another key', async () => {
    const next = await givePassword();
    const stranger = createAuthenticator(HOST);
    const forged = createAuthenticator(HOST);
    const elsewhere = createAuthenticator('evil.example');
    const answers: ((challenge: string) => string)[] = [
      (challenge) => device.use(challenge, 'https://evil.example'),
      () => device.use('A'.repeat(43), ORIGIN),
      (challenge) => stranger.use(challenge, ORIGIN),
      (challenge) => forged.use(challenge, ORIGIN).replaceAll(forged.id, device.id),
      (challenge) => elsewhere.use(challenge, ORIGIN),
      () => 'no JSON',
      () => 'null',
      () => '{}',
    ];
    for (const respond of answers) expect((await answer(next, respond)).statusCode).toBe(401);
    expect((await next.get('/dashboard')).headers['location']).toBe(QUESTION);
  });

  it('answers a challenge once, within five minutes, and for one session', async () => {
    const next = await givePassword();
    let sent = '';
    const respond = (challenge: string) => {
      sent = device.use(challenge, ORIGIN);
      return sent;
    };
    expect((await answer(next, respond)).statusCode).toBe(303);
    const other = await givePassword();
    expect((await answer(other, () => sent)).statusCode).toBe(401);
    await other.get(QUESTION);
    dashboard.advance(4 * 60_000);
    const page = (await other.get(QUESTION)).payload;
    const form_token = /name="form_token" value="([^"]+)"/.exec(page)?.[1] as string;
    const late = device.use(challengeIn(page), ORIGIN);
    dashboard.advance(61_000);
    const refused = await other.post(
      QUESTION,
      { response: late, form_token },
      { page: '/dashboard/sign-in' },
    );
    expect(refused.headers['location']).toBe('/dashboard/sign-in');
  });

  it('whose count goes back is refused: it was copied', async () => {
    const use = async (counter: number) =>
      (await answer(await givePassword(), (challenge) => device.use(challenge, ORIGIN, counter))).statusCode;
    expect([await use(5), await use(5), await use(4), await use(6)]).toEqual([303, 401, 401, 303]);
  });

  it('of another user opens nothing', async () => {
    const stranger = await dashboard.giveUser({ accountId: account.id, role: 'viewer' });
    const own = createAuthenticator(HOST);
    browser = await dashboard.signIn(stranger);
    expect((await add(own)).statusCode).toBe(200);
    const next = await givePassword(owner);
    expect((await answer(next, (challenge) => own.use(challenge, ORIGIN))).statusCode).toBe(401);
  });

  it('is replaced by a recovery code, once', async () => {
    const [code = ''] = recoveryCodes;
    const use = async () => (await (await givePassword()).post(QUESTION, { code })).statusCode;
    expect([await use(), await use()]).toEqual([303, 401]);
  });

  it('is not added from another origin, to an old challenge, twice, or without the password', async () => {
    const other = createAuthenticator(HOST);
    expect((await add(other, { origin: 'https://evil.example' })).statusCode).toBe(400);
    expect((await add(other, { challenge: 'A'.repeat(43) })).statusCode).toBe(400);
    expect((await add(other, { password: 'wrong' })).statusCode).toBe(400);
    expect((await add(device)).statusCode).toBe(400);
    const asked = challengeIn((await browser.get(SECURITY)).payload);
    dashboard.advance(5 * 60_000);
    expect((await send(other.make(asked, ORIGIN))).statusCode).toBe(400);
    expect(await dashboard.store.people.listPasskeys(owner.id)).toHaveLength(1);
    const made = await add(other);
    expect(made.headers['location']).toBe(`${SECURITY}?said=passkey`);
  });

  it('is removed with the password, and the last one takes the recovery codes with it', async () => {
    const remove = (password: string) =>
      browser.post(`${SECURITY}/remove-passkey`, { passkey: device.id, password }, { page: SECURITY });
    await dashboard.store.people.updateUser(owner.id, { isOperator: true });
    expect((await remove('wrong')).statusCode).toBe(400);
    expect((await remove(PASSWORD)).headers['location']).toBe(`${SECURITY}?said=passkey-removed`);
    expect(await dashboard.store.people.listPasskeys(owner.id)).toEqual([]);
    const removed = { action: 'passkey.removed', actor: owner.email, target: 'Phone' };
    for (const log of [account.id, SERVICE_LOG]) {
      expect(await dashboard.store.audit.listEntries(log, null, 1)).toMatchObject([removed]);
    }
    const late = await (await givePassword()).post(QUESTION, { code: recoveryCodes[0] as string });
    expect(late.statusCode).toBe(401);
  });
});
