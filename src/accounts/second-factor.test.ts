import { expect, it } from 'vitest';
import { invalidField } from '../payment/errors.ts';
import { createKeyedHash } from '../platform/keyed-hash.ts';
import { createSecretBox } from '../platform/secret-box.ts';
import type { UserChange, UserChangeOptions, UserGuard } from './account-store.ts';
import type { NewAuditEntry } from './audit-entry.ts';
import { accessChanged, operatorActor } from './people-context.ts';
import type { Passkey, User } from './person.ts';
import {
  confirmTotp,
  consumeCode,
  dropCodesWithoutFactor,
  hasSecondFactor,
  offerTotp,
  removeSecondFactor,
  removeTotp,
  renewRecoveryCodes,
  SECOND_FACTOR,
  type SecondFactorContext,
} from './second-factor.ts';
import type { DashboardSession } from './session-lifetimes.ts';

const SECRET = 'a secret of this test, long enough';
/** Secret of the test vectors in RFC 6238, the ASCII text 12345678901234567890, in base32. */
const APP_SECRET = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ';
const VECTOR = { nowMs: 59_000, code: '287082', step: 1 };

const box = createSecretBox(SECOND_FACTOR, SECRET);
const recoveryHash = createKeyedHash('recovery codes', SECRET);
const session = { id: 'ses_1' } as DashboardSession;
const plainUser: User = {
  id: 'usr_1',
  email: 'owner@shop.example',
  passwordHash: 'hash',
  totpSecret: null,
  totpStep: 0,
  isOperator: false,
  createdAtMs: 1,
};
const appUser: User = { ...plainUser, totpSecret: box.seal(APP_SECRET, plainUser.id) };

/** Creates stores in memory with one user and one account. With `isStale`, every guard fails. */
function createWorld(stored: User | null, { passkeys = [] as string[], isStale = false } = {}) {
  const state = { user: stored, passkeys, codes: [] as readonly string[], nowMs: VECTOR.nowMs };
  const entries: NewAuditEntry[] = [];
  const guards: (UserGuard | undefined)[] = [];
  const holds = (guard?: UserGuard) => {
    guards.push(guard);
    return guard === undefined || !isStale;
  };
  const people = {
    findUser: async () => state.user,
    async updateUser(_id: string, change: UserChange, options: UserChangeOptions = {}) {
      if (!holds(options.guard) || state.user === null) return null;
      state.user = { ...state.user, ...change };
      if (options.removesSecondFactors === true)
        Object.assign(state, { user: { ...state.user, totpSecret: null }, passkeys: [], codes: [] });
      return state.user;
    },
    async consumeTotpStep(_id: string, step: number) {
      if (state.user === null || step <= state.user.totpStep) return false;
      state.user = { ...state.user, totpStep: step };
      return true;
    },
    async replaceRecoveryCodes(_id: string, hashes: readonly string[], guard?: UserGuard) {
      if (!holds(guard)) return false;
      state.codes = hashes;
      return true;
    },
    async consumeRecoveryCode(_id: string, hashes: readonly string[]) {
      const left = state.codes.filter((code) => !hashes.includes(code));
      const isKnown = left.length < state.codes.length;
      state.codes = left;
      return isKnown;
    },
    listPasskeys: async () => state.passkeys.map((id) => ({ id }) as Passkey),
    listMemberships: async () => [{ accountId: 'acc_1' }],
  };
  const context = {
    people,
    audit: { appendEntry: async (entry: NewAuditEntry) => void entries.push(entry) },
    secondFactor: { box, recoveryHash },
    nowMs: () => state.nowMs,
  } as unknown as SecondFactorContext;
  return { state, context, entries, guards };
}

it('offers an app a new secret of 160 bits, and nothing is stored', () => {
  const { context, state } = createWorld(plainUser);
  const [one, other] = [offerTotp(context, plainUser), offerTotp(context, plainUser)];
  expect(one.secret).toMatch(/^[A-Z2-7]{32}$/);
  expect(other.secret).not.toBe(one.secret);
  const { protocol, host, pathname, searchParams } = new URL(one.uri);
  expect([protocol, host, decodeURIComponent(pathname)]).toEqual([
    'otpauth:',
    'totp',
    '/card-checkout:owner@shop.example',
  ]);
  expect(Object.fromEntries(searchParams)).toEqual({
    issuer: 'card-checkout',
    secret: one.secret,
    algorithm: 'SHA1',
    digits: '6',
    period: '30',
  });
  expect(box.open(one.sealed, plainUser.id)).toBe(one.secret);
  expect(state.user).toBe(plainUser);
});

it('offers the secret of an earlier offer to the same user again, and to nobody else', () => {
  const { context } = createWorld(plainUser);
  const offer = offerTotp(context, plainUser);
  expect(offerTotp(context, plainUser, offer.sealed)).toEqual(offer);
  const another = offerTotp(context, { ...plainUser, id: 'usr_2' }, offer.sealed);
  expect(another.secret).not.toBe(offer.secret);
  expect(box.open(another.sealed, 'usr_2')).toBe(another.secret);
});

it('is enabled by a first code, which is used up, and gives ten recovery codes', async () => {
  const { context, state, entries, guards } = createWorld(plainUser);
  const offered = { sealed: box.seal(APP_SECRET, plainUser.id), code: VECTOR.code };
  const codes = await confirmTotp(context, { user: plainUser, session }, offered, operatorActor);
  const stored = state.user as User;
  expect(box.open(stored.totpSecret ?? '', plainUser.id)).toBe(APP_SECRET);
  expect(stored.totpStep).toBe(VECTOR.step);
  expect(new Set(codes).size).toBe(10);
  for (const code of codes) expect(code).toMatch(/^[a-z2-7]{4}(?:-[a-z2-7]{4}){3}$/);
  expect(state.codes).toEqual(codes.map((code) => recoveryHash.of(code.replaceAll('-', ''))));
  const guard = { user: plainUser, sessionId: session.id };
  expect(guards).toEqual([guard, guard]);
  expect(entries).toMatchObject([
    { accountId: 'acc_1', action: 'second_factor.added', target: plainUser.email },
  ]);
  expect(await consumeCode(context, stored, VECTOR.code)).toBe(false);
});

it.each([
  [
    'a wrong code',
    { sealed: box.seal(APP_SECRET, plainUser.id), code: '287083' },
    invalidField('The code', 'is wrong. Check that the clock of your device is correct.', 'code'),
  ],
  [
    'the form of another user',
    { sealed: box.seal(APP_SECRET, 'usr_2'), code: VECTOR.code },
    invalidField('The form', 'has expired. Start again.'),
  ],
])('is not enabled by %s', async (_what, offered, refusal) => {
  const { context, state, entries } = createWorld(plainUser);
  const confirmed = confirmTotp(context, { user: plainUser, session }, offered, operatorActor);
  await expect(confirmed).rejects.toThrow(refusal);
  expect([state.user, state.codes, entries]).toEqual([plainUser, [], []]);
});

it('changes nothing where the password or the session has changed since', async () => {
  const { context, state, entries } = createWorld(appUser, { isStale: true });
  const signedIn = { user: appUser, session };
  const offered = { sealed: box.seal(APP_SECRET, plainUser.id), code: VECTOR.code };
  await expect(confirmTotp(context, signedIn, offered, operatorActor)).rejects.toThrow(accessChanged());
  await expect(renewRecoveryCodes(context, signedIn)).rejects.toThrow(accessChanged());
  const guard = { user: appUser, sessionId: session.id };
  await expect(removeTotp(context, appUser, operatorActor, guard)).rejects.toThrow(accessChanged());
  expect([state.user, state.codes, entries]).toEqual([appUser, [], []]);
});

it('forgets the earlier recovery codes when they are replaced', async () => {
  const { context } = createWorld(appUser);
  const [earlier] = await renewRecoveryCodes(context, { user: appUser, session });
  const [later] = await renewRecoveryCodes(context, { user: appUser, session });
  expect(await consumeCode(context, appUser, earlier as string)).toBe(false);
  expect(await consumeCode(context, appUser, later as string)).toBe(true);
});

it('is removed as a whole: app, passkeys and recovery codes', async () => {
  const { context, state, entries, guards } = createWorld(appUser, { passkeys: ['one', 'two'] });
  await renewRecoveryCodes(context, { user: appUser, session });
  guards.length = 0;
  await removeSecondFactor(context, appUser, operatorActor);
  expect(state).toMatchObject({ user: { totpSecret: null }, passkeys: [], codes: [] });
  expect(entries).toMatchObject([{ action: 'second_factor.removed', target: appUser.email }]);
  expect(guards).toEqual([undefined]);
});

it('keeps recovery codes while a passkey stays, and drops them with the last factor', async () => {
  const { context, state, entries } = createWorld(appUser, { passkeys: ['one'] });
  await renewRecoveryCodes(context, { user: appUser, session });
  await removeTotp(context, appUser, operatorActor, { user: appUser, sessionId: session.id });
  expect(state.user?.totpSecret).toBeNull();
  expect(entries).toMatchObject([{ action: 'second_factor.removed', target: appUser.email }]);
  expect(state.codes).toHaveLength(10);
  state.passkeys = [];
  await dropCodesWithoutFactor(context, appUser.id);
  expect(state.codes).toEqual([]);
});

it('leaves the codes of a user alone who has an app, or who is gone', async () => {
  for (const user of [appUser, null]) {
    const { context, state } = createWorld(user);
    state.codes = ['a hash'];
    await dropCodesWithoutFactor(context, appUser.id);
    expect(state.codes).toEqual(['a hash']);
  }
});

it('is asked for where the user has an app or a passkey', async () => {
  expect(await hasSecondFactor(createWorld(plainUser).context, plainUser)).toBe(false);
  expect(await hasSecondFactor(createWorld(appUser).context, appUser)).toBe(true);
  expect(await hasSecondFactor(createWorld(plainUser, { passkeys: ['one'] }).context, plainUser)).toBe(true);
});

it.each([
  [59_000, '287082'],
  [1_111_111_109_000, '081804'],
  [1_111_111_111_000, '050471'],
  [1_234_567_890_000, '005924'],
  [2_000_000_000_000, '279037'],
])('takes the code of RFC 6238 at %i ms, once', async (nowMs, code) => {
  const { context, state } = createWorld(appUser);
  state.nowMs = nowMs;
  expect(await consumeCode(context, appUser, code)).toBe(true);
  expect(state.user).toEqual({ ...appUser, totpStep: Math.floor(nowMs / 30_000) });
  expect(await consumeCode(context, appUser, code)).toBe(false);
});

it.each([
  ['two steps early', -60_000, false],
  ['a step early', -30_000, true],
  ['a step late', 30_000, true],
  ['two steps late', 60_000, false],
])('whether it takes a code %s: %j ms, %s', async (_when, offsetMs, isTaken) => {
  const { context, state } = createWorld(appUser);
  state.nowMs = 1_234_567_890_000 + offsetMs;
  expect(await consumeCode(context, appUser, ' 005-924 ')).toBe(isTaken);
  expect(state.user?.totpStep).toBe(isTaken ? 41_152_263 : 0);
});

it('takes a recovery code once, as it is shown or typed, and no digits beside six', async () => {
  const { context } = createWorld(appUser);
  const [first, second] = (await renewRecoveryCodes(context, { user: appUser, session })) as [string, string];
  expect(await consumeCode(context, appUser, ` ${first.toUpperCase()} `)).toBe(true);
  expect(await consumeCode(context, appUser, first)).toBe(false);
  expect(await consumeCode(context, appUser, second.replaceAll('-', ''))).toBe(true);
  for (const longer of [`1${VECTOR.code}`, `${VECTOR.code}1`])
    expect(await consumeCode(context, appUser, longer)).toBe(false);
});

it('takes no code of an app from a user who has none', async () => {
  const { context } = createWorld(plainUser);
  expect(await consumeCode(context, plainUser, VECTOR.code)).toBe(false);
});

it('names the way out where the key of the secret is missing', async () => {
  const foreign = createSecretBox(SECOND_FACTOR, 'a secret that is not here any more');
  const user = { ...appUser, totpSecret: foreign.seal(APP_SECRET, appUser.id) };
  const { context } = createWorld(user);
  const way =
    'cannot be checked: a key of the service is missing. Ask the operator to restore it, or to reset your second factor.';
  const refusal = invalidField('The code', way, 'code');
  await expect(consumeCode(context, user, VECTOR.code)).rejects.toMatchObject({
    message: refusal.message,
    problems: refusal.problems,
  });
});

it('seals the secret with the current key at a use, after the key has changed', async () => {
  const newer = createSecretBox(SECOND_FACTOR, 'a newer secret of this test, long too', [SECRET]);
  const { context, state, guards } = createWorld(appUser);
  const secondFactor = { box: newer, recoveryHash };
  expect(await consumeCode({ ...context, secondFactor }, appUser, VECTOR.code)).toBe(true);
  const sealed = state.user?.totpSecret ?? '';
  expect([newer.isCurrent(sealed), newer.open(sealed, appUser.id)]).toEqual([true, APP_SECRET]);
  expect(guards).toEqual([{ user: appUser, sessionId: null }]);
});
