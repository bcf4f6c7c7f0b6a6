import { describe, expect, it } from 'vitest';
import { createPasswordLink } from '../../src/accounts/password-links.ts';
import { MAXIMUM_MEMBERS } from '../../src/accounts/person.ts';
import { type Mailer, MailNotSentError } from '../../src/mail/mail.ts';
import { newEntry } from '../store/people.ts';
import { PASSWORD, withoutNonces } from '../support/dashboard.ts';
import { type TestShop, useShop } from '../support/dashboard-shop.ts';
import { expectSays, textOf } from '../support/page-text.ts';

const PEOPLE = '/dashboard/people';

let { dashboard, account, user: owner, browser } = {} as TestShop;
const reopen = useShop((shop) => ({ dashboard, account, user: owner, browser } = shop));

const membersOf = async () =>
  (await dashboard.store.people.listMembers(account.id)).map(({ email, role }) => `${email} ${role}`);
const audited = async () =>
  (await dashboard.store.audit.listEntries(account.id, null, 20)).map(({ action }) => action);

const linkIn = (text: string) => /\/dashboard\/invitation\/[\w-]{43}/.exec(text)?.[0];
const postInvitation = (email: string, role = 'developer') =>
  browser.post(`${PEOPLE}/invite`, { email, role, password: PASSWORD });

/** Invites, and returns the path of the link that is sent. */
async function invite(email: string, role = 'developer'): Promise<string> {
  const before = dashboard.mails.length;
  const answer = await postInvitation(email, role);
  return linkIn(dashboard.mails[before]?.text ?? '') ?? `none: ${textOf(answer.payload)}`;
}

describe('an invitation', () => {
  it('makes somebody new a member with a password of their own, once', async () => {
    const link = await invite(' New@Shop.example ');
    expect(textOf((await browser.get(PEOPLE)).payload)).toContain('new@shop.example');
    const newcomer = dashboard.newBrowser();
    expect(textOf((await newcomer.get(link)).payload)).toContain(
      'new@shop.example is invited to Tea shop as a developer',
    );
    expect((await newcomer.post(link, { new_password: 'short' })).statusCode).toBe(400);
    const answer = await newcomer.post(link, { new_password: 'a fine secret 123' });
    expect([answer.statusCode, answer.headers['location']]).toEqual([303, '/dashboard/sign-in?flash=joined']);
    expect(await membersOf()).toEqual([`${owner.email} owner`, 'new@shop.example developer']);
    const signedIn = await newcomer.post('/dashboard/sign-in', {
      email: 'new@shop.example',
      password: 'a fine secret 123',
    });
    expect([signedIn.statusCode, (await newcomer.get(link)).statusCode]).toEqual([303, 404]);
    expect(await audited()).toEqual(expect.arrayContaining(['invitation.created', 'invitation.accepted']));
  });

  it('of somebody who has a password is accepted by them alone, who keeps it', async () => {
    const known = await dashboard.giveUser(null);
    const link = await invite(known.email, 'viewer');
    const thief = dashboard.newBrowser();
    await thief.post(link, { new_password: 'a fine secret 123' });
    expect((await dashboard.store.people.findUser(known.id))?.passwordHash).toBe(known.passwordHash);
    expect(await membersOf()).toEqual([`${owner.email} owner`]);
    const them = await dashboard.signIn(known);
    expect((await them.get('/dashboard')).statusCode).toBe(403);
    expect((await them.post(link)).headers['location']).toBe('/dashboard');
    expect((await them.get('/dashboard')).statusCode).toBe(200);
    expect((await dashboard.store.people.findUser(known.id))?.passwordHash).toBe(known.passwordHash);
  });

  it('gives nobody the password of a user who has none yet: the one who invites sees the link', async () => {
    const known = await dashboard.giveUser(null);
    await dashboard.store.people.updateUser(known.id, { passwordHash: null });
    const link = await invite(known.email, 'viewer');
    const thief = dashboard.newBrowser();
    await thief.post(link, { new_password: 'a fine secret 123' });
    expect((await dashboard.store.people.findUser(known.id))?.passwordHash).toBeNull();
    expect(await membersOf()).toEqual([`${owner.email} owner`]);
  });

  it('to an account that has become full stays, and makes no user', async () => {
    const link = await invite('new@shop.example');
    for (let members = 1; members < MAXIMUM_MEMBERS; members++) {
      await dashboard.giveUser(
        { accountId: account.id, role: 'viewer' },
        { email: `member${members}@shop.example` },
      );
    }
    const answer = await dashboard.newBrowser().post(link, { new_password: 'a fine secret 123' });
    expectSays(answer, 400, `may have at most ${MAXIMUM_MEMBERS} members`);
    expect(await dashboard.store.people.findUserByEmail('new@shop.example')).toBeNull();
    expect(await dashboard.store.sessions.listInvitations(account.id, dashboard.nowMs())).toHaveLength(1);
  });

  it('is answered the same for the address of a user and for any other, on every page', async () => {
    const known = await dashboard.giveUser(null, { email: 'known@shop.example' });
    const same = (text: string, email: string, link: string) =>
      withoutNonces(text)
        .replaceAll(email, 'EMAIL')
        .replaceAll(link, 'LINK')
        .replaceAll(encodeURIComponent(link), 'LINK');
    const seen: unknown[] = [];
    const hashed: number[] = [];
    for (const email of [known.email, 'nobody@shop.example']) {
      const invited = await postInvitation(email);
      const mail = dashboard.mails.at(-1);
      const link = linkIn(mail?.text ?? '') ?? '';
      const reader = dashboard.newBrowser();
      const page = (await reader.get(link)).payload;
      const poor = await reader.post(link, { new_password: 'short' });
      const before = dashboard.hashedPasswords();
      const accepted = await reader.post(link, { new_password: 'a fine secret 123' });
      hashed.push(dashboard.hashedPasswords() - before);
      seen.push([
        [invited.statusCode, invited.headers['location'], invited.payload],
        [mail?.to === email, mail?.subject, same(mail?.text ?? '', email, link)],
        [same(page, email, link), poor.statusCode, same(poor.payload, email, link)],
        [accepted.statusCode, accepted.headers['location'], accepted.payload],
      ]);
    }
    expect(seen[0]).toEqual(seen[1]);
    expect(hashed).toEqual([1, 1]);
  });

  it('is sent to its address, and its link is shown to nobody, where email is configured', async () => {
    expect((await postInvitation('new@shop.example')).headers['location']).toBe(`${PEOPLE}?flash=invited`);
    expect(dashboard.mails).toMatchObject([{ to: 'new@shop.example' }]);
    const link = linkIn(dashboard.mails[0]?.text ?? '') as string;
    for (const page of [`${PEOPLE}?flash=invited`, `${PEOPLE}/invited`, '/dashboard/audit'])
      expect((await browser.get(page)).payload).not.toContain(link);
    expect(dashboard.logLines.join('')).not.toContain(link.slice(-43));
  });

  it('that cannot be sent is said to have failed, on the page with what was typed', async () => {
    (dashboard.context.mailer as Mailer).send = async () => {
      throw new MailNotSentError('no such mailbox');
    };
    const answer = await postInvitation('new@shop.example', 'owner');
    expectSays(answer, 502, 'could not be sent');
  });

  it('is sent three times an hour to one address, and thirty times from one account', async () => {
    const statuses: number[] = [];
    for (let index = 0; index < 4; index++)
      statuses.push((await postInvitation('a@shop.example')).statusCode);
    expect(statuses).toEqual([303, 303, 303, 429]);
    for (let index = 0; index < 27; index++) {
      if (index % 10 === 6) dashboard.advance(10 * 60_000);
      await postInvitation(`b${index}@shop.example`);
    }
    dashboard.advance(10 * 60_000);
    expect((await postInvitation('c@shop.example')).statusCode).toBe(429);
    expect(dashboard.mails.length).toBeLessThanOrEqual(30);
  });

  it('is shown to the owner once where no email is configured, and a reload makes and shows nothing', async () => {
    await reopen({ hasMail: false });
    const answer = await postInvitation('new@shop.example');
    expect([answer.statusCode, answer.headers['location']]).toEqual([303, `${PEOPLE}/invited`]);
    const link = linkIn((await browser.get(`${PEOPLE}/invited`)).payload) as string;
    expect((await dashboard.newBrowser().get(link)).statusCode).toBe(200);
    const reloaded = await browser.get(`${PEOPLE}/invited`);
    expect([reloaded.statusCode, reloaded.headers['location']]).toEqual([303, PEOPLE]);
    expect(await dashboard.store.sessions.listInvitations(account.id, dashboard.nowMs())).toHaveLength(1);
  });

  it('is made thirty times an hour at most where no email is configured', async () => {
    await reopen({ hasMail: false });
    for (let index = 0; index < 30; index++) {
      if (index % 10 === 0) dashboard.advance(10 * 60_000);
      await postInvitation(`b${index}@shop.example`);
    }
    dashboard.advance(10 * 60_000);
    expect((await postInvitation('c@shop.example')).statusCode).toBe(429);
  });

  it('ends with another one, and with a change of the member: no older link gives a right back', async () => {
    const known = await dashboard.giveUser(null);
    const older = await invite(known.email, 'owner');
    const newer = await invite(known.email, 'developer');
    const them = await dashboard.signIn(known);
    expect((await them.get(older)).statusCode).toBe(404);
    expect((await them.post(newer)).headers['location']).toBe('/dashboard');
    expect(await membersOf()).toContain(`${known.email} developer`);
  });

  it('is withdrawn, or ends after a week, and looks like one that never was then', async () => {
    const [withdrawn, old] = [await invite('a@shop.example'), await invite('b@shop.example')];
    const [, first] = await dashboard.store.sessions.listInvitations(account.id, dashboard.nowMs());
    await browser.post(`${PEOPLE}/invitations/${first?.id}/withdraw`, {});
    dashboard.advance(8 * 24 * 3_600_000);
    const pages = [];
    for (const link of [withdrawn, old, '/dashboard/invitation/unknown']) {
      const answer = await dashboard.newBrowser().get(link);
      expect(answer.statusCode).toBe(404);
      pages.push(withoutNonces(answer.payload));
    }
    expect(new Set(pages).size).toBe(1);
  });
});

describe('members', () => {
  it('get another role with their next click, and lose all with it', async () => {
    const member = await dashboard.giveUser({ accountId: account.id, role: 'viewer' });
    const theirs = await dashboard.signIn(member);
    expect((await theirs.get('/dashboard/keys')).statusCode).toBe(403);
    await browser.post(`${PEOPLE}/${member.id}`, { role: 'developer', password: PASSWORD });
    expect((await theirs.get('/dashboard/keys')).statusCode).toBe(200);
    await browser.post(`${PEOPLE}/${member.id}`, { role: 'none', password: PASSWORD });
    expect((await theirs.get('/dashboard/keys')).statusCode).toBe(403);
    expect(await membersOf()).toEqual([`${owner.email} owner`]);
    expect(await audited()).toEqual(expect.arrayContaining(['member.changed', 'member.removed']));
  });

  it('lose links that set their password with a change of role: a link given for fewer rights opens no more', async () => {
    const member = await dashboard.giveUser({ accountId: account.id, role: 'viewer' });
    for (const role of ['owner', 'none']) {
      const link = `/dashboard/password/${await createPasswordLink(dashboard.context, member)}`;
      expect((await dashboard.newBrowser().get(link)).statusCode).toBe(200);
      await browser.post(`${PEOPLE}/${member.id}`, { role, password: PASSWORD });
      expect((await dashboard.newBrowser().get(link)).statusCode).toBe(404);
    }
  });

  it('keep links that set their password when the same role is given again', async () => {
    const member = await dashboard.giveUser({ accountId: account.id, role: 'viewer' });
    const link = `/dashboard/password/${await createPasswordLink(dashboard.context, member)}`;
    await browser.post(`${PEOPLE}/${member.id}`, { role: 'viewer', password: PASSWORD });
    expect((await dashboard.newBrowser().get(link)).statusCode).toBe(200);
  });

  it('always have an owner among them', async () => {
    for (const role of ['viewer', 'none']) {
      const answer = await browser.post(`${PEOPLE}/${owner.id}`, { role, password: PASSWORD });
      expectSays(answer, 400, 'needs an owner');
    }
    expect(await membersOf()).toEqual([`${owner.email} owner`]);
  });
});

it('pages for owners answer 403 to everybody else, with nothing of what they show', async () => {
  for (const role of ['viewer', 'developer'] as const) {
    const theirs = await dashboard.signIn(await dashboard.giveUser({ accountId: account.id, role }));
    for (const url of [PEOPLE, '/dashboard/audit']) {
      const answer = await theirs.get(url);
      expect([url, role, answer.statusCode]).toEqual([url, role, 403]);
      expect(answer.payload).not.toContain(owner.email);
    }
  }
  expect(await dashboard.store.sessions.listInvitations(account.id, dashboard.nowMs())).toEqual([]);
});

it('the audit log shows who did what, escaped, the newest first, page by page', async () => {
  for (let index = 1; index <= 60; index++) {
    await dashboard.store.audit.appendEntry(
      newEntry(account.id, { target: `<b>entry ${index}.</b>`, address: null }),
    );
  }
  const newest = await browser.get('/dashboard/audit');
  expect(newest.payload).toContain('&#60;b&#62;entry 60.');
  const text = textOf(newest.payload);
  expect(text.indexOf('entry 60.')).toBeLessThan(text.indexOf('entry 59.'));
  expect(text).not.toContain('entry 5.');
  expect(text).toContain('command line');
  const older = /href="(\/dashboard\/audit\?before[^"]+)"/
    .exec(newest.payload)?.[1]
    ?.replace('&#61;', '=') as string;
  const page = await browser.get(older);
  expect(textOf(page.payload)).toContain('entry 5.');
  expect(textOf(page.payload)).toContain('signed in');
  expect(page.payload).not.toContain('>Older<');
});

it('who is a member of several accounts goes from one to the other, with this session alone, and to no foreign one', async () => {
  const [first, second, foreign] = [
    await dashboard.giveAccount({ name: 'First shop' }),
    await dashboard.giveAccount({ name: 'Second shop' }),
    await dashboard.giveAccount({ name: 'Foreign shop' }),
  ];
  const user = await dashboard.giveUser({ accountId: first.id, role: 'owner' });
  await dashboard.store.people.putMembership({
    accountId: second.id,
    userId: user.id,
    role: 'viewer',
    createdAtMs: user.createdAtMs + 1,
  });
  const [here, there] = [await dashboard.signIn(user), await dashboard.signIn(user)];
  const go = (accountId: string) => here.post('/dashboard/account', { account: accountId });
  const page = (await here.get('/dashboard')).payload;
  expect(page).toContain(`value="${second.id}"`);
  expect(page).not.toContain('Foreign shop');

  expect((await go(second.id)).headers['location']).toBe('/dashboard');
  expect((await here.get('/dashboard')).payload).toContain('<p class="shop"><bdi>Second shop</bdi>');
  expect((await here.get('/dashboard/settings')).statusCode).toBe(403);
  expect((await there.get('/dashboard')).payload).toContain('<p class="shop"><bdi>First shop</bdi>');
  expect(await dashboard.store.audit.listEntries(second.id, null, 1)).toMatchObject([
    { action: 'session.came_over', userId: user.id },
  ]);
  for (const id of [foreign.id, 'acc_unknown']) expect((await go(id)).statusCode).toBe(404);
  await dashboard.store.people.changeMembership(second.id, user.id, null);
  const left = (await here.get('/dashboard')).payload;
  expect(left).toContain('First shop');
  expect(left).not.toContain('Other accounts');
});
