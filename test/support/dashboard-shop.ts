import { afterEach, beforeEach, expect } from 'vitest';
import type { Account } from '../../src/accounts/account.ts';
import type { Role, User } from '../../src/accounts/person.ts';
import type { Payment } from '../../src/payment/payment.ts';
import { newPayment } from '../store/fixtures.ts';
import { createTestDashboard, type TestBrowser, type TestDashboard } from './dashboard.ts';
import { textOf } from './page-text.ts';

/** A dashboard with one account and one member, and what tests of its pages do again and again. */
export interface TestShop {
  readonly dashboard: TestDashboard;
  readonly account: Account;
  readonly user: User;
  readonly browser: TestBrowser;
  /** A browser of another member with this role. */
  signIn(role: Role, accountId?: string): Promise<TestBrowser>;
  give(change?: Partial<Payment>, accountId?: string): Promise<Payment>;
  read(path: string, from?: TestBrowser): Promise<string>;
}

type ShopOptions = NonNullable<Parameters<typeof createTestDashboard>[1]> & {
  readonly role?: Role;
  readonly account?: Partial<Account>;
  /** Without it, `browser` has been nowhere yet. */
  readonly signsIn?: boolean;
};

/**
 * Opens one before each test of the file, hands it to `take`, and closes it after the test. Returns how a test replaces it
 * by one with other options.
 */
export function useShop(
  take: (shop: TestShop) => unknown,
  defaults: ShopOptions = {},
): (changes?: ShopOptions) => Promise<void> {
  let current: TestDashboard | undefined;
  async function open(changes: ShopOptions = {}): Promise<void> {
    await current?.close();
    const { role = 'owner', account: change, signsIn = true, ...options } = { ...defaults, ...changes };
    const dashboard = await createTestDashboard(undefined, options);
    current = dashboard;
    const account = await dashboard.giveAccount(change);
    const user = await dashboard.giveUser({ accountId: account.id, role });
    const browser = signsIn ? await dashboard.signIn(user) : dashboard.newBrowser();
    take({
      dashboard,
      account,
      user,
      browser,
      signIn: async (role, accountId = account.id) =>
        dashboard.signIn(await dashboard.giveUser({ accountId, role })),
      async give(change = {}, accountId = account.id) {
        const payment = newPayment(accountId, change);
        await dashboard.store.payments.createPayment(payment, null);
        return payment;
      },
      async read(path, from = browser) {
        const answer = await from.get(`/dashboard${path}`);
        expect([path, answer.statusCode]).toEqual([path, 200]);
        return textOf(answer.payload);
      },
    });
  }
  beforeEach(() => open());
  afterEach(async () => {
    await current?.close();
    current = undefined;
  });
  return open;
}
