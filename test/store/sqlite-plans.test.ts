import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { growingTables } from '../../scripts/plans/fill-payments.ts';
import { openSqliteStore } from '../../src/store/sqlite/open-store.ts';

/** What may begin to walk along a table, because it stops after a few rows. */
const shortWalks = [/IN \(SELECT row FROM idempotency_records ORDER BY row LIMIT \d\)/];

const folder = mkdtempSync(join(tmpdir(), 'card-checkout-plans-'));
const file = join(folder, 'checkout.sqlite');
const prepare = vi.spyOn(DatabaseSync.prototype, 'prepare');
await (await openSqliteStore({ file })).close();
const statements = [...new Set(prepare.mock.calls.map(([sql]) => sql))].filter((sql) =>
  /^\s*(SELECT|INSERT|UPDATE|DELETE|WITH)\b/.test(sql),
);
prepare.mockRestore();

const database = new DatabaseSync(file);
afterAll(() => {
  database.close();
  rmSync(folder, { recursive: true });
});

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

  it('would be caught walking along a table, or along an index that holds every row', () => {
    expect(scansOf('SELECT 1 FROM payments WHERE deposit_address = ?')).toHaveLength(1);
    expect(scansOf('SELECT DISTINCT payment_id FROM deposits WHERE block_number > ?')).toHaveLength(1);
    expect(scansOf('SELECT id FROM webhooks ORDER BY id')).toHaveLength(1);
    expect(scansOf("SELECT id FROM webhooks WHERE status = 'pending' ORDER BY created_at_ms")).toEqual([]);
    expect(shortWalks.map((walk) => statements.filter((sql) => walk.test(sql)).length)).toEqual([1]);
  });
});
