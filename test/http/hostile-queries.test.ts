import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { Account } from '../../src/accounts/account.ts';
import { newKey, newPayment } from '../store/fixtures.ts';
import type { TestBrowser } from '../support/dashboard.ts';
import { createTestConsole, type TestConsole } from '../support/operator.ts';

const PARAMETERS =
  'account before currency days forward from month next payment provider q flash search status to token'.split(
    ' ',
  );
/** Names that every object has, ends of ranges, broken encodings, and texts that a database refuses. */
const VALUES = [
  ...`__proto__ constructor toString hasOwnProperty then acc___proto__
  0000-01-01 0000-12-31 0001-01-01 1969-12-31 9999-12-31 2026-02-30 -000001-01-01
  -1 1e999 NaN 9007199254740993 999999999999999 999999999999999.acc_1.999999999999999
  00000000-0000-0000-0000-000000000000 ffffffff-ffff-7fff-bfff-ffffffffffff
  %00 a%00b % %ff %ed%a0%80 %F0%9F%92%A9 '%22%3C>%5C%25_`.split(/\s+/),
  '',
  'x'.repeat(3_000),
];

let console: TestConsole;
let account: Account;
/** A page that reads something, and who opens it. */
interface OpenedPage {
  readonly path: string;
  readonly browser: TestBrowser;
}

let pages: OpenedPage[];
let readBy: Map<OpenedPage, Set<string>>;
/** Paths with a part that is somebody's choice. */
let paths: { readonly path: (part: string) => string; readonly browser: TestBrowser }[];

beforeAll(async () => {
  console = await createTestConsole();
  account = await console.giveAccount({ timeZone: 'America/New_York' });
  const { dashboard } = console;
  const owner = await dashboard.giveUser({ accountId: account.id, role: 'owner' });
  const [merchant, stranger] = [await dashboard.signIn(owner), dashboard.newBrowser()];
  const operator = await console.signIn(await console.giveOperator());
  const outside = console.newBrowser();
  await dashboard.store.accounts.createKey(newKey(account.id), 10);
  const payment = newPayment(account.id);
  await dashboard.store.payments.createPayment(payment, null);
  const below = (area: string, paths: string, of: TestBrowser) =>
    [
      '',
      ...paths
        .trim()
        .split(/\s+/)
        .map((path) => `/${path}`),
    ].map((path) => ({ path: area + path, browser: of }));
  const inDashboard = `payments payments.csv keys people settings security audit statement journal.csv pages pages/new
    notifications webhook-check refunds connect links links/direct payments/${payment.id}`;
  const inConsole = `accounts providers providers/moonpay settlement payments webhooks audit accounts/new
    accounts/${account.id} payments/${payment.id}`;
  pages = [
    ...below('/dashboard', inDashboard, merchant),
    ...below('/dashboard', 'sign-in second-factor forgotten new-browser', stranger),
    ...below('/operator', inConsole, operator),
    ...below('/operator', 'sign-in second-factor set-up new-browser', outside),
  ];
  readBy = await parametersReadBy(pages);
  const byPart = (area: string, templates: string, browser: TestBrowser) =>
    templates.split(' ').map((template) => ({
      path: (part: string) => `${area}/${template.replace('PART', part)}`,
      browser,
    }));
  paths = [
    ...byPart('/dashboard', 'payments/PART payments/PART/evidence links/PART', merchant),
    ...byPart('/dashboard', 'invitation/PART password/PART', stranger),
    ...byPart('/operator', 'accounts/PART', operator),
    ...byPart('/operator', 'providers/PART payments/PART', operator),
  ];
});
afterAll(() => console.close());

/** Which parameters each page asks its query for, with all of them in it and with none. */
async function parametersReadBy(opened: readonly OpenedPage[]): Promise<Map<OpenedPage, Set<string>>> {
  const read = new Map<OpenedPage, Set<string>>();
  const { get } = URLSearchParams.prototype;
  const all = PARAMETERS.map((name) => `${name}=1`).join('&');
  for (const page of opened) {
    const names = new Set<string>();
    URLSearchParams.prototype.get = function (name) {
      names.add(name);
      return get.call(this, name);
    };
    try {
      for (const query of ['', `?${all}`]) await page.browser.get(`${page.path}${query}`);
    } finally {
      URLSearchParams.prototype.get = get;
    }
    read.set(page, names);
  }
  return read;
}

const readersOf = (parameter: string) => pages.filter((page) => readBy.get(page)?.has(parameter));

/**
 * The pages to try a parameter on. On SQLite these are all. On PostgreSQL they are the pages that read it: its values do not
 * reach the store from any other.
 */
const pagesFor = (parameter: string) =>
  inject('postgresTemplate') === undefined ? pages : readersOf(parameter);

/** Opens them all, in what the limit of requests takes for many minutes. */
async function failuresAmong(
  asked: readonly { readonly url: string; readonly browser: TestBrowser }[],
): Promise<string[]> {
  const failures: string[] = [];
  for (const [index, { url, browser }] of asked.entries()) {
    if (index % 100 === 0) console.dashboard.advance(60_000);
    const { statusCode } = await browser.get(url);
    if (statusCode >= 500 || statusCode === 429) failures.push(`${statusCode} ${url.slice(0, 200)}`);
  }
  return failures;
}

describe('no page of dashboard or console fails', () => {
  it.each(PARAMETERS)('at any value of its parameter %s', async (name) => {
    const asked = pagesFor(name).flatMap(({ path, browser }) =>
      VALUES.map((value) => ({ url: `${path}?${name}=${value}`, browser })),
    );
    expect(readersOf(name)).not.toEqual([]);
    expect(await failuresAmong(asked)).toEqual([]);
  });

  it('at any part of its path', async () => {
    const asked = paths.flatMap(({ path, browser }) =>
      VALUES.map((value) => ({ url: path(value), browser })),
    );
    expect(await failuresAmong(asked)).toEqual([]);
  });

  it('at a parameter that is given twice', async () => {
    const asked = PARAMETERS.flatMap((name) =>
      pagesFor(name).map(({ path, browser }) => ({
        url: `${path}?${name}=__proto__&${name}=0000-01-01`,
        browser,
      })),
    );
    expect(await failuresAmong(asked)).toEqual([]);
  });
});

it('no form of the dashboard fails at a hostile value', async () => {
  const { dashboard } = console;
  const owner = await dashboard.giveUser({ accountId: account.id, role: 'owner' });
  const browser = await dashboard.signIn(owner);
  const statuses: number[] = [];
  for (const value of VALUES) {
    const text = value.startsWith('%') || value.includes('%00') ? decode(value) : value;
    for (const [url, fields] of [
      ['/dashboard/settings', { name: text, time_zone: text, support_link: text, email_retention: text }],
      ['/dashboard/people/invite', { email: text, role: text }],
      ['/dashboard/security/remove-passkey', { passkey: text, password: text, code: text }],
      ['/dashboard/links', { amount: text, currency: text, provider: text, callback: text, wallet: text }],
    ] as const) {
      dashboard.advance(60_000);
      const answer = await browser.post(url, { ...fields });
      statuses.push(answer.statusCode);
    }
  }
  expect(statuses.filter((status) => status >= 500)).toEqual([]);
});

function decode(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}
