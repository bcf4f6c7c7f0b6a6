import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { hashApiKey } from '../src/accounts/api-key.ts';
import { createKey } from '../src/accounts/api-keys.ts';
import { createAccount, DEFAULT_FEE_BASIS_POINTS } from '../src/accounts/manage-accounts.ts';
import { createPasswords } from '../src/accounts/passwords.ts';
import { createUser } from '../src/accounts/users.ts';
import type { Store } from '../src/app/store/store.ts';
import type { Address } from '../src/payment/address.ts';

export interface DemoAccount {
  readonly accountId: string;
  /** Stored with the sandbox's data. A live key is never stored. */
  readonly apiKey: string;
  readonly email: string;
  /** Stored like the API key; null once the owner has set another password. */
  readonly password: string | null;
}

const EMAIL = 'demo@shop.example';

/**
 * Throws if the data folder contains accounts but no sandbox has run there. The folder is then meant for live mode,
 * which would refuse to start with the sandbox's account and chain.
 */
export async function requireSandboxData(store: Store, dataDir: string): Promise<void> {
  if (existsSync(join(dataDir, 'sandbox')) || (await store.accounts.listAccounts()).length === 0) return;
  throw new Error(
    `the data folder ${resolve(dataDir)} holds accounts that were not created by a sandbox: ` +
      'set DATA_DIR to another folder for the sandbox, or start the service with --live',
  );
}

/** Opens the demo account and its owner. Creates a new account at the first start, or if its key was revoked. */
export async function openDemoAccount(store: Store, dataDir: string, wallet: Address): Promise<DemoAccount> {
  const file = join(dataDir, 'sandbox-demo-account.json');
  const known = readKnown(file);
  const isKnown = known !== null && (await store.accounts.findActiveKey(hashApiKey(known.apiKey))) !== null;
  const { accountId, apiKey } = isKnown ? known : await makeAccount(store, wallet);
  const password = await openOwner(store, accountId, known?.password ?? null);
  const demo: DemoAccount = { accountId, apiKey, email: EMAIL, password };
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  writeOwnFile(file, JSON.stringify(demo));
  return demo;
}

async function makeAccount(
  store: Store,
  wallet: Address,
): Promise<Pick<DemoAccount, 'accountId' | 'apiKey'>> {
  const context = { accounts: store.accounts, nowMs: Date.now };
  const account = await createAccount(context, {
    name: 'Demo shop',
    email: EMAIL,
    feeBasisPoints: DEFAULT_FEE_BASIS_POINTS,
    wallet,
  });
  const { plainKey } = await createKey(context, account.id, { name: 'Demo key' });
  return { accountId: account.id, apiKey: plainKey };
}

/** Creates the owner if missing. Resolves to the password, or null if the owner has changed it. */
async function openOwner(store: Store, accountId: string, known: string | null): Promise<string | null> {
  const owner = await createUser(
    { ...store, nowMs: Date.now },
    { email: EMAIL, isOperator: true, membership: { accountId, role: 'owner' } },
  );
  const passwords = createPasswords();
  if (owner.passwordHash !== null) {
    return known !== null && (await passwords.verify(known, owner.passwordHash)) ? known : null;
  }
  const password = randomBytes(15).toString('base64url');
  await store.people.updateUser(owner.id, { passwordHash: await passwords.hash(password) });
  return password;
}

function readKnown(file: string): DemoAccount | null {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as DemoAccount;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/**
 * Reads the sandbox's secret, or creates one at the first start. The data folder keeps the secret, so that tokens stay
 * valid. Throws if the file is damaged. The caller must hold the store's lock, which keeps other processes out.
 */
export function readOrCreateSecretKey(dataDir: string): string {
  const file = join(dataDir, 'sandbox-secret-key');
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  if (!existsSync(file)) writeOwnFile(file, randomBytes(32).toString('hex'));
  const secretKey = readFileSync(file, 'utf8').trim();
  if (!/^[0-9a-f]{64}$/.test(secretKey)) throw new Error(`${file} is damaged: it must hold 64 hex digits`);
  return secretKey;
}

/** Atomically writes a file that only its owner may read. */
function writeOwnFile(file: string, text: string): void {
  const unfinished = `${file}.new`;
  writeFileSync(unfinished, text, { mode: 0o600, flush: true });
  renameSync(unfinished, file);
}
