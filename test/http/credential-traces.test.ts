import { describe, expect, it, vi } from 'vitest';
import { SERVICE_LOG } from '../../src/accounts/audit-entry.ts';
import { createPasswordLink } from '../../src/accounts/password-links.ts';
import { challengeIn, createAuthenticator, offeredIn } from '../support/authenticator.ts';
import { PASSWORD } from '../support/dashboard.ts';
import { type TestShop, useShop } from '../support/dashboard-shop.ts';
import { appCode } from '../support/operator.ts';

const SIGN_IN = '/dashboard/sign-in';
const SECURITY = '/dashboard/security';
const SECRET = 'JBSWY3DPEHPK3PXP';

let { dashboard, account, user } = {} as TestShop;
useShop((shop) => ({ dashboard, account, user } = shop), { signsIn: false });

const entriesOf = async (accountId: string) =>
  (await dashboard.store.audit.listEntries(accountId, null, 50)).map(
    ({ action, actor, target, address }) => [action, actor, target, address] as const,
  );
const logs = (line: string) => dashboard.logLines.filter((each) => each.includes(line)).length;

describe('a wrong password', () => {
  it('of a user is in the log of their account, once an hour with its count, on a line and in the metric', async () => {
    for (let index = 0; index < 3; index++) {
      const browser = dashboard.newBrowser(`198.51.100.${index}`);
      expect((await browser.post(SIGN_IN, { email: user.email, password: 'wrong' })).statusCode).toBe(401);
      await vi.waitFor(async () => expect((await entriesOf(account.id))[0]?.[3]).toBe(`198.51.100.${index}`));
    }
    expect(await entriesOf(account.id)).toEqual([
      ['sign_in.failed', user.email, '3 times within an hour', '198.51.100.2'],
    ]);
    expect(logs('a sign-in failed')).toBe(3);
    expect(dashboard.failures).toEqual(['password', 'password', 'password']);
  });

  it('for addresses that no user has is one entry of the service, without what was typed', async () => {
    for (let index = 0; index < 5; index++)
      await dashboard.newBrowser().post(SIGN_IN, { email: `user-${index}@evil.example`, password: 'wrong' });
    await vi.waitFor(async () =>
      expect(await entriesOf(SERVICE_LOG)).toEqual([
        ['sign_in.failed', 'unknown address', '5 times within an hour', '192.0.2.10'],
      ]),
    );
    expect(await entriesOf(account.id)).toEqual([]);
  });

  it('and a wrong code are recorded wherever they are asked for', async () => {
    const totpSecret = dashboard.context.secondFactor.box.seal(SECRET, user.id);
    await dashboard.store.people.updateUser(user.id, { totpSecret });
    const fresh = dashboard.newBrowser();
    await fresh.post(SIGN_IN, { email: user.email, password: PASSWORD });
    expect((await fresh.post('/dashboard/second-factor', { code: '000000' })).statusCode).toBe(401);
    const browser = await dashboard.signIn(user);
    const page = '/dashboard/settings';
    for (const proof of [{ password: 'wrong' }, { password: PASSWORD, code: '000000' }])
      expect((await browser.post(`${page}/wallet`, { wallet: '', ...proof })).statusCode).toBe(400);
    await browser.post(`${SECURITY}/password`, { password: 'wrong', new_password: 'x' });
    const failures = (await entriesOf(account.id)).filter(([action]) => action !== 'session.opened');
    expect(failures.toReversed()).toEqual([
      ['second_factor.failed', user.email, '2 times within an hour', '192.0.2.10'],
      ['password.failed', user.email, '2 times within an hour', '192.0.2.10'],
    ]);
    expect(dashboard.failures).toEqual(['second_factor', 'password', 'second_factor', 'password']);
  });
});

describe('a change of credentials', () => {
  it('is mailed to the user: password, authenticator app, passkeys and recovery codes', async () => {
    const browser = await dashboard.signIn(user);
    const send = (path: string, fields: Record<string, string>) =>
      browser.post(`${SECURITY}/${path}`, { password: PASSWORD, ...fields });
    const subjects = () => dashboard.mails.map(({ to, subject }) => [to === user.email, subject]);
    const { key, sealed } = offeredIn((await browser.get(`${SECURITY}/second-factor`)).payload);
    const code = () => {
      dashboard.advance(60_000);
      return appCode(key, dashboard.nowMs());
    };
    await send('second-factor', { sealed, code: code() });
    await send('recovery-codes', { code: code() });
    const device = createAuthenticator('pay.example.com');
    const { payload } = await send('passkeys', { name: 'Phone', code: code() });
    const response = device.make(challengeIn(payload), 'https://pay.example.com');
    await send('new-passkey', { response });
    const [passkey] = await dashboard.store.people.listPasskeys(user.id);
    await send('remove-passkey', { passkey: passkey?.id ?? '', code: code() });
    await send('remove-second-factor', { code: code() });
    await send('password', { new_password: 'another good secret 7' });
    expect(subjects()).toEqual([
      [true, 'An authenticator app was added'],
      [true, 'New recovery codes were created'],
      [true, 'A passkey was added'],
      [true, 'A passkey was removed'],
      [true, 'Your authenticator app was removed'],
      [true, 'Your password was changed'],
    ]);
    expect(dashboard.mails[0]?.text).toContain('from the address 192.0.2.10');
  });

  it('by a link is mailed as well, and a mail server that is down keeps nobody from it', async () => {
    const token = await createPasswordLink(dashboard.context, user);
    const mails = vi.fn(() => Promise.reject(new Error('the mail server is down')));
    Object.assign(dashboard.context, { mailer: { send: mails } });
    const path = `/dashboard/password/${token}`;
    const answer = await dashboard.newBrowser().post(path, { new_password: 'another good secret 7' });
    expect(answer.statusCode).toBe(303);
    expect(mails).toHaveBeenCalledWith(
      expect.objectContaining({ to: user.email, subject: 'Your password was changed' }),
    );
  });
});
