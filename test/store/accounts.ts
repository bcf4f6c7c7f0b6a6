import { expect, it } from 'vitest';
import type { Account } from '../../src/accounts/account.ts';
import { shopLogoOf } from '../../src/accounts/shop-profile.ts';
import { onePixel } from '../support/pictures.ts';
import { ADDRESS, atOnce, giveAccount, NOW_MS, newAccount, newKey, type StoreContext } from './fixtures.ts';

export function accountPromises(context: StoreContext): void {
  const { accounts } = context.store;
  it('gives back an account as it was stored', async () => {
    const full = newAccount({
      email: 'm@example.com',
      wallet: ADDRESS,
      providers: ['moonpay'],
      suspended: true,
    });
    const plain = newAccount({ features: [] });
    await accounts.createAccount(full);
    await accounts.createAccount(plain);
    await context.reopen();
    expect(await accounts.findAccount(full.id)).toEqual(full);
    expect(await accounts.listAccounts()).toEqual([full, plain]);
    expect(await accounts.findAccount('unknown')).toBeNull();
  });

  it('shows the logo that an account has now, and no earlier one', async () => {
    const [one, other] = [newAccount(), newAccount()];
    for (const account of [one, other]) await accounts.createAccount(account);
    const logo = shopLogoOf(onePixel);
    const another = { ...logo, hash: 'f'.repeat(32), bytes: Buffer.of(0, 255, 128) };
    for (const { id } of [one, other]) await accounts.updateAccount(id, { logo });
    await context.reopen();
    expect(await accounts.findLogo(logo.hash)).toEqual(logo);
    expect(await accounts.findAccount(one.id)).toEqual({ ...one, logoHash: logo.hash });
    await accounts.updateAccount(one.id, { logo: another });
    expect(await accounts.findLogo(another.hash)).toEqual(another);
    expect(await accounts.findLogo(logo.hash), 'still that of the other').toEqual(logo);
    await accounts.updateAccount(other.id, { logo: null });
    expect(await accounts.findLogo(logo.hash)).toBeNull();
    expect(await accounts.findAccount(other.id)).toEqual(other);
    expect(await accounts.updateAccount('unknown', { logo })).toBeNull();
    expect(await accounts.findLogo(logo.hash)).toBeNull();
  });

  it('lists accounts a page at a time, and finds them by a part of the name or address, or the whole id', async () => {
    const made = [];
    for (const [name, email] of [
      ['Tea & Coffee', 'anna@shop.example'],
      ['tea 100%', null],
      ['Bücher_', 'TEA@books.example'],
      ['Flowers', null],
    ] as const) {
      const account = newAccount({ name, email });
      made.push(account);
      await accounts.createAccount(account);
    }
    const [coffee, percent, books, flowers] = made as [Account, Account, Account, Account];
    const find = async (search: string | null, before: Account | null = null, limit = 10) =>
      (await accounts.searchAccounts({ search, before }, limit)).map(({ id }) => id);
    const idsOf = (...some: Account[]) => some.map(({ id }) => id);
    expect(await accounts.searchAccounts({ search: null, before: null }, 10)).toEqual(made.toReversed());
    expect(await find(null, null, 2)).toEqual(idsOf(flowers, books));
    expect(await find(null, books, 2)).toEqual(idsOf(percent, coffee));
    expect(await find('TEA')).toEqual(idsOf(books, percent, coffee));
    expect(await find('tea', books)).toEqual(idsOf(percent, coffee));
    expect(await find('0%'), 'no pattern').toEqual(idsOf(percent));
    expect(await find('r_'), 'no pattern').toEqual(idsOf(books));
    expect(await find('\\')).toEqual([]);
    expect(await find(flowers.id)).toEqual(idsOf(flowers));
    expect(await find(flowers.id.slice(0, -1))).toEqual([]);
  });

  it('tells accounts apart that were created at the same time', async () => {
    const made = ['account_a', 'account_b', 'account_c'].map((id) => newAccount({ id, createdAtMs: NOW_MS }));
    for (const account of made) await accounts.createAccount(account);
    const [, middle] = made as [Account, Account, Account];
    const query = { search: null, before: middle };
    expect(await accounts.searchAccounts(query, 10)).toEqual([made[0]]);
  });

  it('merges changes that arrive together', async () => {
    const account = await giveAccount(context.store);
    await Promise.all([
      accounts.updateAccount(account.id, { name: 'new' }),
      accounts.updateAccount(account.id, { suspended: true }),
    ]);
    expect(await accounts.findAccount(account.id)).toEqual({
      ...account,
      name: 'new',
      suspended: true,
    });
  });

  it('gives 50 concurrent requests for a key exactly ten keys', async () => {
    const account = await giveAccount(context.store);
    const made = await atOnce(50, () => accounts.createKey(newKey(account.id), 10));
    expect(made.filter(Boolean)).toHaveLength(10);
    expect(await accounts.listKeys(account.id)).toHaveLength(10);
  });

  it('gives a new key for a revoked one, and counts each account on its own', async () => {
    const [one, other] = [newAccount(), newAccount()];
    for (const account of [one, other]) await accounts.createAccount(account);
    const keys = Array.from({ length: 10 }, () => newKey(one.id));
    for (const key of keys) await accounts.createKey(key, 10);
    expect(await accounts.createKey(newKey(one.id), 10)).toBe(false);
    expect(await accounts.createKey(newKey(other.id), 10)).toBe(true);
    await accounts.revokeKey(keys[3]?.id as string, NOW_MS);
    expect(await accounts.createKey(newKey(one.id), 10)).toBe(true);
    expect(await accounts.createKey(newKey(one.id), 10)).toBe(false);
  });

  it('refuses a key of an unknown account, and a hash that another key has', async () => {
    const account = await giveAccount(context.store);
    const key = newKey(account.id);
    await accounts.createKey(key, 10);
    await expect(accounts.createKey(newKey('unknown'), 10)).rejects.toThrow();
    await expect(accounts.createKey(newKey(account.id, { hash: key.hash }), 10)).rejects.toThrow();
    expect(await accounts.listKeys(account.id)).toEqual([key]);
  });

  it('keeps when each of several keys was last used', async () => {
    const account = await giveAccount(context.store);
    const keys = [newKey(account.id), newKey(account.id), newKey(account.id)];
    for (const key of keys) await accounts.createKey(key, 10);
    const hashes = keys.slice(0, 2).map(({ hash }) => hash);
    await accounts.recordKeyUses([...hashes, 'of no key'], NOW_MS);
    await accounts.recordKeyUses(hashes.slice(1), NOW_MS + 60_000);
    const listed = await accounts.listKeys(account.id);
    expect(listed.map(({ lastUsedAtMs }) => lastUsedAtMs)).toEqual([NOW_MS, NOW_MS + 60_000, null]);
  });
}
