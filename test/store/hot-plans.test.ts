import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { explainOperation } from '../../scripts/plans/explain-operation.ts';
import { fillPayments } from '../../scripts/plans/fill-payments.ts';
import { type HotOperation, hotOperations } from '../../scripts/plans/operations.ts';
import { planFaults } from '../../scripts/plans/plan-faults.ts';
import { readSample, type Sample } from '../../scripts/plans/synthetic-sample.ts';
import { migrate, migrations } from '../../src/store/postgres/migrations.ts';
import { startPostgres } from '../support/postgres.ts';

/** So many that no table of interest is small enough to be read as a whole. */
const PAYMENTS = 50_000;

const postgres = await startPostgres();
afterAll(() => postgres.stop());

let url: string;
let sample: Sample;

beforeAll(async () => {
  url = await postgres.createDatabase();
  await migrate(url, migrations, Date.now);
  await fillPayments(url, PAYMENTS);
  sample = await readSample(url, PAYMENTS);
}, 180_000);

async function faultsOf(operation: HotOperation): Promise<string[]> {
  const statements = await explainOperation(url, (store) => operation.run(store, sample));
  expect(statements.length).toBeGreaterThan(0);
  return statements.flatMap(planFaults);
}

describe('with many payments stored, PostgreSQL reads no growing table as a whole for', () => {
  it.each(hotOperations)('$name', async (operation) => {
    expect(await faultsOf(operation)).toEqual([]);
  });
});

describe('the check itself', () => {
  it('notices an index that is missing', async () => {
    const claim = hotOperations.find(({ name }) => name.includes('webhooks and records')) as HotOperation;
    await postgres.query(url, 'DROP INDEX webhooks_waiting');
    const faults = await faultsOf(claim);
    expect(faults).toContain('reads all of webhooks');
    expect(faults).toContain('reads all of webhooks once it is prepared for any values');
  });

  it('notices rows that are thrown away and pages without number', () => {
    const node = { 'Node Type': 'Index Scan', 'Relation Name': 'payments', 'Actual Loops': 2 };
    const faultsOfPlan = (change: object) =>
      planFaults({ text: '', plan: { ...node, ...change }, genericPlan: node, executionMs: 0 });
    expect(faultsOfPlan({})).toEqual([]);
    expect(faultsOfPlan({ 'Rows Removed by Filter': 6_000 })).toEqual(['throws away 12000 rows of payments']);
    expect(faultsOfPlan({ 'Shared Hit Blocks': 20_000, 'Shared Read Blocks': 6_000 })).toEqual([
      'touches 26000 pages',
    ]);
  });
});
