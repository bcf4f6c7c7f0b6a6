import { beforeEach, describe, expect, it, vi } from 'vitest';
import { SERVICE_LOG } from '../../src/accounts/audit-entry.ts';
import { createPasswordLink } from '../../src/accounts/password-links.ts';
import {
  type Authenticator,
  challengeIn,
  createAuthenticator,
  offeredIn,
  recoveryCodesIn,
} from '../support/authenticator.ts';
import { PASSWORD, signInTo, type TestBrowser } from '../support/dashboard.ts';
import { type TestShop, useShop } from '../support/dashboard-shop.ts';
import { appCode } from '../support/operator.ts';
import { textOf } from '../support/page-text.ts';

const SECURITY = '/dashboard/security';
const PASSKEYS = `${SECURITY}/passkeys`;
const APP = `${SECURITY}/second-factor`;
const QUESTION = '/dashboard/second-factor';
const HOST = 'pay.example.com';
const ORIGIN = `https://${HOST}`;
const SESSION_COOKIE = '__Host-card_checkout_session';

let { dashboard, account, user: owner, browser } = {} as TestShop;
useShop((shop) => ({ dashboard, account, user: owner, browser } = shop));
let device: Authenticator;
let recoveryCodes: string[];

beforeEach(async () => {
  device = createAuthenticator(HOST);
  const answer = await add(device);
  recoveryCodes = recoveryCodesIn(answer.payload);
});

/** Adds a passkey, with the passkey that is there already where there is one. */
async function add(some: Authenticator, { origin = ORIGIN, challenge = '' } = {}) {
  const { payload } = await change('passkeys', await proof());
  return make(some.make(challenge || challengeIn(payload), origin));
}

async function make(response: string) {
  return browser.post(`${SECURITY}/new-passkey`, { response });
}

type Fields = Readonly<Record<string, string>>;

/** What a form of the page sends with the passkey in place of a code, and without looking at the page again. */
async function proof(by = device, origin = ORIGIN): Promise<Fields> {
  const page = (await browser.get(PASSKEYS)).payload;
  const response = page.includes('data-passkey="use"') ? by.use(challengeIn(page), origin) : '';
  return { response };
}

const change = (path: string, fields: Fields) =>
  browser.post(`${SECURITY}/${path}`, { name: 'Phone', passkey: device.id, password: PASSWORD, ...fields });

/** A browser whose user has given the password, without the hash that it costs. */
const givePassword = (user = owner) =>
  signInTo(dashboard.context, dashboard.newBrowser(), user, { stage: 'second_factor' });

/** Signs what the page asks for, or something else. */
async function answer(who: TestBrowser, respond: (challenge: string) => string) {
  const page = (await who.get(QUESTION)).payload;
  return who.post(QUESTION, { response: respond(challengeIn(page)) });
}

it('keeps neither a secret nor a password field on the page of security', async () => {
  const { payload } = await browser.get(SECURITY);
  expect(payload).not.toMatch(/type="password"|otpauth|name="sealed"|<dt>Key/);
  expect(textOf(payload)).toMatch(/Passkeys 1 .* Authenticator app off .* Password /);
});

describe('a passkey', () => {
  it('is added by its name, with recovery codes, and asked for after the password', async () => {
    expect(recoveryCodes).toHaveLength(10);
    expect(textOf((await browser.get(PASSKEYS)).payload)).toContain('Phone');
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
    const late = device.use(challengeIn(page), ORIGIN);
    dashboard.advance(61_000);
    const refused = await other.post(QUESTION, { response: late });
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

  it('is not added from another origin, to an old challenge, twice, or without the password', async () => {
    const other = createAuthenticator(HOST);
    expect((await add(other, { origin: 'https://evil.example' })).statusCode).toBe(400);
    expect((await add(other, { challenge: 'A'.repeat(43) })).statusCode).toBe(400);
    expect((await change('passkeys', { ...(await proof()), password: 'wrong' })).statusCode).toBe(400);
    expect((await make(other.make('A'.repeat(43), ORIGIN))).statusCode).toBe(400);
    expect((await add(device)).statusCode).toBe(400);
    const asked = challengeIn((await change('passkeys', await proof())).payload);
    dashboard.advance(2 * 60_000);
    expect((await make(other.make(asked, ORIGIN))).statusCode).toBe(400);
    expect(await dashboard.store.people.listPasskeys(owner.id)).toHaveLength(1);
    expect((await add(other)).headers['location']).toBe(`${SECURITY}?flash=passkey`);
    expect((await make(other.make(asked, ORIGIN))).statusCode).toBe(400);
  });

  it('is removed with the password and a second factor, and the last one takes the recovery codes with it', async () => {
    await dashboard.store.people.updateUser(owner.id, { isOperator: true });
    const remove = (fields: Fields) => change('remove-passkey', fields);
    const foreign = await proofElsewhere();
    for (const refused of [
      {},
      { code: 'aaaa-bbbb-cccc-dddd' },
      { response: 'x' },
      await proof(createAuthenticator(HOST)),
      await proof(device, 'https://evil.example'),
      { ...(await proof()), response: foreign },
      { ...(await proof()), password: 'wrong' },
    ]) {
      expect([refused, (await remove(refused)).statusCode]).toEqual([refused, 400]);
    }
    expect(await dashboard.store.people.listPasskeys(owner.id)).toHaveLength(1);
    const late = await proof();
    dashboard.advance(5 * 60_000);
    expect((await remove(late)).statusCode).toBe(400);
    expect((await remove(await proof())).headers['location']).toBe(`${SECURITY}?flash=passkey-removed`);
    expect(await dashboard.store.people.listPasskeys(owner.id)).toEqual([]);
    const removed = { action: 'passkey.removed', actor: owner.email, target: 'Phone' };
    for (const log of [account.id, SERVICE_LOG])
      expect(await dashboard.store.audit.listEntries(log, null, 1)).toMatchObject([removed]);
    const answered = await (await givePassword()).post(QUESTION, { code: recoveryCodes[0] as string });
    expect(answered.statusCode).toBe(401);
  });

  /** The use of the passkey in another session of the same user. */
  async function proofElsewhere(): Promise<string> {
    const own = browser;
    browser = await dashboard.signIn(owner);
    const { response = '' } = await proof();
    browser = own;
    return response;
  }

  it('is removed with a recovery code as well, where the passkey is not at hand', async () => {
    const [code = ''] = recoveryCodes;
    const fields = { passkey: device.id, password: PASSWORD, code };
    const answer = await browser.post(`${SECURITY}/remove-passkey`, fields);
    expect(answer.headers['location']).toBe(`${SECURITY}?flash=passkey-removed`);
  });

  it('is asked for before any other second factor is added, or recovery codes are made: the password is not enough', async () => {
    const { key, sealed } = offeredIn((await browser.get(APP)).payload);
    const app = { sealed, code: appCode(key, dashboard.nowMs()) };
    for (const path of ['second-factor', 'recovery-codes', 'passkeys'])
      expect([path, (await change(path, path === 'second-factor' ? app : {})).statusCode]).toEqual([
        path,
        400,
      ]);
    const other = createAuthenticator(HOST);
    const asked = challengeIn((await browser.get(PASSKEYS)).payload);
    expect((await make(other.make(asked, ORIGIN))).statusCode).toBe(400);
    expect((await dashboard.store.people.findUser(owner.id))?.totpSecret).toBeNull();
    expect(await dashboard.store.people.listPasskeys(owner.id)).toHaveLength(1);

    const renewed = await change('recovery-codes', await proof());
    expect(renewed.payload).toMatch(/[a-z2-7]{4}(?:-[a-z2-7]{4}){3}/);
    expect((await change('second-factor', { ...app, ...(await proof()) })).statusCode).toBe(200);
  });

  it('lets in whoever has it after any number of wrong codes by others who know the password', async () => {
    const thief = await givePassword();
    const codes: number[] = [];
    for (let index = 0; index < 11; index++)
      codes.push((await thief.post(QUESTION, { code: '000000' })).statusCode);
    expect(codes.at(-1)).toBe(429);
    const page = await (await givePassword()).post(QUESTION, { code: '000000' });
    expect([page.statusCode, page.payload.includes('data-passkey="use"')]).toEqual([429, true]);
    expect(page.headers['retry-after']).toBeDefined();
    const passed = await answer(await givePassword(), (challenge) => device.use(challenge, ORIGIN));
    expect(passed.headers['location']).toBe('/dashboard');
  });
});

describe('a passkey that its device finds, and for which it verifies the user', () => {
  const SIGN_IN = '/dashboard/sign-in';
  async function askAlone(who: TestBrowser) {
    const page = (await who.get(SIGN_IN)).payload;
    const give = (response: string, from = who) => from.post(SIGN_IN, { response });
    return { challenge: challengeIn(page), give };
  }
  let own: Authenticator;
  beforeEach(async () => {
    own = createAuthenticator(HOST, owner.id);
    await add(own);
  });

  it('signs in alone, for one challenge, within five minutes and in one browser', async () => {
    const [next, other] = [dashboard.newBrowser(), dashboard.newBrowser()];
    const asked = await askAlone(next);
    const elsewhere = await askAlone(other);
    const response = own.use(asked.challenge, ORIGIN);
    expect((await asked.give(response, other)).statusCode).toBe(401);
    const opened = await asked.give(response);
    expect([opened.headers['location'], (await next.get('/dashboard')).statusCode]).toEqual([
      '/dashboard',
      200,
    ]);
    expect((await asked.give(response)).statusCode).toBe(401);
    // The challenge is older than the last use.
    expect((await elsewhere.give(own.use(elsewhere.challenge, ORIGIN))).statusCode).toBe(401);
    const late = await askAlone(other);
    dashboard.advance(5 * 60_000);
    expect((await late.give(own.use(late.challenge, ORIGIN))).statusCode).toBe(401);
    const evil = await askAlone(other);
    expect((await evil.give(own.use(evil.challenge, 'https://evil.example'))).statusCode).toBe(401);
    for (const response of ['{}', 'null', 'no JSON'])
      expect((await evil.give(response)).statusCode).toBe(401);
  });

  it('is required: every other passkey, and each one made before, stays a second factor', async () => {
    expect(textOf((await browser.get(PASSKEYS)).payload)).toMatch(/Phone .* after the password .* alone /);
    const plain = async (handle: boolean) => {
      const asked = await askAlone(dashboard.newBrowser());
      const { response, ...rest } = JSON.parse(device.use(asked.challenge, ORIGIN));
      const userHandle = Buffer.from(owner.id).toString('base64url');
      return asked.give(
        JSON.stringify({ ...rest, response: { ...response, ...(handle ? { userHandle } : {}) } }),
      );
    };
    expect([(await plain(false)).statusCode, (await plain(true)).statusCode]).toEqual([401, 401]);
    // Refused although the passkey is passwordless, because the device has not verified its user.
    await dashboard.execute('UPDATE passkeys SET is_passwordless = 1');
    expect((await plain(true)).statusCode).toBe(401);
    await dashboard.execute('UPDATE passkeys SET is_passwordless = 0');
    const asked = await askAlone(dashboard.newBrowser());
    expect((await asked.give(own.use(asked.challenge, ORIGIN))).statusCode).toBe(401);
    const passed = await answer(await givePassword(), (challenge) => own.use(challenge, ORIGIN));
    expect(passed.headers['location']).toBe('/dashboard');
  });

  it.each(['link', 'change'])(
    'does not sign in alone after a new password by %s, only after it',
    async (by) => {
      const fresh = { password: PASSWORD, new_password: 'another good secret 7' };
      const token = await createPasswordLink(dashboard.context, owner);
      const [who, path] =
        by === 'link'
          ? [dashboard.newBrowser(), `/dashboard/password/${token}`]
          : [browser, `${SECURITY}/password`];
      expect(textOf((await who.get(path)).payload)).toContain('Passkeys are a second factor again');
      expect((await who.post(path, fresh)).statusCode).toBe(303);
      expect(dashboard.mails.at(-1)?.text).toContain('every passkey a second factor again');
      const asked = await askAlone(dashboard.newBrowser());
      expect((await asked.give(own.use(asked.challenge, ORIGIN))).statusCode).toBe(401);
      const passed = await answer(await givePassword(), (challenge) => own.use(challenge, ORIGIN));
      expect(passed.headers['location']).toBe('/dashboard');
    },
  );

  it('that is refused is on a line, in the log of the service, and limited by address as passwords are', async () => {
    const asked = await askAlone(dashboard.newBrowser('198.51.100.7'));
    for (let count = 0; count < 20; count++) expect((await asked.give('{}')).statusCode).toBe(401);
    expect((await asked.give('{}')).statusCode).toBe(429);
    expect(
      dashboard.logLines.filter((line) => line.includes('a sign-in failed: wrong passkey')),
    ).toHaveLength(20);
    await vi.waitFor(async () =>
      expect(await dashboard.store.audit.listEntries(SERVICE_LOG, null, 1)).toMatchObject([
        { action: 'sign_in.failed', target: '20 times within an hour', address: '198.51.100.7' },
      ]),
    );
  });
});
