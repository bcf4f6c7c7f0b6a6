import { join } from 'node:path';
import { moveStore } from '../../../src/app/move-store.ts';
import { openPostgresStore } from '../../../src/app/store/postgres-store.ts';
import { openSqliteStore } from '../../../src/app/store/sqlite-store.ts';
import type { Store } from '../../../src/app/store/store.ts';
import { displayStatuses } from '../../../src/payment/display-status.ts';
import { paymentIdTimeMs } from '../../../src/payment/payment-id.ts';
import { parsePaymentSearch } from '../../../src/payment/payment-search.ts';
import { startPostgres } from '../../../test/support/postgres.ts';
import { benchAccount } from '../bench-payment.ts';
import type { Measurement, Series } from './measurement.ts';

const DAY_MS = 86_400_000;
const POSTGRES_SETTINGS = ['fsync=off', 'shared_buffers=512MB', 'max_wal_size=4GB'];

/** Dashboard queries for an account with a million payments, on both engines. */
export const lists: Measurement = {
  name: 'lists',
  title: 'Lists, searches and statistics of an account with a million payments',
  async measure({ extent, millionDataDir }) {
    const dataDir = await millionDataDir();
    const sqlite = await openSqliteStore({ file: join(dataDir, 'card-checkout.sqlite') });
    const onSqlite = await measure('SQLite', sqlite, extent.questions).finally(() => sqlite.close());
    const postgres = await startPostgres(POSTGRES_SETTINGS);
    try {
      const url = await postgres.createDatabase();
      await moveStore({ dataDir, databaseUrl: url }, { from: 'sqlite', to: 'postgres' });
      await postgres.query(url, 'ANALYZE');
      const store = await openPostgresStore({ url });
      const onPostgres = await measure('PostgreSQL', store, extent.questions).finally(() => store.close());
      return [...onSqlite, ...onPostgres];
    } finally {
      await postgres.stop();
    }
  },
};

async function measure(engine: string, store: Store, times: number): Promise<Series[]> {
  const series: Series[] = [];
  for (const [question, ask] of await questionsOf(store)) {
    const values: number[] = [];
    for (let round = 0; round < times; round++) {
      const startMs = performance.now();
      await ask();
      values.push(performance.now() - startMs);
    }
    series.push({ name: `${engine}: ${question}`, unit: 'ms', values });
  }
  return series;
}

async function questionsOf(store: Store): Promise<readonly (readonly [string, () => Promise<unknown>])[]> {
  const accountId = benchAccount().id;
  const { payments: newest } = await store.search.searchPayments({ accountId }, null, 1_000);
  const closed = { accountId, status: 'paid', beforeMs: Date.now() - 7 * DAY_MS } as const;
  const { payments: paidOnes } = await store.search.searchPayments(closed, null, 1);
  const sample = newest.at(-1);
  const email = newest.findLast((payment) => payment.email !== null)?.email;
  const words = newest.findLast((payment) => payment.note !== null)?.note?.split(' ');
  const transaction = paidOnes[0]?.txidOut;
  if (sample === undefined || !email || !words || !transaction) throw new Error('nothing to measure with');
  const list =
    (query: object, before: string | null = null) =>
    () =>
      store.search.searchPayments({ accountId, ...query }, before, 50);
  const search = (text: string) => list({ search: parsePaymentSearch(text) });
  const createdMs = paymentIdTimeMs(sample.id);
  const amount = (sample.amountCents / 100).toFixed(2);
  return [
    ['the newest 50', list({})],
    ['50 further back', list({}, sample.id)],
    ['canceled', list({ status: 'canceled' })],
    ...displayStatuses.map(
      (status) => [`the tab ${status}`, list({ display: { status, nowMs: Date.now() } })] as const,
    ),
    ['action required', list({ forwardStatus: 'manual_required' })],
    ['a currency that none has', list({ currency: 'INR' })],
    ['a provider that none has, and paid', list({ status: 'paid', provider: 'klarna' })],
    ['of one day', list({ fromMs: createdMs - DAY_MS, beforeMs: createdMs })],
    ['by payment id', search(sample.id)],
    ['by email', search(email)],
    ['by the beginning of an email address', search(email.slice(0, 4))],
    ['by an email address that none has', search(`${email}.example`)],
    ['by amount and currency', search(`${amount} ${sample.currency}`)],
    ['by amount', search(amount)],
    ['by transaction', search(transaction)],
    ['by a word of a note', search(words[0] as string)],
    ['by two words of a note', search(words.slice(0, 2).join(' '))],
    ['by words that none has', search('blue shoes')],
    [
      'statistics of 90 days',
      async () => {
        const [fromMs, beforeMs] = [createdMs - 90 * DAY_MS, createdMs + DAY_MS];
        await store.search.listSlots(accountId, fromMs, beforeMs, DAY_MS);
        await store.search.listPaidCounts(accountId, fromMs, beforeMs);
      },
    ],
  ];
}
