import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { growingTables } from '../../scripts/plans/fill-payments.ts';
import { parsePaymentSearch } from '../../src/domain/payment-search.ts';
import { refusedStatuses } from '../../src/domain/payment-states.ts';
import { openSqliteStore } from '../../src/store/sqlite/open-store.ts';
import type { Store } from '../../src/store/store.ts';

/** What may begin to walk along a table, because it stops after a few rows. */
const shortWalks = [/IN \(SELECT row FROM idempotency_records ORDER BY row LIMIT \d\)/];

const folder = mkdtempSync(join(tmpdir(), 'card-checkout-plans-'));
const file = join(folder, 'checkout.sqlite');
const prepare = vi.spyOn(DatabaseSync.prototype, 'prepare');
const opened = await openSqliteStore({ file });
await askAsTheDashboard(opened);
await opened.close();
const statements = [...new Set(prepare.mock.calls.map(([sql]) => sql))].filter((sql) =>
  /^\s*(SELECT|INSERT|UPDATE|DELETE|WITH)\b/.test(sql),
);
prepare.mockRestore();

const database = new DatabaseSync(file);
afterAll(() => {
  database.close();
  rmSync(folder, { recursive: true });
});

/** What is prepared only when it is first asked. */
async function askAsTheDashboard({ search, events }: Store): Promise<void> {
  await search.indexPayments(0, 10);
  await search.countPaid(10);
  const texts = ['two words', '12.30', `0x${'ab'.repeat(32)}`, '01a1f640-bc00-70e9-afff-944244d0c452', ''];
  for (const text of texts) {
    for (const filter of [{}, { status: 'paid', currency: 'EUR' }, { forwardStatus: 'failed' }] as const) {
      const asked = parsePaymentSearch(text);
      const query = { accountId: 'account', ...filter, ...(asked === null ? {} : { search: asked }) };
      await search.searchPayments(query, null, 10);
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
  await search.listStateChanges({ accountId: 'account', id: 'id' });
  await search.listFinalSums(['id']);
  await search.listSessionProviders('account', ['id']);
  await search.editNote({ accountId: 'account', id: 'id' }, 'note');
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
  it('prepares all its statements when it is opened', () => {
    expect(statements.length).toBeGreaterThan(50);
    for (const table of growingTables) expect(statements.some((sql) => sql.includes(table))).toBe(true);
  });

  it.each(statements.filter((sql) => !shortWalks.some((walk) => walk.test(sql))))(
    'walks along no growing table for %s',
    (sql) => {
      expect(scansOf(sql)).toEqual([]);
    },
  );

  it('makes no table of its own for a row that is inserted into payments', () => {
    const inserts = statements.filter((sql) => sql.startsWith('INSERT INTO payments '));
    expect(inserts).toHaveLength(1);
    expect(tablesMadeBy(inserts[0] ?? '')).toBe(0);
    // As for a partial index whose condition is a list of more than two.
    expect(tablesMadeBy("SELECT 1 FROM payments WHERE id > ? AND status IN ('a', 'b', 'c')")).toBe(1);
  });

  it('would be caught walking along a table, or along an index that holds every row', () => {
    expect(scansOf('SELECT 1 FROM payments WHERE deposit_address = ?')).toHaveLength(1);
    expect(scansOf('SELECT DISTINCT payment_id FROM deposits WHERE block_number > ?')).toHaveLength(1);
    expect(scansOf('SELECT id FROM webhooks ORDER BY id')).toHaveLength(1);
    expect(scansOf("SELECT id FROM webhooks WHERE status = 'pending' ORDER BY created_at_ms")).toEqual([]);
    expect(shortWalks.map((walk) => statements.filter((sql) => walk.test(sql)).length)).toEqual([1]);
  });
});
