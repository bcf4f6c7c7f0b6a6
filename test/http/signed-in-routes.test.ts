import { afterEach, describe, expect, it } from 'vitest';
import { createKey } from '../../src/accounts/api-keys.ts';
import type { Store } from '../../src/app/store/store.ts';
import { newPayment } from '../store/fixtures.ts';
import { newChannel } from '../store/notifications.ts';
import { newPage } from '../store/payment-pages.ts';
import { newLink } from '../store/people.ts';
import { createTestDashboard, PASSWORD, type Route, type TestBrowser } from '../support/dashboard.ts';
import { createTestConsole } from '../support/operator.ts';
import { expectSays, textOf } from '../support/page-text.ts';
import { giveRefund, newRefund, payWithDeposit } from '../support/refunds.ts';

/*
 * Promises about every route of dashboard and console. The routes are the server's own, so that a new one is held to
 * them as well.
 */

let close = async () => {};
afterEach(() => close());

const routesOf = (method: 'GET' | 'POST', paths: string) =>
  paths
    .trim()
    .split(/\s+/)
    .map((path) => `${method} /${path}`);
const pages = 'sign-in password/:token new-browser';

/** Pages and forms that a visitor may open. Everything else needs a session. */
const openToVisitors: Readonly<Record<string, readonly string[]>> = {
  '/dashboard': [
    ...routesOf('GET', `${pages} forgotten invitation/:token`),
    ...routesOf('POST', `${pages} forgotten invitation/:token new-browser/known`),
  ],
  '/operator': [...routesOf('GET', pages), ...routesOf('POST', `${pages} new-browser/known`)],
};

/** Routes below a path without HEAD, which answers as GET. */
function routesBelow(area: string, routes: readonly Route[]): readonly Route[] {
  return routes.filter(({ method, url }) => url.startsWith(area) && method !== 'HEAD');
}

const nameOf = (area: string, { method, url }: Route) => `${method} ${url.slice(area.length)}`;
const filled = (url: string) => url.replaceAll(/:\w+/g, 'unknown').replace('*', 'unknown');

/** Fields with which the forms would do something. */
const fields = { role: 'viewer', amount: '1.00', note: 'A note', settlement: 'refunded', reason: 'A reason' };

function requestOf(browser: TestBrowser, { method, url }: Route) {
  return method === 'GET' ? browser.get(url) : browser.post(url, fields);
}

async function startArea(area: '/dashboard' | '/operator') {
  if (area === '/operator') {
    const console = await createTestConsole();
    close = console.close;
    const browser = await console.signIn(await console.giveOperator());
    return { routes: routesBelow(area, console.routes), newBrowser: console.newBrowser, browser };
  }
  const dashboard = await createTestDashboard();
  close = dashboard.close;
  const { id: accountId } = await dashboard.giveAccount();
  const browser = await dashboard.signIn(await dashboard.giveUser({ accountId, role: 'owner' }));
  return { routes: routesBelow(area, dashboard.routes), newBrowser: dashboard.newBrowser, browser };
}

/** A form of another site, and one that does not say from where it comes. */
const foreignForms = [
  { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' },
  { origin: '', 'sec-fetch-site': '' },
];

/** Nobody may frame, keep or extend an answer. */
function expectNoFrame(headers: Readonly<Record<string, unknown>>): void {
  expect(headers).toMatchObject({
    'cache-control': 'no-store',
    'x-frame-options': 'DENY',
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'same-origin',
    'cross-origin-opener-policy': 'same-origin',
    'content-security-policy': expect.stringMatching(/^default-src 'none';.*frame-ancestors 'none'/),
  });
  expect(headers['content-security-policy']).not.toMatch(/unsafe|\*|https?:/);
}

describe.each(['/dashboard', '/operator'] as const)(
  'every route of %s, whose answers nobody may frame',
  (area) => {
    const open = openToVisitors[area] ?? [];

    it('sends a visitor to the sign-in, but for the pages of a visitor', async () => {
      const { routes, newBrowser } = await startArea(area);
      const admitted: string[] = [];
      for (const route of routes) {
        const answer = await requestOf(newBrowser(), { ...route, url: filled(route.url) });
        const isSent =
          answer.statusCode === 303 && answer.headers['location']?.startsWith(`${area}/sign-in`) === true;
        if (!isSent) admitted.push(nameOf(area, route));
        expectNoFrame(answer.headers);
      }
      expect(admitted.toSorted()).toEqual(open.toSorted());
    });

    it('refuses a form from another site, and one that does not say from where it comes', async () => {
      const { routes, browser } = await startArea(area);
      // These need a session that waits for a second factor: an open one is sent to its start page.
      const forms = routes.filter(
        ({ method, url }) => method === 'POST' && !/^\/\w+\/(second-factor|set-up)$/.test(url),
      );
      expectNoFrame((await browser.get(area)).headers);
      const nowhere = await browser.get(`${area}/no/such/page`);
      expectSays(nowhere, 404, 'Page not found');
      expectNoFrame(nowhere.headers);
      for (const { url } of forms) {
        for (const headers of foreignForms) {
          const { statusCode } = await browser.post(filled(url), fields, { headers });
          expect([url, headers, statusCode]).toEqual([url, headers, 403]);
        }
      }
    });
  },
);

/** Forms of every member: their own sessions, second factors and notifications, and a check that changes nothing. */
const openToViewers = routesOf(
  'POST',
  `account notifications/:channelId/delete notifications/:channelId/pause notifications/:channelId/test
  notifications/add/:kind second-factor security/new-passkey security/passkeys
  security/password security/recovery-codes security/remove-passkey security/remove-second-factor
  security/second-factor sessions/:sessionId/end sign-out`,
);

const openToDevelopers = [
  ...openToViewers,
  ...routesOf(
    'POST',
    `alerts/dismiss connect keys keys/:keyId/revoke links links/direct pages/:pageId pages/:pageId/pause
    pages/:pageId/resume pages/new pages/preview payments/:paymentId/cancel payments/:paymentId/note payments/:paymentId/refunds
    payments/:paymentId/refunds/:refundId/cancel payments/:paymentId/refunds/:refundId/confirm
    payments/:paymentId/refunds/:refundId/transaction payments/:paymentId/release payments/:paymentId/settlement
    webhook-check webhook-check/create webhook-check/remove`,
  ),
];

it.each([
  ['viewer', openToViewers],
  ['developer', openToDevelopers],
] as const)('every form of the dashboard refuses a %s, but for those of the role', async (role, allowed) => {
  const dashboard = await createTestDashboard();
  close = dashboard.close;
  const { id: accountId } = await dashboard.giveAccount();
  const user = await dashboard.giveUser({ accountId, role });
  const admitted: string[] = [];
  for (const route of routesBelow('/dashboard', dashboard.routes)) {
    const name = nameOf('/dashboard', route);
    if (route.method !== 'POST' || openToVisitors['/dashboard']?.includes(name)) continue;
    const browser = await dashboard.signIn(user);
    const answer = await requestOf(browser, { ...route, url: filled(route.url) });
    if (answer.statusCode !== 403 || !textOf(answer.payload).includes('role')) admitted.push(name);
  }
  expect(admitted.toSorted()).toEqual(allowed.toSorted());
});

/** The addresses of a page's links below the dashboard, and of its forms that change something. */
function offersOf(page: string) {
  const all = (form: RegExp) =>
    [...page.matchAll(form)].map(([, address = '']) =>
      address.replaceAll(/&#(\d+);/g, (_, code) => String.fromCodePoint(code)),
    );
  return {
    links: all(/<a\b[^>]*href="(\/dashboard[^"#]*)/g),
    forms: all(/<form\b[^>]*method="post"[^>]*action="([^"]+)"/g),
  };
}

it.each(['viewer', 'developer', 'owner', 'operator'] as const)(
  'no page offers a link or a form that is refused to its %s, nor an action without the right',
  async (role) => {
    const console = await createTestConsole();
    close = console.close;
    const { dashboard } = console;
    const { store } = dashboard;
    const account = await console.giveAccount({ name: 'Tea shop', wallet: null });
    const member = { accountId: account.id, role: role === 'operator' ? 'viewer' : role } as const;
    const user = await dashboard.giveUser(role === 'operator' ? null : member, {
      isOperator: role === 'operator',
    });
    const browser = await (role === 'operator' ? console : dashboard).signIn(user);
    if (role === 'operator') await browser.post(`/operator/accounts/${account.id}/view`, {});
    const empty = textOf((await browser.get('/dashboard')).payload);
    expect(empty.includes('Set up your shop')).toBe(['developer', 'owner'].includes(role));
    const { ids } = await giveOneOfEach(store, account.id, user.id);
    await store.payments.decidePayment(ids.paymentId, () => ({
      change: { amountMismatch: 'overpaid', receivedUnits: 50_000_000n },
    }));
    const part = { amountMismatch: 'partially_paid', receivedUnits: 5_000_000n } as const;
    const onPage = newPayment(account.id, { ...part, origin: ids.pageId, email: 'anna@example.com' });
    const submission = {
      paymentId: onPage.id,
      pageId: ids.pageId,
      submission: 'form',
      answer: 'Green',
      heldUntilMs: 0,
    };
    await store.paymentPages.createPagePayment(onPage, submission, () => {});
    const seen = new Set(['/dashboard', '/dashboard/payments?status=paid']);
    const forms = new Set<string>();
    for (const address of seen) {
      const answer = await browser.get(address);
      expect([address, answer.statusCode]).toEqual([address, 200]);
      const offered = offersOf(answer.payload);
      for (const link of offered.links) seen.add(link);
      for (const form of offered.forms) forms.add(form);
      const isForAct = ['developer', 'owner'].includes(role);
      if (!isForAct)
        expect([address, textOf(answer.payload)]).not.toEqual([
          address,
          expect.stringMatching(/reminder|Refund the surplus|[oO]pen a refund/),
        ]);
    }
    expect(seen.size).toBeGreaterThan(role === 'operator' ? 8 : 12);
    const headers = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' };
    for (const form of role === 'operator' ? [] : forms) {
      const { payload } = await browser.post(form, {}, { headers });
      expect([form, textOf(payload)]).not.toEqual([form, expect.stringContaining('have permission')]);
    }
    if (role === 'operator') expect([...forms]).toEqual(['/operator/stop-viewing']);
  },
);

/** One of everything that a route can name, and a text that shows all of it. */
async function giveOneOfEach(store: Store, accountId: string, userId: string) {
  const payment = newPayment(accountId);
  await store.payments.createPayment(payment, null);
  await payWithDeposit(store, payment, 21_000_000n);
  const refund = await giveRefund(store, newRefund(payment));
  const { key } = await createKey({ ...store, nowMs: Date.now }, accountId, { name: 'Server' });
  const page = newPage(accountId);
  await store.paymentPages.createPage(page);
  const channel = newChannel(accountId, userId);
  await store.notifications.addChannel(channel);
  const invitation = newLink({
    accountId,
    role: 'viewer',
    createdAtMs: Date.now(),
    expiresAtMs: Date.now() + 1e8,
  });
  await store.sessions.createLink(invitation);
  const [session] = await store.sessions.listSessions(userId);
  const ids = {
    paymentId: payment.id,
    refundId: refund.id,
    keyId: key.id,
    pageId: page.id,
    channelId: channel.id,
    invitationId: invitation.id,
    userId,
    sessionId: session?.id ?? '',
  };
  const show = async () => [
    await store.payments.findPayment(accountId, payment.id),
    await store.refunds.listRefunds(payment.id),
    await store.accounts.listKeys(accountId),
    await store.paymentPages.listPages(accountId, Date.now()),
    await store.notifications.listChannels(accountId, userId),
    await store.sessions.listInvitations(accountId, Date.now()),
    await store.people.listMembers(accountId),
    await store.sessions.listSessions(userId),
  ];
  return { ids, show };
}

it('every route of the dashboard answers the ids of another account as unknown ones, and changes nothing', async () => {
  const dashboard = await createTestDashboard();
  close = dashboard.close;
  const account = await dashboard.giveAccount();
  const owner = await dashboard.giveUser({ accountId: account.id, role: 'owner' });
  const other = await dashboard.giveAccount({ name: 'Other' });
  const stranger = await dashboard.giveUser({ accountId: other.id, role: 'owner' });
  await dashboard.signIn(stranger);
  const { ids, show } = await giveOneOfEach(dashboard.store, other.id, stranger.id);
  const ownPayment = newPayment(account.id);
  await dashboard.store.payments.createPayment(ownPayment, null);
  const before = await show();

  const browser = await dashboard.signIn(owner);
  const unknown = (url: string) =>
    url.replaceAll(/:(\w+)/g, (_, name: keyof typeof ids) => `${ids[name]?.slice(0, -4)}zzzz`);
  const foreign = (url: string) => url.replaceAll(/:(\w+)/g, (_, name: keyof typeof ids) => ids[name]);
  const named = routesBelow('/dashboard', dashboard.routes).filter(
    ({ url }) => url.includes(':') && !/:(token|kind)/.test(url),
  );
  expect(named.length).toBeGreaterThan(20);
  const masked = (text: string) =>
    Object.values(ids).reduce(
      (shown, id) => shown.replaceAll(id, 'ID').replaceAll(`${id.slice(0, -4)}zzzz`, 'ID'),
      textOf(text),
    );
  for (const route of named) {
    const answers = [];
    const withOwnPayment = route.url.replace(/:paymentId(?=\/refunds\/)/, ownPayment.id);
    for (const url of [foreign(route.url), unknown(route.url), foreign(withOwnPayment)]) {
      const answer = await requestOf(browser, { ...route, url });
      answers.push([answer.statusCode, answer.headers['location'], masked(answer.payload)]);
    }
    expect([route.url, answers[0]?.[0]]).toEqual([route.url, 404]);
    expect([route.url, ...answers]).toEqual([route.url, ...Array(3).fill(answers[0])]);
  }
  expect(await show()).toEqual(before);
});

it('a form that was opened for an account is refused once another is chosen, and does nothing', async () => {
  const dashboard = await createTestDashboard();
  close = dashboard.close;
  const [first, second] = [
    await dashboard.giveAccount({ name: 'First shop' }),
    await dashboard.giveAccount({ name: 'Second shop' }),
  ];
  const owner = await dashboard.giveUser({ accountId: first.id, role: 'owner' });
  const { createdAtMs, id: userId } = owner;
  await dashboard.store.people.putMembership({ accountId: second.id, userId, role: 'owner', createdAtMs });
  const browser = await dashboard.signIn(owner);
  await browser.post('/dashboard/account', { account: first.id });
  const one = await giveOneOfEach(dashboard.store, first.id, userId);
  const other = await giveOneOfEach(dashboard.store, second.id, userId);
  const forms = new Map<string, Record<string, string>>();
  for (const route of routesBelow('/dashboard', dashboard.routes)) {
    const { method, url } = route;
    if (openToVisitors['/dashboard']?.includes(nameOf('/dashboard', route))) continue;
    if (method !== 'GET' || /csv|\*/.test(url)) continue;
    const path = url.replaceAll(/:(\w+)/g, (_, name: keyof typeof one.ids) => one.ids[name] ?? 'mail');
    const [, main = ''] = /<main[^>]*>(.*)<\/main>/s.exec((await browser.get(path)).payload) ?? [];
    for (const [, head = '', body = ''] of main.matchAll(/<form ([^>]*method="post"[^>]*)>(.*?)<\/form>/gs)) {
      const hidden = [...body.matchAll(/type="hidden" name="([^"]+)" value="([^"]*)"/g)];
      const filled = Object.fromEntries(hidden.map(([, name, value]) => [name, value]));
      forms.set(/action="([^"?]+)/.exec(head)?.[1] ?? path, { ...fields, ...filled });
    }
  }
  expect(forms.size).toBeGreaterThan(20);
  const shown = async () => [await one.show(), await other.show()];
  await browser.post('/dashboard/account', { account: second.id });
  const before = await shown();
  const accepted: unknown[] = [];
  for (const [path, filled] of forms) {
    const { statusCode, payload } = await browser.post(path, filled);
    const isRefused = textOf(payload).includes('belongs to the account “First shop”');
    if (statusCode !== 403 || !isRefused) accepted.push([path, statusCode]);
  }
  expect(accepted).toEqual([]);
  expect(await shown()).toEqual(before);
  await browser.post('/dashboard/account', { account: first.id });
  const name = forms.get('/dashboard/keys');
  const made = await browser.post('/dashboard/keys', {
    ...name,
    name: 'Till',
    read: '1',
    password: PASSWORD,
  });
  expect(made.statusCode).toBe(303);
});
