import { createHash, randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { keyScopes } from '../../src/accounts/api-key.ts';
import { newKey } from '../store/fixtures.ts';
import { PASSWORD } from '../support/dashboard.ts';
import { type TestShop, useShop } from '../support/dashboard-shop.ts';
import { textOf } from '../support/page-text.ts';

const VERIFIER = randomBytes(32).toString('base64url');
const challengeOf = (verifier: string) => createHash('sha256').update(verifier).digest('base64url');
const RETURN = 'https://shop.example.com/wp-admin/admin.php?page=card-checkout';
const WALLET = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC';

const asked = {
  name: 'Tea & <b>Biscuits</b>',
  return: RETURN,
  state: 'state-of-the-shop',
  code_challenge: challengeOf(VERIFIER),
  scopes: 'create,read',
};
const addressWith = (change: Record<string, string> = {}, path = '/dashboard/connect') =>
  `${path}?${new URLSearchParams({ ...asked, ...change })}`;

let { dashboard, account, browser } = {} as TestShop;
useShop((shop) => ({ dashboard, account, browser } = shop), {
  role: 'developer',
  account: { wallet: WALLET },
});

const approve = (change: Record<string, string> = {}, fields: Record<string, string> = {}) =>
  browser.post(addressWith(change), { password: PASSWORD, ...fields });

/** The address to which an approval sends the browser. */
async function approvedAddress(
  change?: Record<string, string>,
  fields?: Record<string, string>,
): Promise<URL> {
  const { statusCode, headers } = await approve(change, fields);
  expect(statusCode).toBe(200);
  expect(headers['location']).toBeUndefined();
  return new URL(String(headers['refresh']).replace('0; url=', ''));
}

const exchange = (body: Record<string, string | undefined>) =>
  dashboard.inject({ method: 'POST', url: '/merchant/v1/connect', payload: body });

async function codeOf(change?: Record<string, string>, fields?: Record<string, string>): Promise<string> {
  return (await approvedAddress(change, fields)).searchParams.get('code') as string;
}

const createAt = (key: string, callback: string) =>
  dashboard.inject({
    method: 'POST',
    url: '/api/v1/wallet',
    headers: { 'x-api-key': key },
    payload: { address: WALLET, callback, amount: '25.00', currency: 'USD', provider: 'multi' },
  });

const auditOf = async () =>
  (await dashboard.store.audit.listEntries(account.id, null, 10))
    .map(({ action }) => action)
    .filter((action) => action.startsWith('shop.'));

describe('a shop that connects', () => {
  it('exchanges the code of an approval for a key with the approved scopes, once', async () => {
    const page = await browser.get(addressWith());
    expect(textOf(page.payload)).toContain('A shop at shop.example.com asks for an API key of Tea shop .');
    expect(page.payload).toContain('Tea &#38; &#60;b&#62;Biscuits');
    expect(page.payload).not.toContain('Open and cancel refunds');

    const back = await approvedAddress();
    expect(`${back.origin}${back.pathname}`).toBe('https://shop.example.com/wp-admin/admin.php');
    expect(back.searchParams.get('page')).toBe('card-checkout');
    expect(back.searchParams.get('state')).toBe(asked.state);
    const code = back.searchParams.get('code') as string;

    const answer = await exchange({ code, code_verifier: VERIFIER, return: RETURN });
    expect([answer.statusCode, answer.headers['cache-control']]).toEqual([200, 'no-store']);
    expect(answer.json()).toMatchObject({
      scopes: ['create', 'read'],
      callback_host: 'shop.example.com',
      account_id: account.id,
      account_name: 'Tea shop',
      wallet: WALLET,
    });
    expect((await createAt(answer.json().api_key, 'https://shop.example.com/hook')).statusCode).toBe(200);
    expect(await auditOf()).toEqual(['shop.connected', 'shop.approved']);

    const replay = await exchange({ code, code_verifier: VERIFIER, return: RETURN });
    expect([replay.statusCode, replay.json().code]).toEqual([400, 'connect_code_invalid']);
    expect(await dashboard.store.accounts.listKeys(account.id)).toHaveLength(1);
    expect(dashboard.logLines.join('')).not.toContain(answer.json().api_key);
    expect(dashboard.logLines.join('')).not.toContain(code);
  });

  it('is refused once the approving user has changed their password', async () => {
    const code = await codeOf();
    const page = '/dashboard/security';
    const fields = { password: PASSWORD, new_password: 'another password 1' };
    expect((await browser.post(`${page}/password`, fields)).statusCode).toBe(303);
    expect((await exchange({ code, code_verifier: VERIFIER, return: RETURN })).statusCode).toBe(400);
    expect(await dashboard.store.accounts.listKeys(account.id)).toEqual([]);
  });

  it('is asked at most 30 times a minute for keys, by address', async () => {
    const codes = await Promise.all(Array.from({ length: 31 }, () => exchange({ code: 'x' })));
    expect(codes.map(({ statusCode }) => statusCode).filter((status) => status === 429)).toHaveLength(1);
  });
});

describe('callbacks of a connected shop', () => {
  it('stay on the host of the shop', async () => {
    const code = await codeOf();
    const { api_key: key } = (await exchange({ code, code_verifier: VERIFIER, return: RETURN })).json();
    const other = await createAt(key, 'https://hooks.example.com/hook');
    expect([other.statusCode, other.json().error]).toEqual([
      403,
      'The API key may only name callbacks on shop.example.com. Use another key for other hosts.',
    ]);
    expect(textOf((await browser.get('/dashboard/keys')).payload)).toContain(
      'Webhooks to shop.example.com only',
    );
  });

  it('may be anywhere where the merchant approves that', async () => {
    const code = await codeOf({}, { any_host: '1' });
    const { api_key: key } = (await exchange({ code, code_verifier: VERIFIER, return: RETURN })).json();
    expect((await createAt(key, 'https://hooks.example.com/hook')).statusCode).toBe(200);
  });
});

describe('the page of a connection', () => {
  it.each([
    ['no name', { name: '' }],
    ['a name with a text direction mark', { name: 'Shop \u202e' }],
    ['a script', { return: 'javascript:alert(1)' }],
    ['a state with markup', { state: '"><script>alert(1)</script>' }],
  ])('refuses %s, and redirects nowhere', async (_what, change) => {
    for (const answer of [await browser.get(addressWith(change)), await approve(change)]) {
      expect(answer.statusCode).toBe(400);
      expect(answer.headers['location']).toBeUndefined();
      expect(answer.headers['refresh']).toBeUndefined();
      expect(answer.payload).not.toContain('<script>alert');
    }
    expect(await auditOf()).toEqual([]);
  });

  it('is reached at /connect, after signing in, and is never framed', async () => {
    const stranger = dashboard.newBrowser();
    const first = await stranger.get(addressWith({}, '/connect'));
    expect([first.statusCode, first.headers['location']]).toEqual([303, addressWith()]);
    const second = await stranger.get(String(first.headers['location']));
    const signIn = new URL(String(second.headers['location']), 'https://pay.example.com');
    expect(signIn.pathname).toBe('/dashboard/sign-in');
    expect(signIn.searchParams.get('next')).toBe(addressWith());
    const page = await browser.get(addressWith());
    expect(page.headers['x-frame-options']).toBe('DENY');
    expect(page.headers['content-security-policy']).toContain("frame-ancestors 'none'");
  });

  it.each([
    ['slashes', 'return=https://shop.example.com/back&name=Shop'],
    [
      'the characters that encodeURIComponent leaves',
      `return=${encodeURIComponent(RETURN)}&name=Bob's!*(tea)`,
    ],
  ])('is still the page after signing in where a shop leaves %s as they are', async (_what, query) => {
    const { code_challenge, state } = asked;
    const stranger = dashboard.newBrowser();
    const first = await stranger.get(`/connect?${query}&state=${state}&code_challenge=${code_challenge}`);
    const second = await stranger.get(String(first.headers['location']));
    const signIn = new URL(String(second.headers['location']), 'https://pay.example.com');
    const next = new URL(signIn.searchParams.get('next') ?? '', 'https://pay.example.com');
    expect(next.pathname).toBe('/dashboard/connect');
    const sent = new URLSearchParams(query);
    expect(next.searchParams.get('return')).toBe(sent.get('return'));
    expect(next.searchParams.get('name')).toBe(sent.get('name'));
  });

  it('asks for an owner where the shop asks for the audit log', async () => {
    const change = { scopes: 'read,audit' };
    for (const answer of [await browser.get(addressWith(change)), await approve(change)])
      expect([answer.statusCode, answer.headers['refresh']]).toEqual([403, undefined]);
  });

  it('names the limit of ten keys, before the approval and at the exchange', async () => {
    const code = await codeOf();
    for (let count = 0; count < 10; count++)
      await dashboard.store.accounts.createKey(newKey(account.id, { scopes: keyScopes }), 10);
    expect((await browser.get(addressWith())).statusCode).toBe(409);
    expect((await exchange({ code, code_verifier: VERIFIER, return: RETURN })).statusCode).toBe(409);
    expect(await auditOf()).toEqual(['shop.refused', 'shop.approved']);
  });
});
