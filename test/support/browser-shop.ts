import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll } from 'vitest';
import type { Account } from '../../src/accounts/account.ts';
import type { Role, User } from '../../src/accounts/person.ts';
import { launchBrowser } from './browser.ts';
import { createTestDashboard, PASSWORD, type TestDashboard } from './dashboard.ts';
import { freePorts } from './free-ports.ts';

/** A real browser, and a dashboard for it with one account and one member. */
export interface BrowserShop {
  readonly browser: Browser;
  readonly dashboard: TestDashboard;
  readonly baseUrl: string;
  readonly account: Account;
  readonly user: User;
  /** Fills the sign-in form that the page shows, and sends it. */
  giveCredentials(page: Page, user?: User): Promise<void>;
  /** The cookies of the member's session. */
  readonly cookies: Parameters<BrowserContext['addCookies']>[0];
}

type BrowserShopOptions = NonNullable<Parameters<typeof createTestDashboard>[1]> & {
  /** Browsers have passkeys for names only. */
  readonly host?: 'localhost' | '127.0.0.1';
  readonly role?: Role;
  readonly account?: Partial<Account>;
  readonly user?: Partial<User>;
};

/** Opens them before the tests of the file, hands them to `take`, and closes them afterwards. */
export function useBrowserShop(
  take: (shop: BrowserShop) => unknown,
  {
    host = '127.0.0.1',
    role = 'owner',
    account: ofAccount,
    user: ofUser,
    ...options
  }: BrowserShopOptions = {},
): void {
  let browser: Browser | undefined;
  let dashboard: TestDashboard | undefined;
  beforeAll(async () => {
    const [port] = await freePorts(1);
    const baseUrl = `http://${host}:${port}`;
    const [opened, served] = [
      await launchBrowser(),
      await createTestDashboard(baseUrl, { listens: true, ...options }),
    ];
    [browser, dashboard] = [opened, served];
    const account = await served.giveAccount(ofAccount);
    const user = await served.giveUser({ accountId: account.id, role }, ofUser);
    const { cookies: session } = await served.signIn(user);
    const cookies = [...session].map(([name, value]) => ({ name, value, url: baseUrl }));
    async function giveCredentials(page: Page, { email } = user): Promise<void> {
      await page.getByLabel('Email address').fill(email);
      await page.getByLabel('Password').fill(PASSWORD);
      await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    }
    take({ browser: opened, dashboard: served, baseUrl, account, user, giveCredentials, cookies });
  });
  afterAll(async () => {
    await browser?.close();
    await dashboard?.close();
  });
}
