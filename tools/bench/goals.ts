import type { Finding } from './measurements/measurement.ts';
import { median, type Sample } from './statistics.ts';
import type { ScenarioSummary } from './summary.ts';

export interface GoalResult {
  readonly what: string;
  readonly bound: number;
  readonly isUpperBound: boolean;
  readonly unit: string;
  readonly median: number;
  readonly lowest: number;
  readonly highest: number;
  /** Whether the median meets the bound. */
  readonly isReached: boolean;
}

export interface Findings {
  readonly scenarios: readonly ScenarioSummary[];
  readonly measurements: readonly Finding[];
  readonly samples: readonly Sample[];
}

type Figure = Pick<GoalResult, 'median' | 'lowest' | 'highest'>;

export interface Goal {
  readonly what: string;
  readonly bound: number;
  readonly isUpperBound?: true;
  readonly unit?: string;
  /** Undefined if the run did not measure it. */
  readonly read: (findings: Findings) => Figure | undefined;
}

/** In the table's order. Ratios compare requests per second unless stated otherwise. */
export const goals: readonly Goal[] = [
  { what: 'create, of ceiling A', bound: 0.5, read: ratio('create', 'service', 'ceiling A') },
  { what: 'create on one core', bound: 4_000, unit: 'a second', read: rate('service') },
  {
    what: 'p99 of create, of ceiling A’s',
    bound: 2,
    isUpperBound: true,
    unit: '×',
    read: ratio('create', 'service', 'ceiling A', 'p99'),
  },
  {
    what: 'create with a million payments stored, of empty',
    bound: 0.8,
    read: ratio('create', 'service, a million stored', 'service'),
  },
  {
    what: 'the store’s own CPU a create, a million payments stored',
    bound: 60,
    isUpperBound: true,
    unit: 'µs',
    read: series('store-create', 'CPU a create'),
  },
  {
    what: 'status by payment_id, of raw GET',
    bound: 0.45,
    read: ratio('read', 'status by payment_id', 'raw GET'),
  },
  {
    what: 'status by ipn_token, of raw GET',
    bound: 0.37,
    read: ratio('read', 'status by ipn_token', 'raw GET'),
  },
  {
    what: 'create on PostgreSQL, of a ceiling with the same statements',
    bound: 0.5,
    read: ratio('create-postgres', 'service on PostgreSQL', 'ceiling on PostgreSQL'),
  },
  {
    what: 'create on PostgreSQL, four accounts',
    bound: 2_000,
    unit: 'a second',
    read: rate('service on PostgreSQL'),
  },
  {
    what: 'create on PostgreSQL, one account',
    bound: 2_000,
    unit: 'a second',
    read: rate('service on PostgreSQL, one account'),
  },
  { what: 'webhooks, of bare TLS posts', bound: 0.9, read: series('webhooks', 'of bare posts') },
  {
    what: 'logs scanned against 100,000 open addresses',
    bound: 60_000,
    unit: 'a second of CPU',
    read: series('log-scan', 'logs a second of CPU'),
  },
  {
    what: 'longest step while logs are scanned',
    bound: 10,
    isUpperBound: true,
    unit: 'ms',
    read: series('log-scan', 'longest step'),
  },
  {
    what: 'settlement, whole run, of the chain’s capacity',
    bound: 0.7,
    read: series('settlement', 'whole run'),
  },
  {
    what: 'settlement, plateau, of the chain’s capacity',
    bound: 0.85,
    read: series('settlement', 'plateau'),
  },
  {
    what: 'deposit mined to paid, blocks announced, of the chain’s own time',
    bound: 1.05,
    isUpperBound: true,
    unit: '×',
    read: series('settlement', 'deposit mined to paid, of the floor, blocks announced'),
  },
  {
    what: 'deposit mined to paid, blocks polled, of the chain’s own time',
    bound: 1.1,
    isUpperBound: true,
    unit: '×',
    read: series('settlement', 'deposit mined to paid, of the floor, blocks polled'),
  },
  {
    what: 'slowest list, search or statistic of a million payments',
    bound: 100,
    isUpperBound: true,
    unit: 'ms',
    read: slowest('lists'),
  },
  {
    what: 'memory, live, a million payments, idle',
    bound: 175,
    isUpperBound: true,
    unit: 'MB',
    read: series('million-live', 'resident, idle'),
  },
  {
    what: 'ready after start, live, a million payments',
    bound: 1.4,
    isUpperBound: true,
    unit: 's',
    read: series('million-live', 'ready after'),
  },
];

export function evaluateGoals(findings: Findings): readonly GoalResult[] {
  return goals.flatMap(({ what, bound, isUpperBound = false, unit = '', read }) => {
    const figure = read(findings);
    if (figure === undefined) return [];
    const isReached = isUpperBound ? figure.median <= bound : figure.median >= bound;
    return [{ what, bound, isUpperBound, unit, ...figure, isReached }];
  });
}

function ratio(
  name: string,
  label: string,
  of: string,
  measure: 'requestsPerSecond' | 'p99' = 'requestsPerSecond',
): Goal['read'] {
  return ({ scenarios }) =>
    scenarios
      .find((scenario) => scenario.name === name)
      ?.comparisons.find((comparison) => comparison.label === label && comparison.of === of)?.[measure];
}

function rate(label: string): Goal['read'] {
  return ({ samples }) =>
    figureOf(samples.filter((sample) => sample.label === label).map((sample) => sample.requestsPerSecond));
}

function series(name: string, seriesName: string): Goal['read'] {
  return ({ measurements }) =>
    figureOf(
      measurements.find((finding) => finding.name === name)?.series.find((found) => found.name === seriesName)
        ?.values,
    );
}

function slowest(name: string): Goal['read'] {
  return ({ measurements }) => {
    const found = measurements.find((finding) => finding.name === name)?.series ?? [];
    return figureOf(found.toSorted((left, right) => median(right.values) - median(left.values))[0]?.values);
  };
}

function figureOf(values: readonly number[] | undefined): Figure | undefined {
  if (values === undefined || values.length === 0) return undefined;
  return { median: median(values), lowest: Math.min(...values), highest: Math.max(...values) };
}
