import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { hashApiKey } from '../src/accounts/api-key.ts';
import { openSqliteStore } from '../src/app/store/sqlite-store.ts';
import type { Store } from '../src/app/store/store.ts';
import { openDemoAccount, readOrCreateSecretKey, requireSandboxData } from './demo-account.ts';

const WALLET = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';

let folder: string;
let store: Store;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'card-checkout-demo-'));
  store = await openSqliteStore({ file: join(folder, 'store.sqlite') });
});
afterEach(async () => {
  await store.close();
  rmSync(folder, { recursive: true });
});

it('is made at the first start and found again at every later one', async () => {
  const demo = await openDemoAccount(store, folder, WALLET);
  expect(await store.accounts.findActiveKey(hashApiKey(demo.apiKey))).toMatchObject({
    account: { id: demo.accountId, wallet: WALLET, feeBasisPoints: 250, suspended: false },
  });
  expect(await openDemoAccount(store, folder, WALLET)).toEqual(demo);
  expect(await store.accounts.listAccounts()).toHaveLength(1);
  expect(statSync(join(folder, 'sandbox-demo-account.json')).mode & 0o777).toBe(0o600);
});

it('is made anew when its key was revoked, or the data is another', async () => {
  const demo = await openDemoAccount(store, folder, WALLET);
  const [key] = await store.accounts.listKeys(demo.accountId);
  await store.accounts.revokeKey(key?.id as string, Date.now());
  const second = await openDemoAccount(store, folder, WALLET);
  expect(second.apiKey).not.toBe(demo.apiKey);
  expect(await store.accounts.findActiveKey(hashApiKey(second.apiKey))).not.toBeNull();
  expect(await openDemoAccount(store, folder, WALLET)).toEqual(second);
});

it('is loud about a damaged file', async () => {
  writeFileSync(join(folder, 'sandbox-demo-account.json'), '{"accountId":');
  await expect(openDemoAccount(store, folder, WALLET)).rejects.toThrow(SyntaxError);
});

it('is not added to accounts of a service that is being set up for live mode', async () => {
  await requireSandboxData(store, folder);
  await openDemoAccount(store, folder, WALLET);
  await expect(requireSandboxData(store, folder)).rejects.toThrow(
    `the data folder ${folder} holds accounts that were not created by a sandbox: set DATA_DIR to another folder`,
  );
  mkdirSync(join(folder, 'sandbox'));
  await requireSandboxData(store, folder);
});

it('makes a secret at the first start and keeps it for its owner alone, and another for other data', () => {
  const dataDir = join(folder, 'data');
  const secret = readOrCreateSecretKey(dataDir);
  expect(secret).toMatch(/^[0-9a-f]{64}$/);
  expect(readOrCreateSecretKey(dataDir)).toBe(secret);
  expect(readOrCreateSecretKey(join(folder, 'other'))).not.toBe(secret);
  expect(readdirSync(dataDir)).toEqual(['sandbox-secret-key']);
  expect(statSync(join(dataDir, 'sandbox-secret-key')).mode & 0o777).toBe(0o600);
  expect(statSync(dataDir).mode & 0o777).toBe(0o700);
});

it('is not led astray by what a kill in the middle of the first start left behind', () => {
  writeFileSync(join(folder, 'sandbox-secret-key.new'), 'abc');
  expect(readOrCreateSecretKey(folder)).toMatch(/^[0-9a-f]{64}$/);
});

it.each(['', 'abc', 'x'.repeat(64)])('refuses a damaged secret (%j) instead of signing with it', (text) => {
  writeFileSync(join(folder, 'sandbox-secret-key'), text);
  expect(() => readOrCreateSecretKey(folder)).toThrow(/sandbox-secret-key is damaged/);
});
