import { Client } from 'pg';
import { type ExplainedStatement, explainOperation } from './explain-operation.ts';
import { growingTables } from './fill-payments.ts';
import { type HotOperation, hotOperations } from './operations.ts';
import { planFaults } from './plan-faults.ts';
import { readSample } from './synthetic-sample.ts';

/** A hot operation with its statements as the server runs them. */
export interface MeasuredOperation {
  readonly operation: HotOperation;
  readonly statements: readonly ExplainedStatement[];
  /** What would become slower with every payment; empty when nothing would. */
  readonly faults: readonly string[];
}

/** Explains all hot operations on a filled database. */
export async function measurePlans(url: string, payments: number): Promise<MeasuredOperation[]> {
  const sample = await readSample(url, payments);
  const measured: MeasuredOperation[] = [];
  for (const operation of hotOperations) {
    const statements = await explainOperation(url, (store) => operation.run(store, sample));
    const faults = statements.flatMap((statement) =>
      planFaults(statement).map((fault) => `${operation.name}: ${fault}\n${statement.text}`),
    );
    measured.push({ operation, statements, faults });
  }
  return measured;
}

/** How much room a table takes. */
export interface TableSize {
  readonly table: string;
  readonly rows: number;
  /** Of the table itself, with what is stored out of line. */
  readonly bytes: number;
  readonly indexes: readonly { readonly index: string; readonly bytes: number }[];
}

/** The tables that grow with the payments, and what each index of theirs takes. */
export async function measureSizes(url: string): Promise<TableSize[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query<TableSize>(
      `SELECT relname AS table, reltuples::double precision AS rows, pg_table_size(oid)::double precision AS bytes,
         (SELECT json_agg(json_build_object('index', indexrelid::regclass, 'bytes', pg_relation_size(indexrelid))
            ORDER BY pg_relation_size(indexrelid) DESC)
          FROM pg_index WHERE indrelid = pg_class.oid) AS indexes
       FROM pg_class WHERE relkind = 'r' AND relname = ANY($1) ORDER BY pg_total_relation_size(oid) DESC`,
      [growingTables],
    );
    return rows;
  } finally {
    await client.end();
  }
}
