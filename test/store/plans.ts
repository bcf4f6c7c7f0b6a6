import { DatabaseSync } from 'node:sqlite';
import { Client } from 'pg';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { migrations } from '../../src/app/migrations.ts';
import { migrate as migratePostgres } from '../../src/store/postgres/migrations.ts';
import { migrate as migrateSqlite } from '../../src/store/sqlite/migrations.ts';
import type { PostgresServer } from '../support/postgres.ts';

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

const isPlanned = (sql: string) => /^\s*(SELECT|INSERT|UPDATE|DELETE|WITH)\b/.test(sql);

/** Keeps the text of every statement that stores send to their engines from now on. */
export function recordStatements() {
  const recorded = { sqlite: new Set<string>(), postgres: new Set<string>() };
  const { prepare } = DatabaseSync.prototype;
  vi.spyOn(DatabaseSync.prototype, 'prepare').mockImplementation(function (this: DatabaseSync, sql) {
    recorded.sqlite.add(sql);
    return prepare.call(this, sql);
  });
  const { query } = Client.prototype;
  vi.spyOn(Client.prototype, 'query').mockImplementation(function (this: Client, ...given: unknown[]) {
    const [asked] = given as [{ readonly name?: string; readonly text: string }];
    // What tests ask themselves has no name.
    if (asked.name !== undefined) recorded.postgres.add(asked.text);
    return Reflect.apply(query, this, given);
  } as never);
  return recorded;
}

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

/** How the engines carry out what was recorded, however many payments are stored. It runs after what is recorded. */
export function describePlans(recorded: ReturnType<typeof recordStatements>, server: PostgresServer): void {
  const database = new DatabaseSync(':memory:');
  migrateSqlite(database, ':memory:', migrations.SQLite, Date.now);
  /** Indexes that hold only what is under way, however many rows their table has. */
  const partialIndexes = database
    .prepare("SELECT name FROM sqlite_schema WHERE type = 'index' AND sql LIKE '% WHERE %'")
    .all()
    .map(({ name }) => String(name));
  const grows = (table: string, index: string) =>
    growingTables.includes(table) && !partialIndexes.includes(index);
  let client: Client;

  beforeAll(async () => {
    const url = await server.createDatabase();
    await migratePostgres(url, migrations.PostgreSQL, Date.now);
    client = new Client({ connectionString: url });
    await client.connect();
    // With so few rows it would read whole tables. Told to avoid that, it does so only where no index fits.
    await client.query('SET enable_seqscan = off');
  });
  afterAll(() => client.end());

  /** The growing tables that SQLite walks along as a whole. It plans without statistics, as for any number of rows. */
  function walkedBySqlite(sql: string): string[] {
    const steps = database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all();
    return steps.flatMap(({ detail }) => {
      const found = /^SCAN (\w+)(?: USING (?:COVERING )?INDEX (\w+))?/.exec(String(detail));
      const [, table = '', index = ''] = found ?? [];
      return grows(table, index) ? [table] : [];
    });
  }

  /** The growing tables that PostgreSQL reads as a whole, or along an index that holds every row. */
  async function readByPostgres(sql: string): Promise<string[]> {
    const { rows } = await client.query(`EXPLAIN (GENERIC_PLAN, FORMAT JSON) ${sql}`);
    return nodesOf(rows[0]['QUERY PLAN'][0].Plan).flatMap((node) => {
      const { 'Relation Name': table = '', 'Index Name': index = '', 'Index Cond': condition } = node;
      const isWhole = node['Node Type'] === 'Seq Scan' || (condition === undefined && index !== '');
      return isWhole && grows(table, index) ? [table] : [];
    });
  }

  const engines = [
    ['sqlite', async (sql: string) => walkedBySqlite(sql)],
    ['postgres', readByPostgres],
  ] as const;

  it.each(engines)(
    '%s reads no growing table as a whole for any statement',
    async (engine, wholeTablesOf) => {
      const statements = [...recorded[engine]].filter(isPlanned);
      expect(statements.length).toBeGreaterThan(200);
      for (const table of growingTables) expect(statements.some((sql) => sql.includes(table))).toBe(true);
      const found: unknown[] = [];
      for (const sql of statements) {
        const whole = await wholeTablesOf(sql);
        if (whole.length > 0) found.push([whole, sql]);
      }
      expect(found).toEqual([]);
    },
  );

  it('SQLite makes no table of its own for a row that is inserted into payments', () => {
    const tablesMadeBy = (sql: string) =>
      database
        .prepare(`EXPLAIN ${sql}`)
        .all()
        .filter(({ opcode }) => opcode === 'OpenEphemeral').length;
    const inserts = [...recorded.sqlite].filter((sql) => sql.startsWith('INSERT INTO payments '));
    expect(inserts.length).toBeGreaterThan(0);
    expect(inserts.map(tablesMadeBy)).toEqual(inserts.map(() => 0));
    // As for a partial index whose condition is a list of more than two.
    expect(tablesMadeBy("SELECT 1 FROM payments WHERE id > ? AND status IN ('a', 'b', 'c')")).toBe(1);
  });
}
