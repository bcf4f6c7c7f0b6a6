import { Client } from 'pg';
import { connectionOptions, noTimeout } from '../../src/store/postgres/connect.ts';
import type { Connection, Database } from '../../src/store/postgres/open-database.ts';
import { createPostgresStore } from '../../src/store/postgres/open-store.ts';
import type { Statement } from '../../src/store/postgres/statements.ts';
import type { Store } from '../../src/store/store.ts';
import { SYNTHETIC_NOW_MS } from './fill-payments.ts';

/** A node of a plan, as `EXPLAIN (FORMAT JSON)` names its fields. */
export interface PlanNode {
  readonly 'Node Type': string;
  readonly Operation?: string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Actual Rows'?: number;
  readonly 'Actual Loops'?: number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Shared Hit Blocks'?: number;
  readonly 'Shared Read Blocks'?: number;
  readonly Plans?: readonly PlanNode[];
}

/** A statement that an operation of the store sent, with how the server runs it. */
export interface ExplainedStatement {
  readonly text: string;
  /** For the values that were sent, as it was run. */
  readonly plan: PlanNode;
  /** For any values: what a connection may change to once it has prepared the statement and used it a few times. */
  readonly genericPlan: PlanNode;
  readonly executionMs: number;
}

/**
 * Runs an operation of the store twice and explains each statement it sends the second time, when its pages have been
 * read. The statements are those the store itself sends, with its own values. Everything is undone.
 */
export async function explainOperation(
  url: string,
  operation: (store: Store) => Promise<unknown>,
): Promise<ExplainedStatement[]> {
  const client = new Client({ ...connectionOptions(url), ...noTimeout });
  await client.connect();
  try {
    await runUndone(client, operation, null);
    const explained: ExplainedStatement[] = [];
    await runUndone(client, operation, explained);
    return explained;
  } finally {
    await client.end();
  }
}

async function runUndone(
  client: Client,
  operation: (store: Store) => Promise<unknown>,
  explained: ExplainedStatement[] | null,
): Promise<void> {
  await client.query('BEGIN');
  const failures: Error[] = [];
  const store = createPostgresStore(
    databaseOf(client, explained),
    () => SYNTHETIC_NOW_MS,
    (error) => failures.push(error),
  );
  await operation(store);
  await store.close();
  await client.query('ROLLBACK');
  if (failures.length > 0) throw failures[0];
}

/** One transaction on one connection, whose statements come one after the other whoever sends them. */
function databaseOf(client: Client, explained: ExplainedStatement[] | null): Database {
  let last: Promise<unknown> = Promise.resolve();

  async function run(statement: Statement, values: readonly unknown[]) {
    const parameters = values as unknown[];
    if (explained !== null) await explain(client, statement.text, parameters, explained);
    return client.query({ ...statement, values: parameters });
  }
  function inTurn(statement: Statement, values: readonly unknown[] = []) {
    const turn = last.then(() => run(statement, values));
    last = turn.catch(() => {});
    return turn;
  }

  const connection: Connection = {
    query: async <Row>(statement: Statement, values?: readonly unknown[]) =>
      (await inTurn(statement, values)).rows as Row[],
    execute: async (statement, values) => (await inTurn(statement, values)).rowCount ?? 0,
  };
  return {
    ...connection,
    repeating: connection,
    transaction: (work) => work(connection),
    close: async () => void (await last),
  };
}

/** Explains a statement the first time it is sent, if it is one that has a plan. */
async function explain(
  client: Client,
  text: string,
  values: unknown[],
  explained: ExplainedStatement[],
): Promise<void> {
  if (!/^\s*(SELECT|INSERT|UPDATE|DELETE|WITH)\b/.test(text)) return;
  if (explained.some((earlier) => earlier.text === text)) return;
  await client.query('SAVEPOINT unexplained');
  const { plan, executionMs } = await planOf(client, 'ANALYZE, BUFFERS', text, values);
  await client.query('ROLLBACK TO unexplained');
  const generic = await planOf(client, 'GENERIC_PLAN', text, []);
  explained.push({ text, plan, executionMs, genericPlan: generic.plan });
}

async function planOf(
  client: Client,
  options: string,
  text: string,
  values: unknown[],
): Promise<{ plan: PlanNode; executionMs: number }> {
  const { rows } = await client.query({ text: `EXPLAIN (${options}, FORMAT JSON) ${text}`, values });
  const [answer] = rows[0]['QUERY PLAN'];
  return { plan: answer.Plan, executionMs: answer['Execution Time'] ?? 0 };
}

/** A plan's nodes, from the top. */
export function nodesOf(node: PlanNode): PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(nodesOf)];
}

/** Pages of tables and indexes that were touched, of eight kilobytes each. */
export function pagesOf({ plan }: ExplainedStatement): number {
  return (plan['Shared Hit Blocks'] ?? 0) + (plan['Shared Read Blocks'] ?? 0);
}
