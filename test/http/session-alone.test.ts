import { afterEach, describe, expect, it } from 'vitest';
import type { User } from '../../src/accounts/person.ts';
import { markOf } from '../../src/pages/dashboard/signing-secret-card.ts';
import { newPayment } from '../store/fixtures.ts';
import { newPage } from '../store/payment-pages.ts';
import { PASSWORD, type Route, type TestBrowser, type TestDashboard } from '../support/dashboard.ts';
import { appCode, createTestConsole } from '../support/operator.ts';
import { CUSTOMER_ADDRESS, giveRefund, newRefund, payWithDeposit } from '../support/refunds.ts';

/*
 * The table of forms in docs/threat-model.md: every form that decides where money goes, how much is enough or who has
 * which right asks for the password and, where there is one, the second factor.
 */

const SECRET = 'JBSWY3DPEHPK3PXP';
const OTHER_WALLET = '0x90F79bf6EB2c4f870365E785982E1f101E93b906';

let close = async () => {};
afterEach(() => close());

/** A form: its route, what it sends, and the ids in its path. */
interface Form {
  readonly route: string;
  readonly url: string;
  readonly fields: Readonly<Record<string, string>>;
}
function formOf(
  area: '/dashboard' | '/operator',
  route: string,
  fields: Form['fields'],
  { ids = [] as readonly string[] } = {},
): Form {
  const left = [...ids];
  const url = area + route.replaceAll(/:\w+/g, () => left.shift() ?? '');
  return { route, url, fields };
}

/** Forms that a session may send: they decide none of it. */
const harmless: readonly RegExp[] = [
  // Before and after a session, with limits and proofs of their own.
  /\/(?:sign-in|sign-out|second-factor|set-up|forgotten|password\/:token|invitation\/:token|new-browser(?:\/known)?)$/,
  // Their own tests: the user's own credentials, which ask for both (`dashboard-passkeys.test.ts`).
  /\/security\/|\/sessions\/:sessionId\/end$/,
  // Which account is shown, and what only stops something or is only written down.
  /\/dashboard\/account$|\/alerts\/dismiss$|\/(?:revoke|withdraw|pause|resume|state|feature|view|stop-viewing)$|\/:paymentId\/(?:note|settlement|cancel|erase-email)$/,
  // Money goes to the address that the payment or the refund has already.
  /\/:paymentId\/(?:release|rescue)$|\/refunds\/:refundId\/(?:transaction|cancel)$/,
  // Which of the approved providers are offered and in which order; the logo; examples, tests and messages to the member.
  /\/settings\/(?:providers|logo|preview|customers\/export)$|\/pages\/preview$|\/accounts\/:accountId\/providers$|\/webhook-check$|\/notifications\//,
  /\/\*$/,
];

async function dashboardForms(dashboard: TestDashboard) {
  const { store } = dashboard;
  const account = await dashboard.giveAccount({ wallet: null, webhookSecrets: ['sealed'] });
  const user = await dashboard.giveUser({ accountId: account.id, role: 'owner' });
  const member = await dashboard.giveUser({ accountId: account.id, role: 'viewer' });
  const [paid, named] = [newPayment(account.id), newPayment(account.id)];
  const partial = newPayment(account.id, { paidThresholdUnits: 50_000_000n });
  for (const payment of [paid, named, partial]) await store.payments.createPayment(payment, null);
  await payWithDeposit(store, paid, 25_000_000n);
  await payWithDeposit(store, named, 25_000_000n);
  await payWithDeposit(store, partial, 25_000_000n, {
    status: 'unpaid',
    forwardStatus: 'pending',
    paidAtMs: null,
    amountMismatch: 'partially_paid',
  });
  const page = newPage(account.id, { amountCents: 3_000, payoutAddress: CUSTOMER_ADDRESS });
  await store.paymentPages.createPage(page);
  const refund = newRefund(named, { status: 'awaiting_confirmation' });
  await giveRefund(store, refund);
  const link = { amount: '10', currency: 'EUR', provider: 'multi', address: OTHER_WALLET };
  const asked = {
    name: 'Shop',
    return: 'https://shop.example/back',
    state: 'state-of-the-shop',
    code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
    scopes: 'create',
  };
  const connect = `/dashboard/connect?${new URLSearchParams(asked)}`;
  const on = (...row: [route: string, fields: Form['fields'], more?: { ids?: string[] }]) =>
    formOf('/dashboard', ...row);
  const forms: readonly Form[] = [
    on('/links', link),
    on('/links/direct', link),
    on('/pages/new', { title: 'Tea', ...link }),
    on('/pages/:pageId', { title: 'Tea', ...link }, { ids: [page.id] }),
    on('/settings', { name: 'Shop' }),
    on('/settings/payouts', { tolerance_percent: '5', missing_cent: '1' }),
    on('/settings/account', { base_currency: 'EUR' }),
    on('/settings/wallet', { wallet: OTHER_WALLET }),
    on('/settings/customers/erase', { email: 'customer@example.com' }),
    on('/payments/:paymentId/accept', { units: '25.000000' }, { ids: [partial.id] }),
    on('/payments/:paymentId/refunds', { amount: '1', destination: CUSTOMER_ADDRESS }, { ids: [paid.id] }),
    on(
      '/payments/:paymentId/refunds/:refundId/confirm',
      { destination: CUSTOMER_ADDRESS },
      { ids: [named.id, refund.id] },
    ),
    on('/keys', { name: 'Till', read: '1' }),
    on('/webhook-check/remove', { secrets: markOf(['sealed']) }),
    on('/webhook-check/create', { secrets: markOf([]) }),
    { route: '/connect', url: connect, fields: {} },
    on('/people/invite', { email: 'new@shop.example', role: 'owner' }),
    on('/people/:userId', { role: 'owner' }, { ids: [member.id] }),
  ];
  return { user, forms, accountId: account.id };
}

async function consoleForms(dashboard: TestDashboard, giveOperator: () => Promise<User>) {
  const account = await dashboard.giveAccount();
  const ids = [account.id];
  const invited = { email: 'new@shop.example', role: 'owner' };
  const forms: readonly Form[] = [
    formOf('/operator', '/accounts/new', { name: 'Shop', fee: '1', wallet: OTHER_WALLET }),
    formOf('/operator', '/accounts/:accountId/fee', { fee: '9' }, { ids }),
    formOf('/operator', '/accounts/:accountId/invite', invited, { ids }),
    formOf('/operator', '/providers/:provider', { minimum: '1' }, { ids: ['moonpay'] }),
  ];
  return { user: await giveOperator(), forms, accountId: account.id };
}

/** What the forms would change. */
async function stateOf({ store, nowMs }: TestDashboard, accountId: string) {
  const payments = await store.payments.listPayments({ accountId }, null, 50);
  return {
    accounts: await store.accounts.searchAccounts({ search: null, before: null }, 50),
    keys: await store.accounts.listKeys(accountId),
    members: (await store.people.listMembers(accountId)).map(({ userId, role }) => [userId, role]),
    invitations: await store.sessions.listInvitations(accountId, nowMs()),
    pages: await store.paymentPages.listPages(accountId, nowMs()),
    refunds: await Promise.all(payments.map((payment) => store.refunds.listRefunds(payment.id))),
    moonpay: await store.providers.readProviderSettings('moonpay'),
    payments,
  };
}

describe.each(['/dashboard', '/operator'] as const)('below %s a stolen session', (area) => {
  async function start() {
    const console = await createTestConsole();
    close = console.close;
    const { dashboard } = console;
    const isDashboard = area === '/dashboard';
    const given = isDashboard
      ? await dashboardForms(dashboard)
      : await consoleForms(dashboard, console.giveOperator);
    const browser = isDashboard ? await dashboard.signIn(given.user) : await console.signIn(given.user);
    const routes: readonly Route[] = isDashboard ? dashboard.routes : console.routes;
    return { ...given, dashboard, browser, routes };
  }
  const send = (browser: TestBrowser, { url, fields }: Form, proof: Record<string, string>) =>
    browser.post(url, { ...fields, ...proof });

  it('alone moves no money and gives no right, nor does it with the password where there is a second factor', async () => {
    const { user, forms, accountId, dashboard, browser } = await start();
    const before = await stateOf(dashboard, accountId);
    const refuse = async (proof: Record<string, string>, field: RegExp) => {
      for (const form of forms) {
        dashboard.advance(600_000);
        const { statusCode, payload } = await send(browser, form, proof);
        expect([form.route, statusCode, field.test(payload)]).toEqual([form.route, 400, true]);
      }
      expect(await stateOf(dashboard, accountId)).toEqual(before);
    };
    await refuse({}, /<input id="password[\w-]*"[^>]*aria-invalid="true"/);
    await refuse({ password: 'wrong' }, /<input id="password[\w-]*"[^>]*aria-invalid="true"/);
    const totpSecret = dashboard.context.secondFactor.box.seal(SECRET, user.id);
    await dashboard.store.people.updateUser(user.id, { totpSecret });
    await refuse({ password: PASSWORD }, /<input id="code-to-confirm[\w-]*"[^>]*aria-invalid="true"/);
    for (const form of forms) {
      dashboard.advance(600_000);
      const code = appCode(SECRET, dashboard.nowMs());
      const { statusCode } = await send(browser, form, { password: PASSWORD, code });
      expect([form.route, statusCode < 400]).toEqual([form.route, true]);
    }
    expect(await stateOf(dashboard, accountId)).not.toEqual(before);
  });

  it('finds no other form: each is held to the password, or known to need none', async () => {
    const { forms, routes } = await start();
    const open = routes
      .filter(({ method, url }) => method === 'POST' && url.startsWith(area))
      .map(({ url }) => url)
      .filter((url) => !harmless.some((pattern) => pattern.test(url)))
      .map((url) => url.slice(area.length));
    expect(open.toSorted()).toEqual(forms.map(({ route }) => route).toSorted());
  });
});
