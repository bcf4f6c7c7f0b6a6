import { DatabaseSync } from 'node:sqlite';
import { createRequests, hasNote } from './load/requests.ts';
import { type CreatedPayment, send } from './prepare-requests.ts';
import type { ServerProcess } from './server-process.ts';
import type { RecordedCreate, Statement, Value } from './servers/recorded-creates.ts';

/** Enough for each API key to send each kind of create. */
const RECORDED = 96;

/**
 * Sends creates to a service, each twice, and records what it writes for each: the rows, where it writes to SQLite, else
 * the statements. The ceilings write the same.
 */
export async function recordCreates(service: ServerProcess): Promise<readonly RecordedCreate[]> {
  const recorder =
    service.databaseFile === null ? recordStatements(service) : recordRows(service.databaseFile);
  const recorded: RecordedCreate[] = [];
  for (const [index, request] of createRequests(service.apiKeys).slice(0, RECORDED).entries()) {
    const sendOnce = async () => {
      await recorder.take();
      const { payment_id } = (await send(service, request)) as CreatedPayment;
      return { id: payment_id, statements: await recorder.take() };
    };
    const [first, second] = [await sendOnce(), await sendOnce()];
    recorded.push({
      hasNote: hasNote(index),
      hasKey: request.idempotencyKey !== '',
      paymentIds: [first.id, second.id],
      sent: [first.statements, second.statements],
    });
  }
  await recorder.stop();
  return recorded;
}

interface Recorder {
  /** Writes since the last call. */
  take(): Promise<readonly Statement[]>;
  stop(): Promise<void>;
}

function recordStatements(service: ServerProcess): Recorder {
  return { take: () => service.takeStatements(), stop: async () => {} };
}

/** Triggers in the service's database record each inserted row, without its row number. */
function recordRows(file: string): Recorder {
  const database = new DatabaseSync(file, { timeout: 2_000 });
  const tables = database
    .prepare(
      `SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite_%'`,
    )
    .all()
    .map(({ name }) => String(name));
  database.exec('CREATE TABLE bench_rows (number INTEGER PRIMARY KEY, sql TEXT, row TEXT)');
  for (const table of tables) {
    const columns = database
      .prepare(
        'SELECT name, type, pk, (SELECT count(*) FROM pragma_table_info($1) WHERE pk > 0) AS keys FROM pragma_table_info($1)',
      )
      .all({ $1: table })
      .filter(({ type, pk, keys }) => !(pk === 1 && keys === 1 && String(type).toLowerCase() === 'integer'))
      .map(({ name }) => String(name));
    const values = columns.map((name) => {
      const type = `typeof(NEW.${name})`;
      return `json_array(${type}, CASE ${type} WHEN 'blob' THEN hex(NEW.${name}) ELSE NEW.${name} END)`;
    });
    const sql = `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`;
    database.exec(`CREATE TRIGGER bench_${table} AFTER INSERT ON ${table} BEGIN
      INSERT INTO bench_rows (sql, row) VALUES ('${sql}', json_array(${values.join(', ')})); END`);
  }
  const select = database.prepare('SELECT sql, row FROM bench_rows ORDER BY number');
  return {
    async take() {
      const rows = select.all();
      database.exec('DELETE FROM bench_rows');
      return rows.map(({ sql, row }) => ({ sql: String(sql), values: valuesOf(String(row)) }));
    },
    async stop() {
      for (const table of tables) database.exec(`DROP TRIGGER bench_${table}`);
      database.exec('DROP TABLE bench_rows');
      database.close();
    },
  };
}

function valuesOf(row: string): Value[] {
  return (JSON.parse(row) as [string, Value][]).map(([type, value]) =>
    type === 'blob' ? Buffer.from(String(value), 'hex') : value,
  );
}
