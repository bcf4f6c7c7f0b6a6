import { describe, expect, it, vi } from 'vitest';
import { createPasswordLink, readLink, setPasswordByLink } from '../../src/accounts/password-links.ts';
import { hashSecretToken, operatorActor } from '../../src/accounts/people-context.ts';
import type { User } from '../../src/accounts/person.ts';
import { SESSION_IDLE_MS, SESSION_LIFETIME_MS } from '../../src/accounts/session-lifetimes.ts';
import { BROWSER_MARK_MS } from '../../src/accounts/sessions.ts';
import { changeOperator } from '../../src/accounts/users.ts';
import { enforceRateLimitFrom } from '../../src/web/rate-windows.ts';
import { createTestDashboard, PASSWORD, type TestBrowser, withoutNonces } from '../support/dashboard.ts';
import { type TestShop, useShop } from '../support/dashboard-shop.ts';
import { expectSays, textOf } from '../support/page-text.ts';
import { withOtherEnd } from '../support/random.ts';

const SIGN_IN = '/dashboard/sign-in';
const SESSION_COOKIE = '__Host-card_checkout_session';
const BROWSER_COOKIE = '__Host-card_checkout_browser';

let { dashboard, account, user: owner } = {} as TestShop;
useShop((shop) => ({ dashboard, account, user: owner } = shop), { signsIn: false });

const credentials = (email = owner.email, password = PASSWORD) => ({ email, password });

describe('signing in', () => {
  it('says why it is needed where a session has ended, and leads back', async () => {
    const browser = await dashboard.signIn(owner);
    dashboard.advance(SESSION_IDLE_MS + 1);
    const answer = await browser.get('/dashboard/keys');
    const path = '/dashboard/sign-in?next=%2Fdashboard%2Fkeys&flash=ended';
    expect(answer.headers['location']).toBe(path);
    expect(textOf((await browser.get(path)).payload)).toContain('Your session has ended.');
    expect((await browser.get('/dashboard/keys')).headers['location']).toBe(
      '/dashboard/sign-in?next=%2Fdashboard%2Fkeys',
    );
  });

  it('opens the dashboard to who knows the password, whatever the case of the address', async () => {
    const browser = dashboard.newBrowser();
    const answer = await browser.post(SIGN_IN, credentials(` ${owner.email.toUpperCase()} `));
    expect([answer.statusCode, answer.headers['location']]).toEqual([303, '/dashboard']);
    const page = await browser.get('/dashboard');
    expectSays(page, 200, 'Tea shop');
    expect(await dashboard.store.audit.listEntries(account.id, null, 10)).toMatchObject([
      { action: 'session.opened', actor: owner.email, userId: owner.id, address: '192.0.2.10' },
    ]);
  });

  it('keeps the token in a cookie that scripts, other hosts and plain HTTP do not get, and its hash alone in the store', async () => {
    const browser = dashboard.newBrowser();
    const answer = await browser.post(SIGN_IN, credentials());
    const cookie = [answer.headers['set-cookie']].flat().find((text) => text?.startsWith(SESSION_COOKIE));
    expect(cookie).toMatch(/; Path=\/; HttpOnly; SameSite=Lax; Secure$/);
    const token = browser.cookies.get(SESSION_COOKIE) as string;
    expect(token).toMatch(/^[\w-]{43}$/);
    expect(JSON.stringify(await dashboard.store.sessions.listSessions(owner.id))).not.toContain(token);
    expect(dashboard.logLines.join('')).not.toContain(token);
  });

  it('leads back to the page that was asked for, and to no other host', async () => {
    const asked = await dashboard.newBrowser().get('/dashboard/security?flash=ended');
    const location = asked.headers['location'] as string;
    expect(location).toBe(`${SIGN_IN}?next=${encodeURIComponent('/dashboard/security?flash=ended')}`);
    const page = await dashboard.newBrowser().get(location);
    expect(page.payload).toContain('value="/dashboard/security?flash&#61;ended"');
    for (const next of [
      '//evil.example',
      '/dashboard//evil.example',
      '/dashboard/..//evil.example',
      'https://evil.example',
      '/dashboard\\evil',
      '/pay/1',
      '/dashboard@evil.example',
    ]) {
      const answer = await dashboard.newBrowser('198.51.100.7').post(SIGN_IN, { ...credentials(), next });
      expect([next, answer.headers['location']]).toEqual([next, '/dashboard']);
      dashboard.advance(10 * 60_000);
    }
  });

  it('says the same of a wrong password, an unknown user and one without a password', async () => {
    const invited = await dashboard.giveUser(
      { accountId: account.id, role: 'viewer' },
      { passwordHash: null },
    );
    const answers = [];
    for (const email of [owner.email, 'nobody@shop.example', invited.email, 'no address']) {
      const answer = await dashboard.newBrowser().post(SIGN_IN, credentials(email, 'wrong'));
      expect(answer.cookies.map(({ name }) => name)).not.toContain(SESSION_COOKIE);
      const page = withoutNonces(answer.payload).replace(email, '');
      answers.push([answer.statusCode, page]);
    }
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
    expect(answers[0]?.[0]).toBe(401);
  });

  it('gives a new token each time, so that a cookie planted before is worth nothing', async () => {
    const browser = dashboard.newBrowser();
    const planted = 'A'.repeat(43);
    browser.cookies.set(SESSION_COOKIE, planted);
    await browser.post(SIGN_IN, credentials());
    const first = browser.cookies.get(SESSION_COOKIE);
    expect(first).not.toBe(planted);
    browser.cookies.delete(SESSION_COOKIE);
    await browser.post(SIGN_IN, credentials());
    expect(browser.cookies.get(SESSION_COOKIE)).not.toBe(first);
    const thief = dashboard.newBrowser();
    thief.cookies.set(SESSION_COOKIE, planted);
    expect((await thief.get('/dashboard')).statusCode).toBe(303);
  });

  it('takes no session cookie that came twice, of which one may be planted', async () => {
    const browser = await dashboard.signIn(owner);
    const token = browser.cookies.get(SESSION_COOKIE);
    const answer = await browser.get('/dashboard', {
      cookie: `${SESSION_COOKIE}=${token}; ${SESSION_COOKIE}=${'A'.repeat(43)}`,
    });
    expect(answer.statusCode).toBe(303);
  });

  it('on plain HTTP, which is loopback only, uses a cookie that browsers take there', async () => {
    const plain = await createTestDashboard('http://localhost:3000');
    const browser = plain.newBrowser();
    await browser.get(SIGN_IN);
    expect([...browser.cookies.keys()]).toEqual(['card_checkout_challenge']);
    await plain.close();
  });
});

describe('guessing passwords', () => {
  /** As many tries as strangers have together in an hour, without the cost of their hashes. */
  const tryEverywhere = async (email: string) => {
    for (let index = 0; index < 30; index++)
      await dashboard.limits.strangersOfUser.take(hashSecretToken(email));
  };
  const guess = async (email: string, address: string) =>
    (await dashboard.newBrowser(address).post(SIGN_IN, credentials(email, 'wrong'))).statusCode;

  /** The link that was sent for a new browser, without the host. */
  const linkFor = async (email: string) => {
    await vi.waitFor(() => expect(dashboard.mails).toHaveLength(1), { timeout: 10_000 });
    expect(dashboard.mails[0]?.to).toBe(email);
    return /\/dashboard\/new-browser\S+/.exec(dashboard.mails[0]?.text ?? '')?.[0] ?? '';
  };

  /** Opens the link and says yes on its page. */
  const confirm = (browser: TestBrowser, link: string) =>
    browser.post('/dashboard/new-browser/known', {
      token: new URLSearchParams(link.split('?')[1]).get('token') ?? '',
    });

  it('of one user from one address ends after ten in ten minutes, also with the right one', async () => {
    for (let index = 0; index < 10; index++) expect(await guess(owner.email, '198.51.100.1')).toBe(401);
    const answer = await dashboard.newBrowser('198.51.100.1').post(SIGN_IN, credentials());
    expect(answer.statusCode).toBe(429);
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(500);
    expect((await dashboard.newBrowser('203.0.113.1').post(SIGN_IN, credentials())).statusCode).toBe(303);
    dashboard.advance(10 * 60_000);
    expect((await dashboard.newBrowser('198.51.100.1').post(SIGN_IN, credentials())).statusCode).toBe(303);
  });

  it('from everywhere keeps nobody out of a browser in which they signed in before', async () => {
    const own = dashboard.newBrowser();
    await own.post(SIGN_IN, credentials());
    await own.post('/dashboard/sign-out');
    await tryEverywhere(owner.email);
    expect((await own.post(SIGN_IN, credentials())).statusCode).toBe(303);
  });

  it('of many users from one address keeps nobody out of a known browser at that address', async () => {
    const own = dashboard.newBrowser();
    await own.post(SIGN_IN, credentials());
    await own.post('/dashboard/sign-out');
    for (let index = 0; index < 20; index++) await dashboard.limits.signInsOfAddress.take('192.0.2.10');
    expect(await guess(owner.email, '192.0.2.10')).toBe(429);
    expect((await own.post(SIGN_IN, credentials())).statusCode).toBe(303);
  });

  it('from one IPv6 network of 48 bits is limited as a whole, and leaves others and the way by email open', async () => {
    // In each household of 56 bits, so that none of them is full.
    const anywhere = (index: number) => `2001:db8:7:${((index % 256) * 256 + index).toString(16)}::1`;
    for (let index = 0; index < 320; index++)
      await enforceRateLimitFrom(dashboard.limits.signInsOfAddress, anywhere(index));
    expect(await guess('user@shop.example', anywhere(77))).toBe(429);
    expect(await guess('user@shop.example', '2001:db8:8::1')).toBe(401);
    const neighbor = dashboard.newBrowser(anywhere(99));
    const page = await neighbor.post(SIGN_IN, credentials());
    expect([page.statusCode, textOf(page.payload)]).toEqual([429, expect.stringContaining('we send a link')]);
    const asked = { email: owner.email };
    await neighbor.post('/dashboard/new-browser', asked);
    await confirm(neighbor, await linkFor(owner.email));
    expect((await neighbor.post(SIGN_IN, credentials())).statusCode).toBe(303);
  });

  it('with invented addresses takes the place of no known browser where passwords wait to be hashed', async () => {
    const own = dashboard.newBrowser();
    await own.post(SIGN_IN, credentials());
    await own.post('/dashboard/sign-out');
    const { passwords } = dashboard.context;
    const asStrangers: boolean[] = [];
    const verify: typeof passwords.verify = (password, text, from) => {
      asStrangers.push((from ?? null) !== null);
      return passwords.verify(password, text, from);
    };
    Object.assign(dashboard.context, { passwords: { ...passwords, verify } });
    expect(await guess('invented@shop.example', '198.51.100.1')).toBe(401);
    expect(await guess(owner.email, '198.51.100.1')).toBe(401);
    expect((await own.post(SIGN_IN, credentials())).statusCode).toBe(303);
    expect(asStrangers).toEqual([true, true, false]);
  });

  it('in a known browser is counted for that browser alone', async () => {
    const [own, other] = [dashboard.newBrowser(), dashboard.newBrowser()];
    for (const browser of [own, other]) {
      await browser.post(SIGN_IN, credentials());
      await browser.post('/dashboard/sign-out');
    }
    const wrong = credentials(owner.email, 'wrong');
    for (let index = 0; index < 10; index++) expect((await own.post(SIGN_IN, wrong)).statusCode).toBe(401);
    expect((await own.post(SIGN_IN, wrong)).statusCode).toBe(429);
    expect((await other.post(SIGN_IN, credentials())).statusCode).toBe(303);
  });

  it('from everywhere makes a browser that is not known ask for a link by email, which then lets it in', async () => {
    await tryEverywhere(owner.email);
    const browser = dashboard.newBrowser();
    const page = await browser.post(SIGN_IN, credentials());
    expectSays(page, 429, 'Confirm that it’s you');
    expect(Number(page.headers['retry-after'])).toBeGreaterThan(3_000);
    await browser.post('/dashboard/new-browser', { email: owner.email });
    const link = await linkFor(owner.email);
    expect((await confirm(browser, link)).statusCode).toBe(200);
    expect((await browser.post(SIGN_IN, credentials())).statusCode).toBe(303);
    expect((await dashboard.newBrowser().post(SIGN_IN, credentials())).statusCode).toBe(429);
    dashboard.advance(3_600_000);
    expect((await dashboard.newBrowser().get(link)).statusCode).toBe(404);
  });

  it('is not helped by leading somebody to the link of another user: opening it leaves the browser’s mark', async () => {
    const stranger = await dashboard.giveUser({ accountId: account.id, role: 'viewer' });
    await dashboard.newBrowser().post('/dashboard/new-browser', { email: stranger.email });
    const link = await linkFor(stranger.email);
    const own = dashboard.newBrowser();
    await own.post(SIGN_IN, credentials());
    const mark = own.cookies.get(BROWSER_COOKIE);
    expect((await own.get(link)).statusCode).toBe(200);
    const token = new URLSearchParams(link.split('?')[1]).get('token') ?? '';
    const headers = { 'sec-fetch-site': 'cross-site' };
    const foreign = await own.post('/dashboard/new-browser/known', { token }, { headers });
    expect(foreign.statusCode).toBe(403);
    expect(own.cookies.get(BROWSER_COOKIE)).toBe(mark);
    expect((await confirm(own, link)).statusCode).toBe(200);
    expect(own.cookies.get(BROWSER_COOKIE)).not.toBe(mark);
    const altered = { token: `${token.slice(0, -4)}AAAA` };
    expect((await own.post('/dashboard/new-browser/known', altered)).statusCode).toBe(404);
  });

  it('is answered by a link that works for the longest address there can be, and that no log has', async () => {
    const domain = `${`${'d'.repeat(63)}.`.repeat(2)}${'d'.repeat(53)}.example`;
    const email = `${'l'.repeat(64)}@${domain}`;
    expect(email).toHaveLength(254);
    await dashboard.giveUser({ accountId: account.id, role: 'viewer' }, { email });
    const browser = dashboard.newBrowser();
    await browser.post('/dashboard/new-browser', { email });
    const link = await linkFor(email);
    expect((await confirm(browser, link)).statusCode).toBe(200);
    const [, token = ''] = link.split('=');
    expect(token.length).toBeGreaterThan(300);
    expect(dashboard.logLines.join('')).not.toContain(token);
  });

  it('of somebody who does not exist is asked for the same', async () => {
    const pages = [];
    for (const email of [owner.email, 'nobody@shop.example']) {
      await tryEverywhere(email);
      const answer = await dashboard.newBrowser().post(SIGN_IN, credentials(email, 'wrong'));
      const page = withoutNonces(answer.payload);
      pages.push([answer.statusCode, page.replaceAll(email.replaceAll('=', '&#61;'), '')]);
    }
    expect(pages[0]).toEqual(pages[1]);
  });

  it('is not helped by the mark of another user, a changed or an old one', async () => {
    const stranger = await dashboard.giveUser({ accountId: account.id, role: 'viewer' });
    const theirs = dashboard.newBrowser();
    await theirs.post(SIGN_IN, credentials(stranger.email));
    const own = dashboard.newBrowser();
    await own.post(SIGN_IN, credentials());
    const mark = own.cookies.get(BROWSER_COOKIE) ?? '';
    expect(mark).not.toBe('');
    const answerTo = async (cookie: string | undefined) => {
      const browser = dashboard.newBrowser('203.0.113.9');
      if (cookie !== undefined) browser.cookies.set(BROWSER_COOKIE, cookie);
      return (await browser.post(SIGN_IN, credentials())).statusCode;
    };
    await tryEverywhere(owner.email);
    expect(await answerTo(theirs.cookies.get(BROWSER_COOKIE))).toBe(429);
    expect([await answerTo(withOtherEnd(mark)), await answerTo('')]).toEqual([429, 429]);
    expect(await answerTo(mark)).toBe(303);
    dashboard.advance(BROWSER_MARK_MS);
    await tryEverywhere(owner.email);
    expect(await answerTo(mark)).toBe(429);
  });

  it('of many users from one address ends after twenty in a minute, and stops nobody else', async () => {
    for (let index = 0; index < 20; index++)
      expect(await guess(`stuffed-${index}@shop.example`, '198.51.100.1')).toBe(401);
    expect(await guess('another@shop.example', '198.51.100.1')).toBe(429);
    expect((await dashboard.newBrowser('203.0.113.1').post(SIGN_IN, credentials())).statusCode).toBe(303);
  });

  it('costs the same for a user who does not exist: one hash', async () => {
    for (const email of [owner.email, 'nobody@shop.example', 'no address']) {
      const before = dashboard.hashedPasswords();
      expect(await guess(email, '198.51.100.1')).toBe(401);
      expect([email, dashboard.hashedPasswords() - before]).toEqual([email, 1]);
    }
  });
});

describe('forms', () => {
  it.each([{ 'sec-fetch-site': 'none' }, { 'sec-fetch-site': '' }, { origin: '' }])(
    'are ours whose origin a browser names: %j',
    async (headers) => {
      const browser = await dashboard.signIn(owner);
      const answer = await browser.post('/dashboard/settings/wallet', { wallet: '0x' }, { headers });
      expect(answer.statusCode).toBe(400);
    },
  );

  it.each([
    { 'sec-fetch-site': 'same-site' },
    { 'sec-fetch-site': 'cross-site', origin: '' },
    { 'sec-fetch-site': 'none', origin: '' },
    { 'sec-fetch-site': 'none', origin: 'https://evil.example' },
    { 'sec-fetch-site': '', origin: 'null' },
    { 'sec-fetch-site': '', origin: 'http://pay.example.com' },
    { 'sec-fetch-site': '', origin: 'https://pay.example.com.evil.example' },
  ])('of other pages do nothing: %j', async (headers) => {
    const browser = await dashboard.signIn(owner);
    const answer = await browser.post('/dashboard/settings/wallet', { wallet: '0x' }, { headers });
    expectSays(answer, 403, 'The form came from another website');
  });

  it('that are no forms are refused as pages', async () => {
    const browser = await dashboard.signIn(owner);
    const json = await browser.post(
      '/dashboard/sign-out',
      {},
      { headers: { 'content-type': 'application/json' } },
    );
    expect([json.statusCode, json.headers['content-type']]).toEqual([400, 'text/html; charset=utf-8']);
    const large = await browser.post('/dashboard/sign-out', { filler: 'x'.repeat(20_000) });
    expect(large.statusCode).toBe(413);
  });
});

describe('a session', () => {
  it('ends with signing out, on the server too', async () => {
    const browser = await dashboard.signIn(owner);
    const token = browser.cookies.get(SESSION_COOKIE) as string;
    const answer = await browser.post('/dashboard/sign-out');
    expect(answer.headers['location']).toBe(SIGN_IN);
    expect(browser.cookies.has(SESSION_COOKIE)).toBe(false);
    browser.cookies.set(SESSION_COOKIE, token);
    expect((await browser.get('/dashboard')).statusCode).toBe(303);
  });

  it('ends after twelve hours without use and a week with it', async () => {
    const browser = await dashboard.signIn(owner);
    for (let passedMs = 0; passedMs < SESSION_LIFETIME_MS; passedMs += SESSION_IDLE_MS / 2) {
      expect((await browser.get('/dashboard')).statusCode).toBe(200);
      dashboard.advance(SESSION_IDLE_MS / 2);
    }
    expect((await browser.get('/dashboard')).statusCode).toBe(303);
    const idle = await dashboard.signIn(owner);
    dashboard.advance(SESSION_IDLE_MS + 1);
    expect((await idle.get('/dashboard')).statusCode).toBe(303);
  });

  it('is listed with its browser and address, and can be ended from another', async () => {
    const [here, there] = [await dashboard.signIn(owner), await dashboard.signIn(owner)];
    const list = textOf((await here.get('/dashboard/security')).payload);
    expect(list.match(/Firefox on Linux/g)?.length).toBeGreaterThanOrEqual(2);
    expect(list).toContain('192.0.2.10');
    const sessions = await dashboard.store.sessions.listSessions(owner.id);
    const page = (await there.get('/dashboard/security')).payload;
    const thereId = sessions.find(
      ({ id }) => page.includes(`this one`) && rowOf(page, id).includes('this one'),
    )?.id;
    const answer = await here.post(`/dashboard/sessions/${thereId}/end`, {});
    expect([answer.statusCode, (await there.get('/dashboard')).statusCode]).toEqual([303, 303]);
    expect((await here.get('/dashboard')).statusCode).toBe(200);
  });
});

/** The row of a session in the list. */
function rowOf(page: string, id: string): string {
  return page.split('<tr ').find((row) => row.includes(id)) ?? '';
}

describe('a link to set a password', () => {
  const linkOf = async (user: User) =>
    `/dashboard/password/${await createPasswordLink({ sessions: dashboard.store.sessions, nowMs: dashboard.nowMs }, user)}`;

  it('sets it once, ends all sessions, and signs in', async () => {
    const signedIn = await dashboard.signIn(owner);
    const link = await linkOf(owner);
    const browser = dashboard.newBrowser();
    expect(textOf((await browser.get(link)).payload)).toContain(owner.email);
    const answer = await browser.post(link, { new_password: 'a new password 1' });
    expect([answer.statusCode, answer.headers['location']]).toEqual([303, '/dashboard']);
    expect(textOf((await browser.get('/dashboard')).payload)).toContain(owner.email);
    expect((await signedIn.get('/dashboard')).statusCode).toBe(303);
    const other = dashboard.newBrowser();
    expect((await other.post(SIGN_IN, credentials())).statusCode).toBe(401);
    expect((await other.post(SIGN_IN, credentials(owner.email, 'a new password 1'))).statusCode).toBe(303);
    expect((await dashboard.newBrowser().get(link)).statusCode).toBe(404);
    const late = await dashboard.newBrowser().post(link, { new_password: 'another password 2' });
    expect(late.statusCode).toBe(404);
  });

  it('ends with any change of the password, by another link or in the dashboard', async () => {
    const asked = `/dashboard/password/${await createPasswordLink(dashboard.context, owner, 'forgotten')}`;
    const other = `/dashboard/password/${await createPasswordLink(dashboard.context, owner, 'forgotten')}`;
    const browser = dashboard.newBrowser();
    expect((await browser.post(asked, { new_password: 'a new password 1' })).statusCode).toBe(303);
    expect((await browser.get(other)).statusCode).toBe(404);
    const given = await linkOf(owner);
    const signedIn = await dashboard.signIn(owner);
    const change = { password: 'a new password 1', new_password: 'a newer password 2' };
    const page = '/dashboard/security';
    expect((await signedIn.post(`${page}/password`, change)).statusCode).toBe(303);
    expect((await browser.get(given)).statusCode).toBe(404);
  });

  it('takes no poor password, and is not used up by one', async () => {
    const link = await linkOf(owner);
    const browser = dashboard.newBrowser();
    for (const password of ['short', 'aaaaaaaaaaaaaaaa', owner.email, 'x'.repeat(201)]) {
      const answer = await browser.post(link, { new_password: password });
      expect([password, answer.statusCode]).toEqual([password, 400]);
      expect(textOf(answer.payload)).toMatch(/New password\s+(?:At least|Must) /);
    }
    expect((await browser.post(link, { new_password: 'a new password 1' })).statusCode).toBe(303);
  });

  it('works for a day only, and looks like one that never was afterwards', async () => {
    const link = await linkOf(owner);
    dashboard.advance(25 * 3_600_000);
    const [old, unknown] = [
      await dashboard.newBrowser().get(link),
      await dashboard.newBrowser().get('/dashboard/password/x'),
    ];
    expect(old.statusCode).toBe(404);
    expect(withoutNonces(old.payload)).toBe(withoutNonces(unknown.payload));
  });
});

describe('a password that changes while a request with the old one is in progress', () => {
  /** Runs `act` once, between the end of the next Argon2id computation and the write that follows it. */
  function afterNext(step: 'hash' | 'verify', act: () => Promise<unknown>): void {
    const { passwords } = dashboard.context;
    const compute = passwords[step].bind(passwords) as (...values: unknown[]) => Promise<never>;
    vi.spyOn(passwords, step).mockImplementationOnce(async (...values: unknown[]) => {
      const result = await compute(...values);
      await act();
      return result;
    });
  }
  const reset = async () => {
    const token = await createPasswordLink(dashboard.context, owner);
    const user = await setPasswordByLink(dashboard.context, token, 'the new owner’s password', '192.0.2.1');
    expect(user?.id).toBe(owner.id);
  };
  const stored = () => dashboard.store.people.findUser(owner.id);
  const next = 'the attacker’s next password';

  it('is not set by its holder after an operator grant, whose link keeps working', async () => {
    const browser = await dashboard.signIn(owner);
    let link = '';
    afterNext('hash', async () => {
      await changeOperator(dashboard.context, owner, true, operatorActor);
      link = await createPasswordLink(dashboard.context, owner);
    });
    const page = '/dashboard/security';
    const answer = await browser.post(`${page}/password`, { password: PASSWORD, new_password: next });
    expect(answer.statusCode).toBe(400);
    expect(await stored()).toMatchObject({ passwordHash: null, isOperator: true });
    expect(await readLink(dashboard.context, link, 'password')).not.toBeNull();
  });

  it('is not set by an earlier link after an operator grant', async () => {
    const token = await createPasswordLink(dashboard.context, owner);
    const { people } = dashboard.context;
    const update = people.updateUser.bind(people);
    vi.spyOn(people, 'updateUser').mockImplementationOnce(async (...values) => {
      await changeOperator(dashboard.context, owner, true, operatorActor);
      return update(...values);
    });
    expect(await setPasswordByLink(dashboard.context, token, next, '192.0.2.1')).toBeNull();
    expect(await stored()).toMatchObject({ passwordHash: null, isOperator: true });
  });

  it('is not replaced by its holder after a reset by link', async () => {
    const browser = await dashboard.signIn(owner);
    const page = '/dashboard/security';
    const form = { password: PASSWORD, new_password: next };
    afterNext('verify', reset);
    expect((await browser.post(`${page}/password`, form)).statusCode).toBe(400);
    const hash = (await stored())?.passwordHash ?? null;
    expect(await dashboard.context.passwords.verify('the new owner’s password', hash)).toBe(true);
  });

  it('opens no session after a reset by link', async () => {
    afterNext('verify', reset);
    expect((await dashboard.newBrowser().post(SIGN_IN, credentials())).statusCode).toBe(401);
    expect(await dashboard.store.sessions.listSessions(owner.id)).toEqual([]);
  });
});

it('tries of the password in one session leave those of the user’s other sessions', async () => {
  const page = '/dashboard/security';
  const stolen = await dashboard.signIn(owner);
  const own = await dashboard.signIn(owner);
  const form = { password: 'a wrong password', new_password: PASSWORD };
  for (let index = 0; index < 10; index++) await stolen.post(`${page}/password`, form);
  expect((await stolen.post(`${page}/password`, form)).statusCode).toBe(429);
  expect((await own.post(`${page}/password`, form)).statusCode).toBe(400);
});
