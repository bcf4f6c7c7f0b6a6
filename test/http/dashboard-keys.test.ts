import { describe, expect, it } from 'vitest';
import { hashApiKey } from '../../src/accounts/api-key.ts';
import { hashSecretToken } from '../../src/accounts/people-context.ts';
import { newKey, newPayment, pay } from '../store/fixtures.ts';
import { PASSWORD } from '../support/dashboard.ts';
import { type TestShop, useShop } from '../support/dashboard-shop.ts';
import { expectSays, textOf } from '../support/page-text.ts';

let { dashboard, account, user: developer, browser } = {} as TestShop;
useShop((shop) => ({ dashboard, account, user: developer, browser } = shop), { role: 'developer' });

const keysOf = () => dashboard.store.accounts.listKeys(account.id);
const open = async (url: string) => textOf((await browser.get(url)).payload);

/** The form as the page shows it, with scopes ticked and the password. */
const allScopes = { create: '1', read: '1', cancel: '1', password: PASSWORD };

describe('API keys', () => {
  it('are shown once, work at once, and are masked afterwards', async () => {
    expect(await open('/dashboard/keys')).toContain('0 of 10');
    const made = await browser.post('/dashboard/keys', { ...allScopes, name: ' Web <shop> ' });
    const [created] = await keysOf();
    expect([made.statusCode, made.headers['location']]).toEqual([
      303,
      `/dashboard/keys/${created?.id}/created`,
    ]);
    const answer = await browser.get(made.headers['location'] as string);
    const plainKey = /service_live_[\w-]{38}/.exec(answer.payload)?.[0] as string;
    expect(await dashboard.store.accounts.findActiveKey(hashApiKey(plainKey))).toMatchObject({
      account: { id: account.id },
    });
    const page = await browser.get('/dashboard/keys');
    expect(textOf(page.payload)).toContain(`service_live_…${plainKey.slice(-4)}`);
    expect(textOf(page.payload)).toContain('1 of 10');
    expect(page.payload).toContain('Web &#60;shop&#62;');
    expect(page.payload).not.toContain(plainKey);
    expect(dashboard.logLines.join('')).not.toContain(plainKey);
    expect(await dashboard.store.audit.listEntries(account.id, null, 1)).toMatchObject([
      {
        action: 'key.created',
        actor: developer.email,
        target: `Web <shop> (service_live_…${plainKey.slice(-4)})`,
      },
    ]);
  });

  it('are made by the form alone: reloading or opening the page that shows one makes none and shows nothing', async () => {
    const made = await browser.post('/dashboard/keys', { ...allScopes, name: 'Web shop' });
    const page = made.headers['location'] as string;
    const plainKey = /service_live_[\w-]{38}/.exec((await browser.get(page)).payload)?.[0] as string;
    const reloaded = await browser.get(page);
    expect([reloaded.statusCode, reloaded.headers['location']]).toEqual([303, '/dashboard/keys?flash=shown']);
    const list = await browser.get('/dashboard/keys?flash=shown');
    expect(textOf(list.payload)).toContain('A key is shown only once');
    expect(list.payload).not.toContain(plainKey);
    expect(await keysOf()).toHaveLength(1);
  });

  it('are shown to the session that made them alone, within two minutes, and lie sealed until then', async () => {
    const cookie = browser.cookies.get('__Host-card_checkout_session') as string;
    const made = await browser.post('/dashboard/keys', { ...allScopes, name: 'Web shop' });
    const page = made.headers['location'] as string;
    const other = await dashboard.signIn(developer);
    expect((await other.get(page)).headers['location']).toBe('/dashboard/keys?flash=shown');
    const [session] = (await dashboard.store.sessions.listSessions(developer.id)).filter(
      ({ tokenHash }) => tokenHash === hashSecretToken(cookie),
    );
    const purpose = `key ${page.split('/')[3]}`;
    const kept = await dashboard.store.sessions.takeChallenge(session?.id ?? '', purpose);
    expect(kept).toMatch(/^\d+ [\w-]{6}\.[\w-]+$/);
    expect(kept).not.toContain('service_live_');
    await dashboard.store.sessions.keepChallenge(session?.id ?? '', purpose, kept as string);
    dashboard.advance(2 * 60_000);
    expect((await browser.get(page)).headers['location']).toBe('/dashboard/keys?flash=shown');
  });

  it('are each shown once, also when two tabs make one each and a third asks for a passkey', async () => {
    const names = ['Web shop', 'Till'];
    const pages: string[] = [];
    for (const name of names) {
      const made = await browser.post('/dashboard/keys', { ...allScopes, name });
      pages.push(made.headers['location'] as string);
    }
    await browser.get('/dashboard/security');
    for (const page of pages.reverse())
      expect((await browser.get(page)).payload).toMatch(/service_live_[\w-]{38}/);
  });

  it('show no message for a name in the address that has none, not even one of every object', async () => {
    const plain = await open('/dashboard/keys');
    for (const name of ['nothing', 'constructor', 'toString', '__proto__'])
      expect(await open(`/dashboard/keys?flash=${name}`), name).toBe(plain);
  });

  it('are revoked by a folded form, at once, and stay listed as such', async () => {
    const key = newKey(account.id, { name: 'Old shop' });
    await dashboard.store.accounts.createKey(key, 10);
    const link = `/dashboard/keys/${key.id}/revoke`;
    expect(await open('/dashboard/keys')).toMatch(/Revoke… Old shop .*This cannot be undone/);
    const answer = await browser.post(link);
    expect([answer.statusCode, answer.headers['location']]).toEqual([303, '/dashboard/keys?flash=revoked']);
    expect(await dashboard.store.accounts.findActiveKey(key.hash)).toBeNull();
    expect(await open('/dashboard/keys')).toMatch(/0 of 10.*Revoked keys.*Old shop/);
    expect((await browser.post(link)).statusCode).toBe(404);
  });

  it('have the scopes that were ticked', async () => {
    await browser.post('/dashboard/keys', { name: 'Reader', read: '1', password: PASSWORD });
    const [key] = await dashboard.store.accounts.listKeys(account.id);
    expect(key?.scopes).toEqual(['read']);
  });

  it('may read the audit log where an owner makes them, who alone reads it', async () => {
    const fields = { name: 'Archive', audit: '1', password: PASSWORD };
    expect((await browser.get('/dashboard/keys')).payload).not.toContain('name="audit"');
    expectSays(await browser.post('/dashboard/keys', fields), 403, 'You don’t have permission');
    const owner = await dashboard.signIn(await dashboard.giveUser({ accountId: account.id, role: 'owner' }));
    expect((await owner.get('/dashboard/keys')).payload).toContain('name="audit"');
    expect((await owner.post('/dashboard/keys', fields)).statusCode).toBe(303);
    expect((await keysOf()).map(({ scopes }) => scopes)).toEqual([['audit']]);
  });

  it('are ten at most, which is said before and after', async () => {
    for (let index = 0; index < 10; index++) await dashboard.store.accounts.createKey(newKey(account.id), 10);
    expect(await open('/dashboard/keys')).toMatch(/10 of 10.*revoke one first/);
    const answer = await browser.post('/dashboard/keys', { ...allScopes, name: 'One more' });
    expect(answer.statusCode).toBe(409);
    expect(await keysOf()).toHaveLength(10);
  });

  it('say when they were last used, in the time zone of the account', async () => {
    const key = newKey(account.id, { createdAtMs: Date.UTC(2026, 0, 1) });
    await dashboard.store.accounts.createKey(key, 10);
    expect(await open('/dashboard/keys')).toContain('never');
    await dashboard.store.accounts.recordKeyUses([key.hash], Date.UTC(2026, 6, 1, 12, 30));
    await dashboard.store.accounts.updateAccount(account.id, { timeZone: 'Asia/Tokyo' });
    expect(await open('/dashboard/keys')).toContain('Jul 1, 2026, 21:30 GMT+9');
  });
});

it('three first steps lead to the account’s own first paid checkout, and go when all are done', async () => {
  const owner = await dashboard.signIn(await dashboard.giveUser({ accountId: account.id, role: 'owner' }));
  const openSteps = async () =>
    [...(await owner.get('/dashboard')).payload.matchAll(/<li><a href="([^"]+)"><strong>/g)].map(
      ([, path]) => path,
    );
  const { updateAccount, createKey } = dashboard.store.accounts;
  expect(await openSteps()).toEqual([
    '/dashboard/settings/payouts',
    '/dashboard/settings',
    '/dashboard/links',
  ]);
  const wallet = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';
  await updateAccount(account.id, { wallet });
  await createKey(newKey(account.id), 10);
  const [logo] = [{ hash: 'x', type: 'image/png' as const, bytes: Buffer.from('x') }];
  await updateAccount(account.id, { logo });
  expect(await openSteps()).toEqual(['/dashboard/links']);
  const page = await open('/dashboard');
  expect(page).toContain('I’m integrating an API Create an API key');
  expect(page).toContain(`curl ${dashboard.context.baseUrl}/api/v1/wallet`);
  expect(page).toContain(`"address":"${wallet}"`);
  // The newest one of another account is not offered.
  const [payment, other] = [newPayment(account.id), newPayment((await dashboard.giveAccount()).id)];
  for (const each of [payment, other]) await dashboard.store.payments.createPayment(each, null);
  // Only the sandbox has money to try it with.
  expect(await openSteps()).toEqual([]);
  Object.assign(dashboard.context, { isTestMode: true });
  expect(await openSteps()).toEqual([`/pay/${payment.id}`]);
  await dashboard.store.payments.decidePayment(payment.id, pay);
  expect(await open('/dashboard')).not.toContain('Set up your shop');
});

it('a suspended account says so on every page, and still shows everything', async () => {
  await dashboard.store.accounts.updateAccount(account.id, { suspended: true });
  for (const url of ['/dashboard', '/dashboard/keys', '/dashboard/security']) {
    const page = await browser.get(url);
    expectSays(page, 200, 'This account is suspended: new checkouts are refused.');
  }
});
