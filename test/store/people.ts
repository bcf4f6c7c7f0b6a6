import { expect, it } from 'vitest';
import {
  MAXIMUM_FORGOTTEN_LINKS,
  MAXIMUM_INVITATIONS,
  type OneTimeLink,
} from '../../src/accounts/account-store.ts';
import {
  type AuditEntry,
  MAXIMUM_ENTRIES_OF_ACTION,
  type NewAuditEntry,
} from '../../src/accounts/audit-entry.ts';
import { MAXIMUM_MEMBERS, type Role, type User } from '../../src/accounts/person.ts';
import { type DashboardSession, MAXIMUM_SESSIONS } from '../../src/accounts/session-lifetimes.ts';
import type { Store } from '../../src/app/store/store.ts';
import { atOnce, DAY_MS, giveAccount, NOW_MS, type StoreContext } from './fixtures.ts';

let lastNumber = 0;

export function newUser(change: Partial<User> = {}): User {
  const number = ++lastNumber;
  return {
    id: `usr_${number}`,
    email: `person-${number}@shop.example`,
    passwordHash: null,
    totpSecret: null,
    totpStep: 0,
    isOperator: false,
    createdAtMs: NOW_MS + number,
    ...change,
  };
}

export function newDashboardSession(
  userId: string,
  change: Partial<DashboardSession> = {},
): DashboardSession {
  const number = ++lastNumber;
  return {
    id: `ses_${number}`,
    tokenHash: `hash of ses_${number}`,
    userId,
    accountId: null,
    area: 'dashboard',
    stage: 'open',
    createdAtMs: NOW_MS + number,
    lastSeenAtMs: NOW_MS + number,
    expiresAtMs: NOW_MS + DAY_MS,
    address: '192.0.2.1',
    userAgent: 'Firefox',
    ...change,
  };
}

export function newLink(change: Partial<OneTimeLink> = {}): OneTimeLink {
  const number = ++lastNumber;
  return {
    id: `lnk_${number}`,
    tokenHash: `hash of lnk_${number}`,
    kind: change.accountId === undefined ? 'password' : 'invitation',
    email: 'person@shop.example',
    userId: null,
    accountId: null,
    role: null,
    createdAtMs: NOW_MS + number,
    expiresAtMs: NOW_MS + DAY_MS,
    ...change,
  };
}

export function newEntry(accountId: string, change: Partial<NewAuditEntry> = {}): NewAuditEntry {
  return {
    accountId,
    atMs: NOW_MS,
    actor: 'person@shop.example',
    userId: 'usr_1',
    action: 'session.opened',
    target: null,
    address: '192.0.2.1',
    ...change,
  };
}

async function giveUser({ store }: Pick<StoreContext, 'store'>, change: Partial<User> = {}): Promise<User> {
  const user = newUser(change);
  await store.people.createUser(user);
  return user;
}

async function giveAccountId({ store }: StoreContext): Promise<string> {
  const account = await giveAccount(store);
  return account.id;
}

export async function giveMember(store: Store, accountId: string, role: Role): Promise<User> {
  const user = await giveUser({ store });
  const membership = { accountId, userId: user.id, role, createdAtMs: user.createdAtMs };
  expect(await store.people.putMembership(membership)).toBe(true);
  return user;
}

export function peoplePromises(context: StoreContext): void {
  const { store } = context;
  const { people } = store;
  it('gives back a user as they were stored, by id and by address', async () => {
    const user = await giveUser(context, {
      passwordHash: 'h',
      totpSecret: 's',
      totpStep: 7,
      isOperator: true,
    });
    await context.reopen();
    expect(await people.findUser(user.id)).toEqual(user);
    expect(await people.findUserByEmail(user.email)).toEqual(user);
    expect(await people.findUserByEmail('nobody@shop.example')).toBeNull();
    expect(await people.listUsers(10)).toEqual([user]);
  });

  it('has one user for each address, also when several are made at once', async () => {
    const made = await atOnce(10, () => people.createUser(newUser({ email: 'a@shop.example' })));
    expect(made.filter(Boolean)).toHaveLength(1);
  });

  it('changes only what a change names, also when two arrive together', async () => {
    const user = await giveUser(context);
    await Promise.all([
      people.updateUser(user.id, { passwordHash: 'new' }),
      people.updateUser(user.id, { totpSecret: 'sealed', totpStep: 3 }),
    ]);
    const changed = { ...user, passwordHash: 'new', totpSecret: 'sealed', totpStep: 3 };
    expect(await people.findUser(user.id)).toEqual(changed);
    expect(await people.updateUser('unknown', { passwordHash: 'x' })).toBeNull();
  });

  it('writes what was checked before only while the password, the rights and the session are the checked ones', async () => {
    const { sessions } = store;
    const user = await giveUser(context, { passwordHash: 'old' });
    const session = newDashboardSession(user.id);
    expect(await sessions.createSession(session, { user, sessionId: null })).toBe(true);
    const passkey = {
      id: 'passkey',
      userId: user.id,
      name: 'Phone',
      publicKey: 'key',
      counter: 0,
      transports: '[]',
      createdAtMs: NOW_MS,
      lastUsedAtMs: null,
      isPasswordless: false,
    };
    const holding = { user, sessionId: session.id };
    expect(await people.addPasskey({ ...passkey, id: 'kept' }, holding)).toBe(true);
    const stale = [
      { user: { ...user, passwordHash: 'other' }, sessionId: session.id },
      { user: { ...user, passwordHash: null }, sessionId: null },
      { user: { ...user, isOperator: true }, sessionId: session.id },
      { user, sessionId: 'ended' },
    ];
    for (const guard of stale) {
      expect(await people.updateUser(user.id, { passwordHash: 'new' }, { guard })).toBeNull();
      expect(await sessions.createSession(newDashboardSession(user.id), guard)).toBe(false);
      expect(await people.addPasskey(passkey, guard)).toBe(false);
      expect(await people.removePasskey(user.id, 'kept', guard)).toBe(false);
      expect(await people.replaceRecoveryCodes(user.id, ['a'], guard)).toBe(false);
    }
    expect(await people.findUser(user.id)).toEqual(user);
    expect(await sessions.listSessions(user.id)).toHaveLength(1);
    expect((await people.listPasskeys(user.id)).map(({ id }) => id)).toEqual(['kept']);
    expect(await people.consumeRecoveryCode(user.id, ['a'])).toBe(false);
    expect(await people.updateUser(user.id, { passwordHash: 'new' }, { guard: holding })).toMatchObject({
      passwordHash: 'new',
    });
  });

  it('ends links, other sessions and second factors with the change of a user, and changes nothing without its link', async () => {
    const { sessions } = store;
    const user = await giveUser(context, { passwordHash: 'old', totpSecret: 'sealed' });
    const kept = newDashboardSession(user.id);
    await sessions.createSession(kept);
    await sessions.createSession(newDashboardSession(user.id));
    await people.replaceRecoveryCodes(user.id, ['a']);
    const link = newLink({ userId: user.id });
    await sessions.createLink(link);
    const late = { tokenHash: link.tokenHash, nowMs: link.expiresAtMs };
    const change = { passwordHash: 'new' };
    expect(await people.updateUser(user.id, change, { link: late })).toBeNull();
    expect(await people.findUser(user.id)).toEqual(user);
    const options = {
      link: { tokenHash: link.tokenHash, nowMs: NOW_MS },
      endsAccess: { exceptSessionId: kept.id },
      removesSecondFactors: true,
    };
    const both = await atOnce(2, () => people.updateUser(user.id, change, options));
    expect(both.filter((changed) => changed !== null)).toHaveLength(1);
    expect(await people.findUser(user.id)).toEqual({ ...user, passwordHash: 'new', totpSecret: null });
    expect((await sessions.listSessions(user.id)).map(({ id }) => id)).toEqual([kept.id]);
    expect(await sessions.findLink(link.tokenHash)).toBeNull();
    expect(await people.consumeRecoveryCode(user.id, ['a'])).toBe(false);
  });

  it('takes each time step of a second factor once, and none before it', async () => {
    const user = await giveUser(context);
    const taken = await atOnce(10, () => people.consumeTotpStep(user.id, 7));
    expect(taken.filter(Boolean)).toHaveLength(1);
    expect(await people.consumeTotpStep(user.id, 6)).toBe(false);
    expect(await people.consumeTotpStep(user.id, 8)).toBe(true);
  });

  it('takes each recovery code of its user once, and none that was replaced', async () => {
    const [user, stranger] = [await giveUser(context), await giveUser(context)];
    await people.replaceRecoveryCodes(user.id, ['a', 'b']);
    expect(await people.consumeRecoveryCode(stranger.id, ['a'])).toBe(false);
    const taken = await atOnce(10, () => people.consumeRecoveryCode(user.id, ['x', 'a']));
    expect(taken.filter(Boolean)).toHaveLength(1);
    await people.replaceRecoveryCodes(user.id, ['c']);
    expect(await people.consumeRecoveryCode(user.id, ['b'])).toBe(false);
    expect(await people.consumeRecoveryCode(user.id, ['c'])).toBe(true);
  });

  it('keeps an owner in every account, also when two owners take each other out at once', async () => {
    const account = await giveAccountId(context);
    const owners = [
      await giveMember(context.store, account, 'owner'),
      await giveMember(context.store, account, 'owner'),
    ];
    const results = await Promise.all(owners.map(({ id }) => people.changeMembership(account, id, null)));
    expect(results.toSorted()).toEqual(['changed', 'last_owner']);
    const [left] = await people.listMembers(account);
    expect(await people.changeMembership(account, left?.userId as string, 'viewer')).toBe('last_owner');
  });

  it('has no more members in an account than may be, and gives a new place for one that is free', async () => {
    const account = await giveAccountId(context);
    const users: User[] = [];
    for (let index = 0; index < MAXIMUM_MEMBERS; index++)
      users.push(await giveMember(context.store, account, 'owner'));
    const late = await giveUser(context);
    const membership = { accountId: account, userId: late.id, role: 'viewer', createdAtMs: NOW_MS } as const;
    expect(await people.putMembership(membership)).toBe(false);
    expect(await people.putMembership({ ...membership, userId: users[3]?.id as string })).toBe(true);
    await people.changeMembership(account, users[0]?.id as string, null);
    expect(await people.putMembership(membership)).toBe(true);
  });

  it('accepts an invitation once, for its own account and in time, and then has its user and membership', async () => {
    const [account, other] = [await giveAccountId(context), await giveAccountId(context)];
    const link = newLink({ kind: 'invitation', accountId: account, role: 'viewer' });
    await store.sessions.createLink(link);
    const user = newUser({ passwordHash: 'h' });
    const accept = (accountId: string, nowMs = NOW_MS, candidate = user) =>
      people.acceptInvitation(
        { accountId, userId: candidate.id, role: 'viewer', createdAtMs: NOW_MS },
        candidate,
        { tokenHash: link.tokenHash, nowMs },
      );
    expect([await accept(other), await accept(account, link.expiresAtMs)]).toEqual(['gone', 'gone']);
    expect(await people.findUser(user.id)).toBeNull();
    const results = await atOnce(10, () => accept(account));
    expect(results.toSorted()).toEqual(['accepted', ...Array(9).fill('gone')]);
    expect(await people.findUser(user.id)).toEqual(user);
    expect((await people.listMembers(account)).map(({ userId }) => userId)).toEqual([user.id]);
    expect(await people.listMembers(other)).toEqual([]);
    expect(await store.sessions.findLink(link.tokenHash)).toBeNull();
  });

  it('gives invitations of one address to one user, also when several are accepted at once', async () => {
    const email = 'a@shop.example';
    const results = await atOnce(10, async () => {
      const accountId = await giveAccountId(context);
      const link = newLink({ kind: 'invitation', email, accountId, role: 'viewer' });
      await store.sessions.createLink(link);
      const user = newUser({ email });
      const membership = { accountId, userId: user.id, role: 'viewer', createdAtMs: NOW_MS } as const;
      const result = await people.acceptInvitation(membership, user, {
        tokenHash: link.tokenHash,
        nowMs: NOW_MS,
      });
      const members = await people.listMembers(accountId);
      const isLeft = (await store.sessions.findLink(link.tokenHash)) !== null;
      return `${result} ${members.length} ${isLeft}`;
    });
    expect(results.toSorted()).toEqual(['accepted 1 false', ...Array(9).fill('other_user 0 true')]);
  });
}

export function sessionPromises(context: StoreContext): void {
  const { store } = context;
  it('gives back a session as it was stored, and what is changed of it', async () => {
    const user = await giveUser(context);
    const session = newDashboardSession(user.id, { accountId: 'acc_1' });
    await store.sessions.createSession(session);
    await context.reopen();
    expect(await store.sessions.findSession(session.tokenHash)).toEqual(session);
    expect(await store.sessions.findSession(session.id)).toBeNull();
    await store.sessions.touchSession(session.id, NOW_MS + 99);
    await store.sessions.chooseAccount(session.id, 'acc_2');
    expect(await store.sessions.listSessions(user.id)).toEqual([
      { ...session, lastSeenAtMs: NOW_MS + 99, accountId: 'acc_2' },
    ]);
  });

  it('keeps no more sessions of a user than may be, and none that is over', async () => {
    const user = await giveUser(context);
    await store.sessions.createSession(newDashboardSession(user.id, { expiresAtMs: NOW_MS }));
    for (let index = 0; index < MAXIMUM_SESSIONS + 2; index++) {
      await store.sessions.createSession(newDashboardSession(user.id));
    }
    const sessions = await store.sessions.listSessions(user.id);
    expect(sessions).toHaveLength(MAXIMUM_SESSIONS);
    expect(sessions.every(({ expiresAtMs }) => expiresAtMs > NOW_MS)).toBe(true);
  });

  it('ends no open session for those that wait for a second factor, of which there are no more than may be either', async () => {
    const user = await giveUser(context);
    const open = newDashboardSession(user.id);
    await store.sessions.createSession(open);
    for (let index = 0; index < MAXIMUM_SESSIONS + 2; index++) {
      await store.sessions.createSession(newDashboardSession(user.id, { stage: 'second_factor' }));
    }
    const sessions = await store.sessions.listSessions(user.id);
    expect(sessions).toContainEqual(open);
    expect(sessions).toHaveLength(MAXIMUM_SESSIONS + 1);
  });

  it('gives a link to one of many who come at once, and to nobody after its end', async () => {
    const user = await giveUser(context);
    const link = newLink({ userId: user.id, email: user.email });
    await store.sessions.createLink(link);
    expect(await store.sessions.findLink(link.tokenHash)).toEqual(link);
    expect(await store.sessions.takeLink(link.tokenHash, link.expiresAtMs)).toBeNull();
    const taken = await atOnce(10, () => store.sessions.takeLink(link.tokenHash, NOW_MS));
    expect(taken.filter((each) => each !== null)).toEqual([link]);
    expect(await store.sessions.findLink(link.tokenHash)).toBeNull();
  });

  it('keeps links that were asked for by email beside others, no more than may be, and ends all of one user', async () => {
    const [user, other] = [await giveUser(context), await giveUser(context)];
    const given = newLink({ userId: user.id });
    const foreign = newLink({ userId: other.id });
    const asked = Array.from({ length: MAXIMUM_FORGOTTEN_LINKS + 2 }, () =>
      newLink({ userId: user.id, kind: 'forgotten' }),
    );
    for (const link of [given, foreign, ...asked]) await store.sessions.createLink(link);
    const found = (link: OneTimeLink) => store.sessions.findLink(link.tokenHash);
    expect(await Promise.all([given, foreign].map(found))).toEqual([given, foreign]);
    const kept = (await Promise.all(asked.map(found))).filter((link) => link !== null);
    expect(kept).toEqual(asked.slice(2));
    await store.sessions.endLinks(user.id);
    expect((await Promise.all([given, ...asked].map(found))).filter((link) => link !== null)).toEqual([]);
    expect(await found(foreign)).toEqual(foreign);
  });

  it('keeps the newest link of a user only', async () => {
    const user = await giveUser(context);
    const [older, newer] = [newLink({ userId: user.id }), newLink({ userId: user.id })];
    for (const link of [older, newer]) await store.sessions.createLink(link);
    expect(await store.sessions.findLink(older.tokenHash)).toBeNull();
    expect(await store.sessions.findLink(newer.tokenHash)).toEqual(newer);
  });

  it('lists and removes the invitations of one account, and keeps no more than may be', async () => {
    const [account, other] = [await giveAccountId(context), await giveAccountId(context)];
    for (let index = 0; index < MAXIMUM_INVITATIONS + 1; index++) {
      await store.sessions.createLink(newLink({ accountId: account, role: 'viewer' }));
    }
    const open = await store.sessions.listInvitations(account, NOW_MS);
    expect(open).toHaveLength(MAXIMUM_INVITATIONS);
    expect(open.map(({ createdAtMs }) => createdAtMs)).toEqual(
      open.map(({ createdAtMs }) => createdAtMs).toSorted((a, b) => b - a),
    );
    const id = open[0]?.id as string;
    expect(await store.sessions.removeInvitation(other, id)).toBe(false);
    expect(await store.sessions.removeInvitation(account, id)).toBe(true);
    expect(await store.sessions.listInvitations(account, NOW_MS)).toHaveLength(MAXIMUM_INVITATIONS - 1);
    expect(await store.sessions.listInvitations(account, NOW_MS + 2 * DAY_MS)).toEqual([]);
  });
}

export function auditPromises(context: StoreContext): void {
  const { audit } = context.store;
  it('lists the entries of one account page by page, the newest first', async () => {
    for (const target of ['a', 'b', 'c']) await audit.appendEntry(newEntry('acc_1', { target }));
    await audit.appendEntry(newEntry('acc_2'));
    const newest = await audit.listEntries('acc_1', null, 2);
    expect(newest).toEqual([
      { ...newEntry('acc_1', { target: 'c' }), position: 3 },
      { ...newEntry('acc_1', { target: 'b' }), position: 2 },
    ]);
    expect(await audit.listEntries('acc_1', newest[1] ?? null, 2)).toMatchObject([
      { target: 'a', position: 1 },
    ]);
  });

  it('gives the entries of all accounts back by time, a page at a time', async () => {
    const append = (accountId: string, atMs: number, target: string) =>
      audit.appendEntry(newEntry(accountId, { atMs, target }));
    await append('acc_1', NOW_MS, 'a');
    await append('acc_2', NOW_MS + 1, 'b');
    // At the same time, in two accounts and in one.
    await append('acc_1', NOW_MS + 2, 'c');
    await append('acc_2', NOW_MS + 2, 'd');
    await append('acc_2', NOW_MS + 2, 'e');
    const all = await audit.listEntries(null, null, 10);
    expect(all.map(({ target }) => target)).toEqual(['e', 'd', 'c', 'b', 'a']);
    expect(all[1]).toEqual({ ...newEntry('acc_2', { atMs: NOW_MS + 2, target: 'd' }), position: 2 });
    const range = { fromMs: NOW_MS + 1, beforeMs: NOW_MS + 2 };
    expect(await audit.listEntries(null, null, 10, range)).toEqual([all[3]]);
    expect(await audit.listEntries('acc_2', null, 10, range)).toEqual([all[3]]);
    expect(await audit.listEntries('acc_1', null, 10, range)).toEqual([]);
    for (const [index, entry] of all.entries()) {
      const rest = await audit.listEntries(null, entry, 2);
      expect(rest).toEqual(all.slice(index + 1, index + 3));
    }
  });

  it('loses its oldest entries in steps, but never the newest of an account, after which the next is numbered', async () => {
    for (const [accountId, atMs] of [
      ['acc_1', 1],
      ['acc_1', 2],
      ['acc_2', 3],
      ['acc_1', 5],
      ['acc_2', 6],
    ] as const)
      await audit.appendEntry(newEntry(accountId, { atMs }));
    expect(await audit.deleteEntriesBefore(6, 2)).toBe(2);
    await context.reopen();
    expect(await audit.deleteEntriesBefore(6, 2)).toBe(1);
    expect(await audit.deleteEntriesBefore(100, 2)).toBe(0);
    await audit.appendEntry(newEntry('acc_1', { atMs: 7 }));
    const left = await audit.listEntries(null, null, 10);
    expect(left.map(({ accountId, position }) => [accountId, position])).toEqual([
      ['acc_1', 4],
      ['acc_2', 2],
      ['acc_1', 3],
    ]);
  });

  it('numbers entries that arrive at once without a gap', async () => {
    await atOnce(20, () => audit.appendEntry(newEntry('acc_1')));
    const positions = (await audit.listEntries('acc_1', null, 100)).map(({ position }) => position);
    expect(positions).toEqual(Array.from({ length: 20 }, (_, index) => 20 - index));
  });

  it('keeps no more entries of an action than may be, whatever another action has', async () => {
    const fill = (accountId: string, action: string, from: number, to: number) =>
      context.change(`INSERT INTO audit_entries (account_id, position, at_ms, actor, action)
        WITH RECURSIVE numbers (number) AS (SELECT ${from} UNION ALL SELECT number + 1 FROM numbers WHERE number < ${to})
        SELECT '${accountId}', number, 0, 'x', '${action}' FROM numbers`);
    await audit.appendEntry(newEntry('acc_1', { action: 'wallet.changed', target: 'first' }));
    await audit.appendEntry(newEntry('acc_2'));
    await fill('acc_1', 'link.created', 2, 2 * MAXIMUM_ENTRIES_OF_ACTION - 1);
    await audit.appendEntry(newEntry('acc_1', { action: 'link.created', target: 'last' }));
    const entries = await listAll('acc_1');
    expect(entries).toHaveLength(MAXIMUM_ENTRIES_OF_ACTION + 1);
    expect([entries.at(0)?.target, entries.at(-1)?.target]).toEqual(['last', 'first']);
    expect(await audit.listEntries('acc_2', null, 100)).toHaveLength(1);
  });

  it('counts repeats of one actor in one entry an hour, and of nobody else', async () => {
    const append = (atMs: number, actor: string) =>
      audit.appendEntry(newEntry('acc_1', { action: 'sign_in.failed', atMs, actor, target: null }));
    for (let index = 0; index < 50; index++) await append(NOW_MS + index, 'anna@shop.example');
    await append(NOW_MS, 'bert@shop.example');
    await append(NOW_MS + 3_600_000, 'anna@shop.example');
    const entries = await listAll('acc_1');
    expect(entries.map(({ target }) => target).toReversed()).toEqual(['50 times within an hour', null, null]);
  });

  async function listAll(accountId: string) {
    const all: AuditEntry[] = [];
    let before: AuditEntry | null = null;
    do {
      const page: readonly AuditEntry[] = await audit.listEntries(accountId, before, 500);
      all.push(...page);
      before = page.at(-1) ?? null;
    } while (before !== null);
    return all;
  }
}
