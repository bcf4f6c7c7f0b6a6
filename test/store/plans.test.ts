import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import fc from 'fast-check';
import { Client } from 'pg';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { refusedStatuses } from '../../src/payment/payment.ts';
import { parsePaymentSearch } from '../../src/payment/payment-search.ts';
import type { BlockReference } from '../../src/settlement/settlement-store.ts';
import { migrate, migrations } from '../../src/store/postgres/migrations.ts';
import { openPostgresStore } from '../../src/store/postgres/open-store.ts';
import { openSqliteStore } from '../../src/store/sqlite/open-store.ts';
import type { Store } from '../../src/store/store.ts';
import { startPostgres } from '../support/postgres.ts';
import { fill, readEverything, specification } from './filled-store.ts';
import { ADDRESS, leave, newPayment } from './fixtures.ts';

/** The tables that grow with the payments. */
const growingTables: readonly string[] = [
  'payments',
  'idempotency_records',
  'provider_sessions',
  'deposits',
  'releases',
  'webhooks',
  'relay_batches',
  'relay_batch_payments',
  'relay_attempts',
  'state_changes',
  'events',
  'refunds',
  'page_payments',
  'account_records',
];

/** Statements that have a plan. */
const isPlanned = (sql: string) => /^\s*(SELECT|INSERT|UPDATE|DELETE|WITH)\b/.test(sql);

const folder = mkdtempSync(join(tmpdir(), 'card-checkout-plans-'));
const file = join(folder, 'checkout.sqlite');
const prepare = vi.spyOn(DatabaseSync.prototype, 'prepare');
const opened = await openSqliteStore({ file });
await askEverything(opened);
await askAsTheDashboard(opened);
await opened.close();
const statements = [...new Set(prepare.mock.calls.map(([sql]) => sql))].filter(isPlanned);
prepare.mockRestore();

const database = new DatabaseSync(file);
afterAll(() => {
  database.close();
  rmSync(folder, { recursive: true });
});

/** What fills a store, reads it, watches the chain, and sends webhooks, mail and events. Each is prepared when it is first asked. */
async function askEverything(store: Store): Promise<void> {
  const [given] = fc.sample(
    specification.filter(({ payments, claimed, finished }) => payments.length > 4 && claimed * finished > 0),
    { numRuns: 1, seed: 1 },
  );
  const usedKeys = await fill(store, given as NonNullable<typeof given>);
  await readEverything(store, usedKeys);
  const payment = newPayment('account');
  const reference = { accountId: payment.accountId, id: payment.id };
  const position = { paymentId: payment.id, transactionHash: '0x1' };
  const at = { ...position, blockNumber: 1, logIndex: 1 };
  const release = { ...at, toMerchantUnits: 1n, feeUnits: 1n };
  const rescues = [{ ...at, token: ADDRESS, units: 1n } as const];
  const found = { deposits: [{ ...at, units: 1n }], releases: [release], rescues };
  await store.observations.listMissing(found);
  const from = (await store.observations.readCursor()) as BlockReference;
  await store.observations.listVanished({ from, final: from, scannedTo: from.number, ...found });
  await store.observations.recordMissed({ from, deposits: [], releases: [], rescues }, leave);
  await expect(store.observations.recordMissed({ from, ...found }, leave)).rejects.toThrow(/foreign key/i);
  await store.observations.rewindTo({ ...from, number: from.number - 1 }, leave);
  await store.observations.listEntries(0, 10);
  await store.observations.listEntriesOf(payment.id);
  await store.payments.recordSessionProgress(reference.id, 'session', 'paying', 1);
  await store.webhooks.listWaitingWebhooks(10, ['host']);
  await store.webhooks.abandonStaleWebhooks(0);
  await store.accounts.searchAccounts({ search: 'text', before: null }, 10);
  await store.accounts.recordKeyUses(['hash'], 1);
  await store.accounts.revokeKey('key', 1);
  await store.alerts.recordAlerts(0, 1);
  await store.alerts.recordAlerts(0, 2);
  await store.alerts.claimAlerts(1, 10, 1);
  await store.receipts.claimReceipts(0, 10, 1);
  await store.receipts.recordReceipt(reference.id, 'sent', 1);
  await store.emails.eraseEmail(reference);
  await store.emails.eraseEmailsBefore('account', 1, 10);
  await store.events.numberEvents(10);
  await store.events.listEvents('account', 0, 10);
  await store.events.deleteEvents(0, 10);
}

/** What the dashboard asks. */
async function askAsTheDashboard({ search, events, records, reusablePages }: Store): Promise<void> {
  await search.indexPayments(10);
  await search.foldStatistics(10);
  const texts = ['two words', '12.30', `0x${'ab'.repeat(32)}`, '01a1f640-bc00-70e9-afff-944244d0c452', ''];
  for (const text of texts) {
    for (const filter of [{}, { status: 'paid', currency: 'EUR' }, { forwardStatus: 'failed' }] as const) {
      const asked = parsePaymentSearch(text);
      const query = { accountId: 'account', ...filter, ...(asked === null ? {} : { search: asked }) };
      await search.searchPayments(query, null, 10);
      await search.searchPayments({ ...query, paid: { fromMs: 0, beforeMs: 1 } }, null, 10);
    }
  }
  for (const accountId of [null, 'account']) {
    await search.listUnsettled(accountId, refusedStatuses, 10);
    await search.listFailingWebhooks(accountId, 10);
  }
  await events.listEvents('account', 0, 10);
  await events.deleteEvents(1, 10);
  await search.listSlots('account', 0, 1, 1);
  await search.listPaidCounts('account', 0, 1);
  await search.listStateChanges('id');
  await search.listHistories('id', 500);
  await search.listFinalSums(['id']);
  await search.listLastSessions('account', ['id']);
  await search.editNote({ accountId: 'account', id: 'id' }, 'note');
  await records.addRecords([{ accountId: 'account', kind: 'opened', name: 'id', texts: [], atMs: 1 }]);
  await records.listRecords('account', 'opened', ['id']);
  await reusablePages.findPageBySlug('slug', 1);
  await reusablePages.findSubmission({ pageId: 'page', submission: 'form' });
  await reusablePages.listPages('account', 1);
  await reusablePages.listPagesOf('account', ['id']);
}

/** Indexes that hold only what is under way, however many rows their table has. */
const partialIndexes = database
  .prepare("SELECT name FROM sqlite_schema WHERE type = 'index' AND sql LIKE '% WHERE %'")
  .all()
  .map(({ name }) => String(name));

/** The steps of a statement's plan that walk along a table or whole index that grows with the payments. */
function scansOf(sql: string): string[] {
  const steps = database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all();
  return steps
    .map(({ detail }) => String(detail))
    .filter((detail) => {
      const [, table = '', index = ''] =
        /^SCAN (\w+)(?: USING (?:COVERING )?INDEX (\w+))?/.exec(detail) ?? [];
      return growingTables.includes(table) && !partialIndexes.includes(index);
    });
}

/** How many tables of its own a statement fills each time it runs. */
function tablesMadeBy(sql: string): number {
  const steps = database.prepare(`EXPLAIN ${sql}`).all();
  return steps.filter(({ opcode }) => opcode === 'OpenEphemeral').length;
}

/** SQLite plans without statistics, which nobody gathers here: the plan is the same however many rows there are. */
describe('however many payments are stored, SQLite', () => {
  it('is asked of every growing table', () => {
    expect(statements.length).toBeGreaterThan(150);
    for (const table of growingTables) expect(statements.some((sql) => sql.includes(table))).toBe(true);
  });

  it.each(statements)('walks along no growing table for %s', (sql) => {
    expect(scansOf(sql)).toEqual([]);
  });

  it('makes no table of its own for a row that is inserted into payments', () => {
    const inserts = statements.filter((sql) => sql.startsWith('INSERT INTO payments '));
    expect(inserts).toHaveLength(1);
    expect(tablesMadeBy(inserts[0] ?? '')).toBe(0);
    // As for a partial index whose condition is a list of more than two.
    expect(tablesMadeBy("SELECT 1 FROM payments WHERE id > ? AND status IN ('a', 'b', 'c')")).toBe(1);
  });

  it('would be caught walking along a table, or along an index that holds every row', () => {
    expect(scansOf('SELECT 1 FROM payments WHERE payout_address = ?')).toHaveLength(1);
    expect(scansOf('SELECT DISTINCT payment_id FROM webhooks WHERE finished_at_ms > ?')).toHaveLength(1);
    expect(scansOf('SELECT id FROM webhooks ORDER BY id')).toHaveLength(1);
    expect(scansOf("SELECT id FROM webhooks WHERE status = 'pending' ORDER BY created_at_ms")).toEqual([]);
  });
});

/** A step of a plan, as `EXPLAIN (FORMAT JSON)` names its fields. */
interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Index Cond'?: string;
  readonly Plans?: readonly PlanNode[];
}

function nodesOf(node: PlanNode): PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(nodesOf)];
}

/**
 * PostgreSQL with so few rows would read whole tables. Told to avoid that, it does so only where no index fits: then a
 * large table is read as a whole, too.
 */
describe('however many payments are stored, PostgreSQL', async () => {
  const postgres = await startPostgres();
  const url = await postgres.createDatabase();
  await migrate(url, migrations, Date.now);
  const query = vi.spyOn(Client.prototype, 'query');
  const store = await openPostgresStore({ url });
  await askEverything(store);
  await askAsTheDashboard(store);
  await store.close();
  const sent = query.mock.calls.map(([given]) =>
    typeof given === 'string' ? given : (given as { text: string }).text,
  );
  query.mockRestore();
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query('SET enable_seqscan = off');
  afterAll(async () => {
    await client.end();
    await postgres.stop();
  });

  /** The growing tables that a statement reads as a whole, or along an index that holds every row. */
  async function tablesReadBy(sql: string): Promise<string[]> {
    const { rows } = await client.query(`EXPLAIN (GENERIC_PLAN, FORMAT JSON) ${sql}`);
    return nodesOf(rows[0]['QUERY PLAN'][0].Plan).flatMap((node) => {
      const { 'Relation Name': table = '', 'Index Name': index = '', 'Index Cond': condition } = node;
      const isWhole = node['Node Type'] === 'Seq Scan' || (condition === undefined && index !== '');
      return isWhole && growingTables.includes(table) && !partialIndexes.includes(index) ? [table] : [];
    });
  }

  it.each([...new Set(sent)].filter(isPlanned))('reads no growing table as a whole for %s', async (sql) => {
    expect(await tablesReadBy(sql)).toEqual([]);
  });

  it('would be caught reading a table, or along an index that holds every row', async () => {
    expect(await tablesReadBy('SELECT 1 FROM payments WHERE note = $1')).toEqual(['payments']);
    expect(await tablesReadBy('SELECT transaction_hash FROM deposits ORDER BY transaction_hash')).toEqual([
      'deposits',
    ]);
    expect(await tablesReadBy('SELECT 1 FROM payments WHERE id = $1')).toEqual([]);
  });
});
