/**
 * Fills a store of each engine with payments and asks of it what the dashboard asks: lists, searches, statistics. Fails
 * when one of them takes more than 100 ms at the median, or the ten counts of the tabs together more than 300 ms.
 *
 *   node scripts/measure-lists.ts                      a million payments: half an hour, 3 GB below test-output
 *   node scripts/measure-lists.ts --payments 50000     fewer
 */
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { fillStore } from '../bench/fill-store.ts';
import { indexStore } from '../bench/index-store.ts';
import { displayStatuses } from '../src/domain/display-status.ts';
import type { Payment, PaymentId } from '../src/domain/payment.ts';
import { paymentIdTimeMs } from '../src/domain/payment-id.ts';
import { parsePaymentSearch } from '../src/domain/payment-search.ts';
import type { PaymentPage } from '../src/domain/ports/payment-search-store.ts';
import { migrate, migrations } from '../src/store/postgres/migrations.ts';
import { openPostgresStore } from '../src/store/postgres/open-store.ts';
import { openSqliteStore } from '../src/store/sqlite/open-store.ts';
import type { Store } from '../src/store/store.ts';
import { startPostgres } from '../test/support/postgres.ts';
import { table } from './markdown.ts';
import { fillPayments } from './plans/fill-payments.ts';

const ROUNDS = 21;
const GOAL_MS = 100;
const TABS = 'all tabs with their counts';
const GOAL_OF_TABS_MS = 300;
const DAY_MS = 86_400_000;

const { values } = parseArgs({
  options: {
    payments: { type: 'string', default: '1000000' },
    engine: { type: 'string', default: 'both' },
  },
});
const payments = Number(values.payments);
const root = join(import.meta.dirname, '../test-output');
await mkdir(root, { recursive: true });
const folder = await mkdtemp(join(root, 'lists-'));
const measured = new Map<string, Record<string, number>>();
try {
  if (values.engine !== 'postgres') await measureSqlite();
  if (values.engine !== 'sqlite') await measurePostgres();
} finally {
  await rm(folder, { recursive: true });
}
console.log(
  table(
    ['asked', 'SQLite, median ms', 'PostgreSQL, median ms'],
    [...measured].map(([name, { SQLite, PostgreSQL }]) => [
      name,
      SQLite?.toFixed(1) ?? '–',
      PostgreSQL?.toFixed(1) ?? '–',
    ]),
  ),
);
const slow = [...measured].filter(([name, { SQLite = 0, PostgreSQL = 0 }]) => {
  return Math.max(SQLite, PostgreSQL) > (name === TABS ? GOAL_OF_TABS_MS : GOAL_MS);
});
if (slow.length > 0) throw new Error(`too slow: ${slow.map(([name]) => name).join('; ')}`);

async function measureSqlite(): Promise<void> {
  await fillStore(folder, payments, Math.floor(payments / 200));
  const store = await openSqliteStore({ file: join(folder, 'card-checkout.sqlite') });
  try {
    await measure('SQLite', store);
  } finally {
    await store.close();
  }
}

async function measurePostgres(): Promise<void> {
  const postgres = await startPostgres(['fsync=off', 'shared_buffers=1GB', 'max_wal_size=4GB'], root);
  try {
    const url = await postgres.createDatabase();
    await migrate(url, migrations, Date.now);
    await fillPayments(url, payments);
    const store = await openPostgresStore({ url });
    try {
      await measure('PostgreSQL', store);
    } finally {
      await store.close();
    }
  } finally {
    await postgres.stop();
  }
}

async function measure(engine: string, store: Store): Promise<void> {
  const startMs = performance.now();
  await indexStore(store, payments);
  const seconds = (performance.now() - startMs) / 1000;
  console.log(`${engine}: ${payments} payments indexed in ${seconds.toFixed(0)} s`);
  for (const [name, ask] of await questionsOf(store)) {
    const times: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const askedMs = performance.now();
      await ask();
      times.push(performance.now() - askedMs);
    }
    const median = times.sort((one, other) => one - other)[Math.floor(ROUNDS / 2)] as number;
    measured.set(name, { ...measured.get(name), [engine]: median });
  }
}

/** What the dashboard asks for the account that has the most payments. */
async function questionsOf(store: Store): Promise<readonly (readonly [string, () => Promise<unknown>])[]> {
  const [newest] = await store.payments.listPayments({}, null, 1);
  const accounts = await store.accounts.listAccounts();
  const accountId = (accounts[0]?.id ?? newest?.accountId) as string;
  const { payments: some } = await store.search.searchPayments({ accountId }, null, 5_000);
  const sample = some.at(-1);
  const email = some.findLast((payment) => payment.email !== null)?.email;
  const transaction = (await firstPaid(store, accountId)).txidOut;
  if (sample === undefined || !email || !transaction) throw new Error('nothing to measure with');
  const nowMs = paymentIdTimeMs(sample.id);
  const list =
    (query: object, before: string | null = null) =>
    () =>
      store.search.searchPayments({ accountId, ...query }, before, 50);
  const search = (text: string) => list({ search: parsePaymentSearch(text) });
  return [
    ['the newest 50', list({})],
    ['50 further back', list({}, sample.id)],
    ['paid', list({ status: 'paid' })],
    ['canceled', list({ status: 'canceled' })],
    ...displayStatuses.map(
      (status) => [`the tab ${status}`, list({ display: { status, nowMs: Date.now() } })] as const,
    ),
    [
      TABS,
      () =>
        Promise.all(
          [undefined, ...displayStatuses].map((status) => {
            const display = status === undefined ? {} : { display: { status, nowMs: Date.now() } };
            return store.search.searchPayments({ accountId, ...display }, null, 99);
          }),
        ),
    ],
    ['action required (there are none)', list({ forwardStatus: 'manual_required' })],
    ['a currency that none has', list({ currency: 'INR' })],
    ['a provider that none has, and paid', list({ status: 'paid', provider: 'klarna' })],
    ['of one day', list({ fromMs: nowMs - DAY_MS, beforeMs: nowMs })],
    ['by payment id', search(sample.id)],
    ['by email', search(email)],
    ['by the beginning of an email address', search(email.slice(0, 4))],
    ['by a word that none has and thousands begin like', search(`${email.slice(0, 5)}0`)],
    ['by an email address that none has', search(`${email}.example`)],
    ['by amount and currency', search(`${(sample.amountCents / 100).toFixed(2)} ${sample.currency}`)],
    ['by amount', search((sample.amountCents / 100).toFixed(2))],
    ['by amount with a decimal comma', search((sample.amountCents / 100).toFixed(2).replace('.', ','))],
    ['by transaction', search(transaction)],
    ['by words that none has', search('blue shoes')],
    [
      'statistics of 90 days',
      async () => {
        const [fromMs, beforeMs] = [nowMs - 90 * DAY_MS, nowMs + DAY_MS];
        await store.search.listSlots(accountId, fromMs, beforeMs, DAY_MS);
        await store.search.listPaidCounts(accountId, fromMs, beforeMs);
      },
    ],
  ];
}

/** The newest paid one: those that are open lie before it, and a page looks only so far. */
async function firstPaid(store: Store, accountId: string): Promise<Payment> {
  let before: PaymentId | null = null;
  do {
    const page: PaymentPage = await store.search.searchPayments({ accountId, status: 'paid' }, before, 1);
    if (page.payments[0] !== undefined) return page.payments[0];
    before = page.next;
  } while (before !== null);
  throw new Error('no payment is paid');
}
