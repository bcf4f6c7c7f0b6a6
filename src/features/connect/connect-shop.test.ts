import { hash } from 'node:crypto';
import { expect, it } from 'vitest';
import type { Account, ApiKey } from '../../accounts/account.ts';
import type { OneTimeLink } from '../../accounts/account-store.ts';
import { defaultScopes, hashApiKey, keyScopes } from '../../accounts/api-key.ts';
import type { NewAuditEntry } from '../../accounts/audit-entry.ts';
import type { Role, User } from '../../accounts/person.ts';
import { invalidField, ServiceError } from '../../payment/errors.ts';
import { createSecretBox } from '../../platform/secret-box.ts';
import {
  approveConnection,
  type ConnectContext,
  callbackHostOf,
  type Exchange,
  exchangeCode,
  parseConnectRequest,
} from './connect-shop.ts';

const VERIFIER = 'a-verifier_of.43~characters-0123456789-abcd';
const RETURN = 'https://shop.example.com/back?page=pay';
const asked = {
  name: 'Tea & Biscuits',
  return: RETURN,
  state: 'state-of-the-shop',
  code_challenge: hash('sha256', VERIFIER, 'base64url'),
  scopes: 'read create',
};
const parse = (change: Readonly<Record<string, string>> = {}) =>
  parseConnectRequest(new URLSearchParams({ ...asked, ...change }));

it('reads what a shop asks for', () => {
  expect(parse({ code_challenge_method: 'S256' })).toEqual({
    name: 'Tea & Biscuits',
    returnUrl: RETURN,
    state: 'state-of-the-shop',
    codeChallenge: asked.code_challenge,
    scopes: ['create', 'read'],
  });
  expect(parse()).toEqual(parse({ code_challenge_method: '' }));
  expect(parse({ scopes: '' }).scopes).toEqual(defaultScopes);
});

const longUrl = (characters: number) => 'https://shop.example.com/'.padEnd(characters, 'a');

it.each([
  ['return', 'https://SHOP.example.com', 'https://shop.example.com/'],
  ['return', 'http://localhost:8080/back', 'http://localhost:8080/back'],
  ['return', longUrl(500), longUrl(500)],
])('takes as %s %s', (field, text, read) => {
  expect(parse({ [field]: text }).returnUrl).toBe(read);
});

it.each(['Az09-._~', 's'.repeat(200)])('takes as state %s, unchanged', (state) => {
  expect(parse({ state }).state).toBe(state);
});

const returnRule = 'must be an https URL of at most 500 characters, without user information and fragment';
const stateRule = 'must have 8 to 200 letters, digits, or -._~';
const challengeRule = 'must be a SHA-256 in base64url';

it.each([
  ['return', '', returnRule],
  ['return', 'shop.example.com', returnRule],
  ['return', 'http://shop.example.com/', returnRule],
  ['return', 'javascript:alert(1)', returnRule],
  ['return', 'https://user@shop.example.com/', returnRule],
  ['return', 'https://:password@shop.example.com/', returnRule],
  ['return', 'https://shop.example.com/#', returnRule],
  ['return', longUrl(501), returnRule],
  ['state', 's'.repeat(7), stateRule],
  ['state', 's'.repeat(201), stateRule],
  ['state', '&state-of-the-shop', stateRule],
  ['state', 'state-of-the-shop\n', stateRule],
  ['code_challenge', asked.code_challenge.slice(1), challengeRule],
  ['code_challenge', `${asked.code_challenge}A`, challengeRule],
  ['code_challenge', `+${asked.code_challenge.slice(1)}`, challengeRule],
  ['code_challenge_method', 'plain', 'must be S256'],
  ['scopes', 'create,everything', `must be a list of ${keyScopes.join(', ')}`],
])('refuses as %s %j, and says what it must be', (field, text, rule) => {
  expect(() => parse({ [field]: text })).toThrow(invalidField(field, rule));
});

it.each(['name', 'return', 'state', 'code_challenge', 'code_challenge_method', 'scopes'])(
  'refuses a request that gives %s twice',
  (field) => {
    const query = new URLSearchParams({ ...asked, code_challenge_method: 'S256' });
    query.append(field, query.get(field) ?? '');
    expect(() => parseConnectRequest(query)).toThrow(invalidField(field, 'must be given once'));
  },
);

it.each([
  ['https://shop.example.com:8443/back', 'shop.example.com'],
  ['http://127.0.0.1:8080/', null],
])('binds callbacks of the key of %s to the host %s', (returnUrl, host) => {
  expect(callbackHostOf({ returnUrl })).toBe(host);
});

const account = { id: 'acc_1', name: 'Shop' } as Account;
const user = { id: 'usr_1', email: 'owner@shop.example' } as User;
const actor = { name: user.email, userId: user.id, address: '8.8.8.8' };

/** Creates stores in memory with one account and one member. */
function createWorld({ activeKeys = 0 } = {}) {
  const state = {
    nowMs: 1_800_000_000_000,
    role: 'developer' as Role | null,
    account: account as Account | null,
    user: user as User | null,
  };
  const entries: NewAuditEntry[] = [];
  const links: OneTimeLink[] = [];
  const keys: ApiKey[] = [];
  const context = {
    shownOnce: createSecretBox('shown once', 'a secret of this test, long enough'),
    nowMs: () => state.nowMs,
    audit: { appendEntry: async (entry: NewAuditEntry) => void entries.push(entry) },
    accounts: {
      findAccount: async (id: string) => (id === account.id ? state.account : null),
      async createKey(key: ApiKey, most: number) {
        if (activeKeys >= most) return false;
        keys.push(key);
        return true;
      },
    },
    people: {
      findUser: async () => state.user,
      listMemberships: async (userId: string) =>
        state.role === null || userId !== user.id
          ? [{ accountId: 'acc_other', role: 'owner' }]
          : [
              { accountId: 'acc_other', role: 'viewer' },
              { accountId: account.id, role: state.role },
            ],
    },
    sessions: {
      createLink: async (link: OneTimeLink) => void links.push(link),
      async takeLink(tokenHash: string, nowMs: number) {
        const index = links.findIndex((link) => link.tokenHash === tokenHash && nowMs < link.expiresAtMs);
        return index < 0 ? null : links.splice(index, 1)[0];
      },
    },
  } as unknown as ConnectContext;
  const approve = async (callbackHost: string | null = 'shop.example.com') => {
    const back = new URL(await approveConnection(context, parse(), { account, actor, callbackHost }));
    return { back, code: back.searchParams.get('code') ?? '' };
  };
  const exchange = (code: string, change: Partial<Exchange> = {}) =>
    exchangeCode(context, { code, codeVerifier: VERIFIER, returnUrl: RETURN, address: '1.1.1.1', ...change });
  const actions = () => entries.map(({ action, target }) => [action, target]);
  return { state, context, entries, links, keys, approve, exchange, actions };
}

const approvedEntry = ['shop.approved', 'Tea & Biscuits at shop.example.com'];
const refusedEntry = ['shop.refused', 'Tea & Biscuits'];
const refusal = new ServiceError('connect_code_invalid');

it('sends the browser of an approval back to the shop with a code and the state', async () => {
  const { approve, actions, links, state, entries } = createWorld();
  const { back, code } = await approve();
  expect(Object.fromEntries(back.searchParams)).toEqual({ page: 'pay', code, state: asked.state });
  expect(back.href.startsWith('https://shop.example.com/back?')).toBe(true);
  expect(actions()).toEqual([approvedEntry]);
  expect(entries).toMatchObject([{ accountId: account.id, actor: user.email, address: '8.8.8.8' }]);
  const tokenHash = hash('sha256', code, 'hex');
  expect(links).toMatchObject([
    { kind: 'connect', email: user.email, userId: user.id, accountId: null, role: null, tokenHash },
  ]);
  expect(links[0]?.expiresAtMs).toBe(state.nowMs + 60_000);
});

it('exchanges a code once for a key with the approved name, scopes and host', async () => {
  const { approve, exchange, keys, actions, entries } = createWorld();
  const { code } = await approve();
  const { key, plainKey, account: of } = await exchange(code);
  expect(keys).toEqual([key]);
  expect(key).toMatchObject({
    accountId: account.id,
    name: 'Tea & Biscuits',
    scopes: ['create', 'read'],
    callbackHost: 'shop.example.com',
    hash: hashApiKey(plainKey),
  });
  expect(of).toBe(account);
  await expect(exchange(code)).rejects.toThrow(refusal);
  const described = `Tea & Biscuits (service_live_…${plainKey.slice(-4)})`;
  expect(actions()).toEqual([approvedEntry, ['shop.connected', described], refusedEntry]);
  expect(entries[1]).toMatchObject({ actor: user.email, userId: user.id, address: '1.1.1.1' });
});

it('gives a key for any host where the approval says so', async () => {
  const { approve, exchange } = createWorld();
  expect((await exchange((await approve(null)).code)).key.callbackHost).toBeNull();
});

it('takes the return address as the shop writes it', async () => {
  const { approve, exchange, keys } = createWorld();
  await exchange((await approve()).code, { returnUrl: 'HTTPS://Shop.Example.com:443/back?page=pay' });
  expect(keys).toHaveLength(1);
});

it.each([
  ['another verifier', { codeVerifier: `${VERIFIER.slice(1)}b` }],
  ['another return address', { returnUrl: 'https://shop.example.com/other' }],
  ['no return address', { returnUrl: '' }],
])('refuses %s on the record, and the shop’s own exchange still works', async (_what, change) => {
  const { approve, exchange, keys, actions } = createWorld();
  const { code } = await approve();
  await expect(exchange(code, change)).rejects.toThrow(refusal);
  expect([keys, actions()]).toEqual([[], [approvedEntry, refusedEntry]]);
  await exchange(code);
  expect(keys).toHaveLength(1);
});

it.each([
  [`${VERIFIER.slice(0, 42)}`, false],
  [`${VERIFIER.slice(0, 42)}=`, false],
  [`=${VERIFIER}`, false],
  ['v'.repeat(128), true],
  ['v'.repeat(129), false],
])('whether it takes the verifier %s, which the standard allows: %s', async (verifier, isTaken) => {
  const { context, exchange, keys } = createWorld();
  const request = parse({ code_challenge: hash('sha256', verifier, 'base64url') });
  const back = await approveConnection(context, request, { account, actor, callbackHost: null });
  const code = new URL(back).searchParams.get('code') ?? '';
  await exchange(code, { codeVerifier: verifier }).catch((error: unknown) => expect(error).toEqual(refusal));
  expect(keys).toHaveLength(isTaken ? 1 : 0);
});

it.each([
  ['owner', 1],
  ['developer', 0],
] as const)('gives the scope for the audit log to the shop of an %s: %s key', async (role, count) => {
  const { context, state, exchange, keys } = createWorld();
  const back = await approveConnection(context, parse({ scopes: 'audit' }), {
    account,
    actor,
    callbackHost: null,
  });
  state.role = role;
  const code = new URL(back).searchParams.get('code') ?? '';
  await exchange(code).catch((error: unknown) => expect(error).toEqual(refusal));
  expect(keys).toHaveLength(count);
});

it('exchanges a code within a minute, and keeps no record of later tries', async () => {
  const { approve, exchange, actions, state, keys } = createWorld();
  const [first, second] = [await approve(), await approve()];
  state.nowMs += 59_999;
  await exchange(first.code);
  state.nowMs += 1;
  await expect(exchange(second.code)).rejects.toThrow(refusal);
  expect(keys).toHaveLength(1);
  expect(actions().map(([action]) => action)).toEqual(['shop.approved', 'shop.approved', 'shop.connected']);
});

it.each([
  ['', 'no code'],
  ['abcdef.AAAA', 'what no service sealed'],
  ['a'.repeat(3_000_000), 'a text of three million characters'],
])('keeps no record of a code that is none: %#', async (code) => {
  const { exchange, actions } = createWorld();
  await expect(exchange(code)).rejects.toThrow(refusal);
  expect(actions()).toEqual([]);
});

it('refuses what the service sealed for another purpose', async () => {
  const { context, exchange, actions, approve } = createWorld();
  const grant = context.shownOnce.open((await approve()).code, 'code of a connection') ?? '';
  await expect(exchange(context.shownOnce.seal(grant, 'a session'))).rejects.toThrow(refusal);
  expect(actions()).toEqual([approvedEntry]);
});

it.each([
  ['is a viewer by now', { role: 'viewer' as const }],
  ['has no right in the account any more', { role: null }],
  ['approved for an account that is gone', { account: null }],
])('gives no key where the user %s', async (_what, change) => {
  const { approve, exchange, keys, actions, state } = createWorld();
  const { code } = await approve();
  Object.assign(state, change);
  await expect(exchange(code)).rejects.toThrow(refusal);
  expect([keys, actions()]).toEqual([[], [approvedEntry, refusedEntry]]);
});

it('names a user who is gone by the id in the record', async () => {
  const { approve, exchange, state, entries } = createWorld();
  const { code } = await approve();
  Object.assign(state, { user: null, role: null });
  await expect(exchange(code)).rejects.toThrow(refusal);
  expect(entries[1]).toMatchObject({ actor: user.id, userId: user.id });
});

it('records that an account with ten active keys got no other', async () => {
  const { approve, exchange, actions } = createWorld({ activeKeys: 10 });
  const { code } = await approve();
  await expect(exchange(code)).rejects.toThrow('already has 10 active keys');
  expect(actions()).toEqual([approvedEntry, refusedEntry]);
});
