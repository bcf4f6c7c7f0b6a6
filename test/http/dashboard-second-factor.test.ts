import { Secret, TOTP } from 'otpauth';
import { beforeEach, describe, expect, it } from 'vitest';
import { createPasswordLink } from '../../src/accounts/password-links.ts';
import { offeredIn, recoveryCodesIn } from '../support/authenticator.ts';
import { PASSWORD, type TestBrowser } from '../support/dashboard.ts';
import { type TestShop, useShop } from '../support/dashboard-shop.ts';

const SECURITY = '/dashboard/security';
const APP = `${SECURITY}/second-factor`;
const QUESTION = '/dashboard/second-factor';

let { dashboard, account, user: owner, browser } = {} as TestShop;
useShop((shop) => ({ dashboard, account, user: owner, browser } = shop));
/** The app's secret, and the recovery codes that were shown. */
let secret: string;
let recoveryCodes: string[];
let codesPage: string;

/** What the app shows at the dashboard's time, or some steps of 30 seconds away from it. */
function codeAt(steps = 0): string {
  return new TOTP({ secret: Secret.fromBase32(secret) }).generate({
    timestamp: dashboard.nowMs() + steps * 30_000,
  });
}

beforeEach(async () => {
  const { key, sealed } = offeredIn((await browser.get(APP)).payload);
  secret = key;
  const answer = await browser.post(APP, { sealed, code: codeAt(), password: PASSWORD });
  codesPage = answer.payload;
  recoveryCodes = recoveryCodesIn(codesPage);
});

/** A browser whose user has given the password. */
async function givePassword(): Promise<TestBrowser> {
  const next = dashboard.newBrowser();
  const answer = await next.post('/dashboard/sign-in', { email: owner.email, password: PASSWORD });
  expect(answer.headers['location']).toContain(QUESTION);
  return next;
}

const give = async (who: TestBrowser, code: string) => (await who.post(QUESTION, { code })).statusCode;

describe('a second factor', () => {
  it('shows its recovery codes to copy and download, without a script too', async () => {
    expect((await browser.get(APP)).payload).not.toContain(recoveryCodes[0]);
    expect(codesPage).toContain('data-copies="codes" hidden>Copy<');
    const link = /href="data:text\/plain;charset&#61;utf-8,([^"]+)" download="recovery-codes.txt"/;
    expect(decodeURIComponent(link.exec(codesPage)?.[1] ?? '').split('\n')).toEqual(recoveryCodes);
  });

  it('is asked for after a link sets the password', async () => {
    const link = `/dashboard/password/${await createPasswordLink(dashboard.context, owner)}`;
    const next = dashboard.newBrowser();
    const answer = await next.post(link, { new_password: 'a new password 1' });
    expect(answer.headers['location']).toContain(QUESTION);
    expect((await next.get('/dashboard')).headers['location']).toBe(QUESTION);
    dashboard.advance(30_000);
    expect([await give(next, codeAt()), (await next.get('/dashboard')).statusCode]).toEqual([303, 200]);
  });

  it('is asked for after the password, which alone opens nothing', async () => {
    const next = await givePassword();
    for (const url of ['/dashboard', '/dashboard/keys', SECURITY]) {
      const answer = await next.get(url);
      expect([answer.statusCode, answer.headers['location']]).toEqual([303, QUESTION]);
    }
    expect((await next.post('/dashboard/keys', { name: 'x' })).headers['location']).toBe(QUESTION);
    const before = next.cookies.get('__Host-card_checkout_session');
    dashboard.advance(30_000);
    expect(await give(next, codeAt())).toBe(303);
    expect(next.cookies.get('__Host-card_checkout_session')).not.toBe(before);
    expect((await next.get('/dashboard')).statusCode).toBe(200);
    next.cookies.set('__Host-card_checkout_session', before as string);
    expect((await next.get('/dashboard')).headers['location']).toBe('/dashboard/sign-in?flash=ended');
  });

  it('lets nobody guess for long', async () => {
    const next = await givePassword();
    for (let index = 0; index < 10; index++) expect(await give(next, '000000')).toBe(401);
    dashboard.advance(60_000);
    expect(await give(next, codeAt())).toBe(429);
    dashboard.advance(5 * 60_000);
    expect((await next.get(QUESTION)).headers['location']).toBe('/dashboard/sign-in');
  });

  it('lets a browser in which its user has signed in before go on, whatever others who know the password have tried', async () => {
    dashboard.advance(30_000);
    const own = await givePassword();
    expect(await give(own, codeAt())).toBe(303);
    await own.post('/dashboard/sign-out');
    const thief = await givePassword();
    for (let index = 0; index < 10; index++) await give(thief, '000000');
    expect(await give(thief, '000000')).toBe(429);
    await own.post('/dashboard/sign-in', { email: owner.email, password: PASSWORD });
    dashboard.advance(30_000);
    expect(await give(own, codeAt())).toBe(303);
  });

  it('is changed by who is signed in, whatever others who know the password have tried', async () => {
    const thief = await givePassword();
    for (let index = 0; index < 11; index++) await give(thief, '000000');
    dashboard.advance(30_000);
    const fields = { password: PASSWORD, code: codeAt() };
    const answer = await browser.post(`${SECURITY}/remove-second-factor`, fields);
    expect(answer.headers['location']).toBe(`${SECURITY}?flash=removed`);
  });

  it('keeps the key that was scanned after a mistyped code, so that the next code of the app is right', async () => {
    const other = await dashboard.giveUser({ accountId: account.id, role: 'viewer' });
    const theirs = await dashboard.signIn(other);
    const scanned = offeredIn((await theirs.get(APP)).payload);
    const form = APP;
    for (const wrong of [
      { code: '000000', password: PASSWORD },
      { code: '000000', password: 'wrong' },
    ]) {
      const refused = await theirs.post(form, { sealed: scanned.sealed, ...wrong });
      expect(refused.statusCode).toBe(400);
      expect(offeredIn(refused.payload)).toEqual(scanned);
    }
    secret = scanned.key;
    const right = { sealed: scanned.sealed, code: codeAt(), password: PASSWORD };
    expect((await theirs.post(form, right)).statusCode).toBe(200);
  });

  it('is switched off, and its codes replaced, with password and code only', async () => {
    dashboard.advance(30_000);
    const remove = (fields: Record<string, string>) =>
      browser.post(`${SECURITY}/remove-second-factor`, fields);
    expect((await remove({ password: 'wrong', code: codeAt() })).statusCode).toBe(400);
    expect((await remove({ password: PASSWORD, code: '000000' })).statusCode).toBe(400);
    const renewed = await browser.post(`${SECURITY}/recovery-codes`, { password: PASSWORD, code: codeAt() });
    expect(recoveryCodesIn(renewed.payload)).toHaveLength(10);
    expect(await give(await givePassword(), recoveryCodes[0] as string)).toBe(401);
    dashboard.advance(30_000);
    expect((await remove({ password: PASSWORD, code: codeAt() })).statusCode).toBe(303);
    expect(
      (await dashboard.newBrowser().post('/dashboard/sign-in', { email: owner.email, password: PASSWORD }))
        .headers['location'],
    ).toBe('/dashboard');
  });
});

describe('a password', () => {
  const change = (fields: Record<string, string>) => browser.post(`${SECURITY}/password`, fields);

  it('is changed by who knows the one before, which ends the other sessions and keeps this one', async () => {
    const other = await givePassword();
    const answer = await change({ password: PASSWORD, new_password: 'another password 1' });
    expect(answer.headers['location']).toBe(`${SECURITY}?flash=password`);
    expect((await browser.get('/dashboard')).statusCode).toBe(200);
    expect((await other.get(QUESTION)).headers['location']).toBe('/dashboard/sign-in');
    const old = await dashboard
      .newBrowser()
      .post('/dashboard/sign-in', { email: owner.email, password: PASSWORD });
    expect(old.statusCode).toBe(401);
  });

  it('stays when the one before is wrong, and guessing it ends like signing in', async () => {
    const statuses = [];
    for (let index = 0; index < 12; index++)
      statuses.push((await change({ password: 'wrong', new_password: 'another password 1' })).statusCode);
    expect([statuses.at(0), statuses.at(-1)]).toEqual([400, 429]);
  });
});
