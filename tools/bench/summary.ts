import { table } from '../markdown.ts';
import type { GoalResult } from './goals.ts';
import type { Finding } from './measurements/measurement.ts';
import type { Scenario } from './scenarios.ts';
import { median, type PairedRatio, pairedRatio, type Sample } from './statistics.ts';

export interface ContenderSummary extends Omit<Sample, 'round' | 'requests'> {
  readonly requests: number;
}

/** Ratios of one contender to another. Above 1 is better in the first two, worse in the last. */
export interface Comparison {
  readonly label: string;
  readonly of: string;
  readonly requestsPerSecond: PairedRatio;
  /** CPU per request of the other contender, divided by this one's. */
  readonly cpu: PairedRatio;
  readonly p99: PairedRatio;
}

export interface ScenarioSummary {
  readonly name: string;
  readonly title: string;
  readonly contenders: readonly ContenderSummary[];
  readonly comparisons: readonly Comparison[];
}

export function summarize(scenario: Scenario, samples: readonly Sample[]): ScenarioSummary {
  const { name, title } = scenario;
  return {
    name,
    title,
    contenders: scenario.contenders.map(({ label }) =>
      summarizeContender(
        label,
        samples.filter((sample) => sample.label === label),
      ),
    ),
    comparisons: scenario.comparisons.map(([label, of]) => ({
      label,
      of,
      requestsPerSecond: pairedRatio(samples, label, of, (sample) => sample.requestsPerSecond),
      cpu: pairedRatio(samples, label, of, (sample) => 1 / sample.cpuMicrosecondsPerRequest),
      p99: pairedRatio(samples, label, of, (sample) => sample.p99Microseconds),
    })),
  };
}

function summarizeContender(label: string, samples: readonly Sample[]): ContenderSummary {
  const of = (measure: (sample: Sample) => number) => median(samples.map(measure));
  const groups = samples.flatMap(({ rowsPerCommit }) => rowsPerCommit ?? []);
  return {
    label,
    requests: samples.reduce((sum, { requests }) => sum + requests, 0),
    requestsPerSecond: of((sample) => sample.requestsPerSecond),
    cpuMicrosecondsPerRequest: of((sample) => sample.cpuMicrosecondsPerRequest),
    p50Microseconds: of((sample) => sample.p50Microseconds),
    p99Microseconds: of((sample) => sample.p99Microseconds),
    rowsPerCommit: groups.length === 0 ? null : median(groups),
  };
}

export function formatSummary({ title, contenders, comparisons }: ScenarioSummary): string {
  const rows = contenders.map((contender) => [
    contender.label,
    formatNumber(contender.requestsPerSecond),
    formatNumber(contender.cpuMicrosecondsPerRequest),
    formatNumber(contender.p50Microseconds / 1000),
    formatNumber(contender.p99Microseconds / 1000),
    contender.rowsPerCommit === null ? '–' : formatNumber(contender.rowsPerCommit),
  ]);
  const ratios = comparisons.map(({ label, of, requestsPerSecond, cpu, p99 }) => [
    `${label} of ${of}`,
    ...[requestsPerSecond, cpu, p99].map(
      ({ median: middle, lowest, highest }) =>
        `**${formatNumber(middle)}** (${formatNumber(lowest)} to ${formatNumber(highest)})`,
    ),
  ]);
  return [
    `### ${title}`,
    table(['', 'req/s', 'CPU µs per request', 'p50 ms', 'p99 ms', 'rows per commit'], rows),
    table(['ratio within rounds: median (range)', 'req/s', 'CPU', 'p99'], ratios),
  ].join('\n\n');
}

/** Maximum rows of a measurement, the highest of a longer one; the report has them all. */
const MAXIMUM_ROWS = 12;

export function formatFinding({ title, series }: Finding): string {
  const highest = series.toSorted((one, other) => median(other.values) - median(one.values));
  const shown = series.length > MAXIMUM_ROWS ? highest.slice(0, MAXIMUM_ROWS) : series;
  const rows = shown.map(({ name, unit, values }) => [
    unit === '' ? name : `${name}, ${unit}`,
    `**${formatNumber(median(values))}**`,
    `${formatNumber(Math.min(...values))} to ${formatNumber(Math.max(...values))}`,
  ]);
  return [`### ${title}`, table(['', 'median', 'lowest to highest'], rows)].join('\n\n');
}

export function formatGoals(goals: readonly GoalResult[], before: readonly GoalResult[] = []): string {
  const rows = goals.map((goal) => {
    const unit = goal.unit === '' || goal.unit === '×' ? goal.unit : ` ${goal.unit}`;
    const earlier = before.find(({ what }) => what === goal.what);
    return [
      goal.what,
      `${goal.isUpperBound ? '≤' : '≥'} ${formatNumber(goal.bound)}${unit}`,
      `**${formatNumber(goal.median)}**${unit}`,
      `${formatNumber(goal.lowest)} to ${formatNumber(goal.highest)}`,
      earlier === undefined ? '–' : `${formatNumber(earlier.median)}${unit}`,
      goal.isReached ? 'yes' : 'no',
    ];
  });
  return table(['goal', 'bound', 'median', 'range', 'previous run', 'reached'], rows);
}

/** Two decimals below ten, one below a hundred, otherwise none, with separators of thousands. */
function formatNumber(value: number): string {
  const digits = value < 10 ? 2 : value < 100 ? 1 : 0;
  return value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits });
}
