import type { Finding } from './measurements/measurement.ts';
import { median } from './statistics.ts';
import type { ScenarioSummary } from './summary.ts';

/** A goal and how far the run came. */
export interface GoalResult {
  readonly what: string;
  readonly bound: number;
  readonly isUpperBound: boolean;
  readonly unit: string;
  readonly median: number;
  readonly lowest: number;
  readonly highest: number;
  /** Whether the median is on the right side of the bound. */
  readonly isReached: boolean;
}

/** What a run found. */
export interface Findings {
  readonly scenarios: readonly ScenarioSummary[];
  readonly measurements: readonly Finding[];
}

type Figure = Pick<GoalResult, 'median' | 'lowest' | 'highest'>;

export interface Goal {
  readonly what: string;
  readonly bound: number;
  readonly isUpperBound?: true;
  readonly unit?: string;
  /** Undefined where the run did not measure it. */
  readonly read: (findings: Findings) => Figure | undefined;
}

/** In the order of the table. Ratios are of requests a second unless they say otherwise. */
export const goals: readonly Goal[] = [
  {
    what: 'create of ceiling B, 64 connections',
    bound: 0.8,
    read: ratio('create-64', 'service', 'ceiling B'),
  },
  {
    what: 'create of ceiling A, 64 connections',
    bound: 0.6,
    read: ratio('create-64', 'service', 'ceiling A'),
  },
  {
    what: 'create of ceiling A, 8 connections',
    bound: 0.78,
    read: ratio('create-8', 'service', 'ceiling A'),
  },
  {
    what: 'p99 of create, of ceiling A’s, 64 connections',
    bound: 1.2,
    isUpperBound: true,
    unit: '×',
    read: ratio('create-64', 'service', 'ceiling A', 'p99'),
  },
  {
    what: 'create of ceiling B, a fresh payout address each time',
    bound: 0.75,
    read: ratio('create-fresh-64', 'service', 'ceiling B'),
  },
  {
    what: 'create with a million payments stored, of empty',
    bound: 0.95,
    read: ratio('create-million', 'service, a million stored', 'service, empty'),
  },
  {
    what: 'status by payment_id, of raw GET',
    bound: 0.5,
    read: ratio('read-64', 'status by payment_id', 'raw GET'),
  },
  {
    what: 'status by ipn_token, of raw GET',
    bound: 0.5,
    read: ratio('read-64', 'status by ipn_token', 'raw GET'),
  },
  { what: 'checkout page, of raw GET', bound: 0.4, read: ratio('read-64', 'checkout page', 'raw GET') },
  {
    what: 'create with default log and metrics, of without',
    bound: 0.95,
    read: ratio('logging-and-metrics', 'service, as it ships', 'service, silent and uncounted'),
  },
  {
    what: 'webhooks, of bare TLS posts',
    bound: 0.6,
    read: series('webhooks', 'of bare posts'),
  },
  {
    what: 'logs scanned against 100,000 open addresses',
    bound: 150_000,
    unit: 'a second of CPU',
    read: series('log-scan', 'logs a second of CPU'),
  },
  {
    what: 'settlement by one key, whole run, of the chain’s capacity',
    bound: 0.55,
    read: series('settlement', 'one key: whole run'),
  },
  {
    what: 'settlement by one key, plateau, of the chain’s capacity',
    bound: 0.85,
    read: series('settlement', 'one key: plateau'),
  },
  {
    what: 'settlement by two keys, whole run, of the chain’s capacity',
    bound: 0.65,
    read: series('settlement', 'two keys: whole run'),
  },
  {
    what: 'settlement with 30 % of broadcasts swallowed',
    bound: 1.5,
    isUpperBound: true,
    unit: '× as long',
    read: series('settlement', '30 % of broadcasts swallowed'),
  },
  {
    what: 'deposit mined to paid, of the chain’s own time',
    bound: 1.1,
    isUpperBound: true,
    unit: '×',
    read: series('settlement', 'one payment, blocks announced: deposit mined to paid, of the floor'),
  },
  {
    what: 'paid to webhook received',
    bound: 0.3,
    isUpperBound: true,
    unit: 's',
    read: series('settlement', 'one payment, blocks announced: paid to webhook received'),
  },
  {
    what: 'create on PostgreSQL, of its ceiling',
    bound: 0.7,
    read: ratio('create-postgres', 'service on PostgreSQL', 'ceiling on PostgreSQL'),
  },
  {
    what: 'memory with a million payments, idle',
    bound: 120,
    isUpperBound: true,
    unit: 'MB',
    read: series('million-live', 'resident, idle'),
  },
  {
    what: 'ready after start, live, a million payments',
    bound: 1.5,
    isUpperBound: true,
    unit: 's',
    read: series('million-live', 'ready after'),
  },
];

/** The goals that the run measured. */
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

function series(name: string, seriesName: string): Goal['read'] {
  return ({ measurements }) => {
    const values = measurements
      .find((finding) => finding.name === name)
      ?.series.find((found) => found.name === seriesName)?.values;
    if (values === undefined) return undefined;
    return { median: median(values), lowest: Math.min(...values), highest: Math.max(...values) };
  };
}
