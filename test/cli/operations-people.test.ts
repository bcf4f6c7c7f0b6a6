import { describe, expect, it } from 'vitest';
import { SERVICE_LOG } from '../../src/accounts/audit-entry.ts';
import { hashSecretToken } from '../../src/accounts/people-context.ts';
import { newDashboardSession } from '../store/people.ts';
import { type TestOperations, useOperations } from '../support/operations.ts';

let { store, run, giveAccount } = {} as TestOperations;
useOperations((operations) => ({ store, run, giveAccount } = operations));

describe('people', () => {
  const email = 'anna@shop.example';

  it('are made members with a link to set a password, and keep the password they have', async () => {
    const account = await giveAccount();
    const made = await run<{ user_id: string; password_link: string }>('user create', {
      email: ' Anna@Shop.example',
      account,
      role: 'developer',
    });
    expect(made).toMatchObject({
      email,
      password_link: expect.stringMatching(/^https:\/\/pay\.example\.com\/dashboard\/password\/[\w-]{43}$/),
    });
    expect(await store.people.listMembers(account)).toMatchObject([{ email, role: 'developer' }]);
    expect(await store.audit.listEntries(account, null, 1)).toMatchObject([
      { action: 'member.added', actor: 'operator', target: `${email} (developer)` },
    ]);
    await store.people.updateUser(made.user_id, { passwordHash: 'set' });
    const other = await giveAccount('Other');
    // Whoever accepted an invitation to this address first would otherwise get the right.
    await expect(run('user create', { email, account: other })).rejects.toThrow(/belongs to a user/);
    expect(await store.people.listMemberships(made.user_id)).toHaveLength(1);
    const again = await run('user create', { email, account: other, existing: true });
    expect(again).toEqual({ user_id: made.user_id, email });
    expect(await store.people.listMemberships(made.user_id)).toHaveLength(2);
    expect(await run('user list')).toMatchObject([{ email, operator: false, second_factor: false }]);
  });

  it('get another link, which is written down in each of their accounts', async () => {
    const account = await giveAccount();
    const { password_link: first } = await run('user create', { email, account });
    const { password_link: second } = await run('user reset-link', { email });
    expect(second).not.toBe(first);
    expect(await store.audit.listEntries(account, null, 1)).toMatchObject([
      { action: 'password.link_created' },
    ]);
  });

  it('lose a second factor, which is written down', async () => {
    const account = await giveAccount();
    const { user_id } = await run<{ user_id: string }>('user create', { email, account });
    await store.people.updateUser(user_id, { totpSecret: 'sealed' });
    await store.people.replaceRecoveryCodes(user_id, ['a']);
    expect(await run('user reset-second-factor', { email })).toEqual({ email, second_factor: false });
    expect((await store.people.findUser(user_id))?.totpSecret).toBeNull();
    expect(await store.people.consumeRecoveryCode(user_id, ['a'])).toBe(false);
    expect(await store.audit.listEntries(account, null, 1)).toMatchObject([
      { action: 'second_factor.removed' },
    ]);
  });

  it('get and lose the right of an operator, which is written down and ends their sessions', async () => {
    const inLog = async (limit: number) =>
      (await store.audit.listEntries(SERVICE_LOG, null, limit)).map(({ action, actor, target }) => [
        action,
        actor,
        target,
      ]);
    const { user_id, password_link } = await run<{ user_id: string; password_link: string }>('user create', {
      email,
      operator: true,
    });
    const inConsole = /^https:\/\/admin\.example\.com\/operator\/password\/[\w-]{43}$/;
    expect(password_link).toMatch(inConsole);
    expect(await run('user reset-link', { email })).toMatchObject({
      password_link: expect.stringMatching(inConsole),
    });
    expect(await inLog(10)).toEqual([
      ['password.link_created', 'operator', email],
      ['password.link_created', 'operator', email],
      ['operator.granted', 'operator', email],
    ]);
    await store.sessions.createSession(newDashboardSession(user_id));
    await store.sessions.createSession(newDashboardSession(user_id, { area: 'operator' }));
    expect(await run('user update', { email, operator: false })).toEqual({ email, operator: false });
    expect((await store.people.findUser(user_id))?.isOperator).toBe(false);
    expect(await store.sessions.listSessions(user_id)).toEqual([]);
    expect(await inLog(1)).toEqual([['operator.revoked', 'operator', email]]);

    await run('user reset-link', { email });
    await run('user update', { email, operator: false });
    expect(await inLog(10), 'no operator, and nothing changed').toHaveLength(4);
    expect(await run('user update', { email, operator: true })).toMatchObject({ email, operator: true });
    await run('user reset-link', { email });
    await run('user reset-second-factor', { email });
    expect((await inLog(4)).map(([action]) => action)).toEqual([
      'second_factor.removed',
      'password.link_created',
      'password.link_created',
      'operator.granted',
    ]);
    await expect(run('user update', { email })).rejects.toThrow('operator or no-operator is required');
  });

  it('that are known become operators after a question, without the password, factors, sessions and links they had', async () => {
    const account = await giveAccount();
    const made = await run<{ user_id: string; password_link: string }>('user create', { email, account });
    const operator = { email, operator: true };
    for (const operation of ['user update', 'user create']) {
      const userId = made.user_id;
      await store.people.updateUser(userId, {
        passwordHash: 'chosen by who accepted an invitation',
        totpSecret: 'sealed',
        isOperator: false,
      });
      await store.people.replaceRecoveryCodes(userId, ['a']);
      await store.people.addPasskey({
        id: operation,
        userId,
        name: 'Phone',
        publicKey: 'x',
        counter: 0,
        transports: '[]',
        createdAtMs: 0,
        lastUsedAtMs: null,
        isPasswordless: false,
      });
      await store.sessions.createSession(newDashboardSession(userId));
      const { password_link: older } = await run<{ password_link: string }>('user reset-link', { email });
      await expect(run(operation, operator)).rejects.toThrow(/belongs to a user.*--existing/);
      expect((await store.people.findUser(userId))?.isOperator).toBe(false);

      const given = await run<{ password_link: string }>(operation, { ...operator, existing: true });
      expect(await store.people.findUser(userId)).toMatchObject({
        isOperator: true,
        passwordHash: null,
        totpSecret: null,
      });
      expect(await store.people.listPasskeys(userId)).toEqual([]);
      expect(await store.people.consumeRecoveryCode(userId, ['a'])).toBe(false);
      expect(await store.sessions.listSessions(userId)).toEqual([]);
      const linkOf = (url: string) => store.sessions.findLink(hashSecretToken(url.slice(-43)));
      expect(await linkOf(older)).toBeNull();
      expect(await linkOf(given.password_link)).toMatchObject({ userId });
      const log = await store.audit.listEntries(SERVICE_LOG, null, 2);
      expect(log.map(({ action }) => action)).toEqual(['password.link_created', 'operator.granted']);
    }
    await store.people.updateUser(made.user_id, { passwordHash: 'their own' });
    expect(await run('user update', operator)).toEqual({ email, operator: true });
    expect((await store.people.findUser(made.user_id))?.passwordHash).toBe('their own');
  });

  it('lose links that set their password with any change of their rights', async () => {
    const [account, other] = [await giveAccount(), await giveAccount('Other')];
    const { user_id } = await run<{ user_id: string }>('user create', { email, account });
    for (const [operation, args] of [
      ['user create', { email, account: other, existing: true }],
      ['user update', { email, operator: false }],
    ] as const) {
      await store.people.updateUser(user_id, { passwordHash: 'set' });
      const { password_link } = await run<{ password_link: string }>('user reset-link', { email });
      await run(operation, args);
      expect(await store.sessions.findLink(hashSecretToken(password_link.slice(-43)))).toBeNull();
    }
  });

  it.each([
    [{ email: 'no address', account: 'x' }, 'email must be an email address'],
    [{ email }, 'account is missing'],
    [{ email, account: 'acc_unknown' }, 'The account acc_unknown does not exist.'],
    [{ email, account: 'x', role: 'king' }, 'role must be one of viewer, developer, owner'],
  ])('are not made of %o', async (args, problem) => {
    await expect(run('user create', args)).rejects.toThrow(problem);
    await expect(run('user reset-link', { email: 'nobody@shop.example' })).rejects.toThrow(
      'The user nobody@shop.example does not exist.',
    );
    expect(await run('user list')).toEqual([]);
  });
});
