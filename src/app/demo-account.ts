import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createAccount, DEFAULT_FEE_BASIS_POINTS } from '../accounts/create-account.ts';
import { createKey } from '../accounts/manage-keys.ts';
import { hashApiKey } from '../domain/api-key.ts';
import type { Address } from '../domain/payout-address.ts';
import type { Store } from '../store/store.ts';
import { writeOwnFile } from './write-own-file.ts';

/** The account a newcomer finds in the sandbox. */
export interface DemoAccount {
  readonly accountId: string;
  /** Known to the sandbox alone, which keeps it beside its data; a live key is never kept. */
  readonly apiKey: string;
}

/** The demo account of this data folder; made at the first start, or when its key was revoked. */
export async function openDemoAccount(store: Store, dataDir: string, wallet: Address): Promise<DemoAccount> {
  const file = join(dataDir, 'sandbox-demo-account.json');
  const known = readKnown(file);
  if (known !== null && (await store.accounts.findAccountByKeyHash(hashApiKey(known.apiKey))) !== null)
    return known;

  const context = { accounts: store.accounts, nowMs: Date.now };
  const account = await createAccount(context, {
    name: 'Demo shop',
    email: 'demo@shop.example',
    feeBasisPoints: DEFAULT_FEE_BASIS_POINTS,
    wallet,
  });
  const { plainKey } = await createKey(context, account.id, 'Demo key');
  const demo: DemoAccount = { accountId: account.id, apiKey: plainKey };
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  writeOwnFile(file, JSON.stringify(demo));
  return demo;
}

function readKnown(file: string): DemoAccount | null {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as DemoAccount;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}
