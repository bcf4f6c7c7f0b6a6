/**
 * Fills a PostgreSQL of its own with synthetic payments and explains every statement that the store sends per request
 * or in a loop. Fails when one of them reads a table that grows with the payments.
 *
 *   npm run plans                            10 million payments: half an hour, 30 GB below test-output
 *   npm run plans -- --payments 100000       fewer
 *   npm run plans -- --write                 also writes the tables into docs/scaling.md
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { cpus, totalmem } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { migrate, migrations } from '../../src/store/postgres/migrations.ts';
import { type PostgresServer, startPostgres } from '../../test/support/postgres.ts';
import { replacePart } from '../docs.ts';
import { fillPayments } from './fill-payments.ts';
import { measurePlans, measureSizes } from './measure-plans.ts';
import { planTable, sizeTable } from './plan-report.ts';

const root = join(import.meta.dirname, '../..');
const page = join(root, 'docs/scaling.md');

/** Nothing has to survive the server's end; so large a fill would otherwise wait for the disk most of the time. */
const settings = [
  'fsync=off',
  'full_page_writes=off',
  'wal_level=minimal',
  'max_wal_senders=0',
  'max_wal_size=8GB',
  'checkpoint_timeout=1h',
  'shared_buffers=2GB',
  'maintenance_work_mem=512MB',
];

const { values } = parseArgs({
  options: { payments: { type: 'string', default: '10000000' }, write: { type: 'boolean', default: false } },
});
await main(Number(values.payments), values.write);

async function main(payments: number, isWritten: boolean): Promise<void> {
  if (!Number.isSafeInteger(payments) || payments < 50_000) throw new RangeError('at least 50,000 payments');
  const folder = join(root, 'test-output');
  await mkdir(folder, { recursive: true });
  const postgres = await startPostgres(settings, folder);
  try {
    await run(postgres, payments, isWritten);
  } finally {
    await postgres.stop();
  }
}

async function run(postgres: PostgresServer, payments: number, isWritten: boolean): Promise<void> {
  const url = await postgres.createDatabase();
  await migrate(url, migrations, Date.now);
  await fillPayments(url, payments, (name, seconds) =>
    console.log(`${seconds.toFixed(0).padStart(6)} s  ${name}`),
  );
  const measured = await measurePlans(url, payments);
  const [version] = await postgres.query(url, 'SHOW server_version');
  const parts = {
    plans: `${machine(String(version?.['server_version']), payments)}\n\n${planTable(measured)}`,
    sizes: sizeTable(await measureSizes(url), payments),
  };
  console.log(`\n${parts.plans}\n\n${parts.sizes}`);
  if (isWritten) await write(parts);

  const faults = measured.flatMap((operation) => operation.faults);
  for (const fault of faults) console.error(`\n${fault}`);
  if (faults.length > 0) throw new Error(`${faults.length} hot statements grow with the payments; see above`);
}

function machine(version: string, payments: number): string {
  const [cpu] = cpus();
  return (
    `${new Date().toISOString().slice(0, 10)}, ${payments.toLocaleString('en')} payments, PostgreSQL ${version} with ` +
    `2 GB of shared buffers, ${cpus().length} × ${cpu?.model}, ${Math.round(totalmem() / 2 ** 30)} GB.`
  );
}

async function write(parts: Readonly<Record<string, string>>): Promise<void> {
  let text = await readFile(page, 'utf8');
  for (const [name, part] of Object.entries(parts)) text = replacePart('docs/scaling.md', text, name, part);
  await writeFile(page, text);
}
