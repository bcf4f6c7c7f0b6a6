import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { explainOperation } from '../../scripts/plans/explain-operation.ts';
import { fillPayments } from '../../scripts/plans/fill-payments.ts';
import { type HotOperation, hotOperations, rareOperations } from '../../scripts/plans/operations.ts';
import { planFaults } from '../../scripts/plans/plan-faults.ts';
import { readSample, type Sample } from '../../scripts/plans/synthetic-sample.ts';
import { migrate, migrations } from '../../src/store/postgres/migrations.ts';
import type { Store } from '../../src/store/store.ts';
import { startPostgres } from '../support/postgres.ts';

/** So many that no table of interest is small enough to be read as a whole. */
const PAYMENTS = 50_000;

const postgres = await startPostgres();
afterAll(() => postgres.stop());

const called = new Set<string>();
let url: string;
let sample: Sample;

beforeAll(async () => {
  url = await postgres.createDatabase();
  await migrate(url, migrations, Date.now);
  await fillPayments(url, PAYMENTS);
  sample = await readSample(url, PAYMENTS);
}, 180_000);

async function faultsOf(operation: HotOperation): Promise<string[]> {
  const statements = await explainOperation(url, (store) =>
    operation.run(remembering(store, called), sample),
  );
  expect(statements.length).toBeGreaterThan(0);
  return statements.flatMap(planFaults);
}

/** The store, each call of which is remembered as `port.operation`. */
function remembering<Part extends object>(part: Part, names: Set<string>, prefix = ''): Part {
  return new Proxy(part, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key);
      const name = `${prefix}${String(key)}`;
      if (typeof value === 'object' && value !== null) return remembering(value, names, `${name}.`);
      if (typeof value === 'function') names.add(name);
      return value;
    },
  });
}

/** Every operation there is, as `port.operation`. */
function operationsOf(part: object, prefix = ''): string[] {
  return Object.entries(part).flatMap(([key, value]: [string, unknown]) => {
    if (typeof value === 'function') return [`${prefix}${key}`];
    return typeof value === 'object' && value !== null ? operationsOf(value, `${prefix}${key}.`) : [];
  });
}

describe('with many payments stored, PostgreSQL reads no growing table as a whole for', () => {
  it.each(hotOperations)('$name', async (operation) => {
    expect(await faultsOf(operation)).toEqual([]);
  });
});

describe('the check itself', () => {
  it('knows every operation of the store, as a hot one or as a rare one with its reason', async () => {
    let all: string[] = [];
    await explainOperation(url, async (store: Store) => {
      all = operationsOf(store);
    });
    expect([...called, ...Object.keys(rareOperations), 'close'].sort()).toEqual(all.sort());
  });

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
