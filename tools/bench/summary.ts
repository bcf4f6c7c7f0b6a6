import type { GoalResult } from './goals.ts';
import type { Finding } from './measurements/measurement.ts';
import type { Scenario } from './scenarios.ts';
import { median, type PairedRatio, pairedRatio, type Sample } from './statistics.ts';

/** One contender over all rounds: medians. */
export interface ContenderSummary extends Omit<Sample, 'round' | 'requests'> {
  readonly requests: number;
}

/** One contender as a share of another; 1 is as good, more is better in the first two, worse in the last. */
export interface Comparison {
  readonly label: string;
  readonly of: string;
  readonly requestsPerSecond: PairedRatio;
  /** CPU per request of the other over that of this one. */
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

/** A scenario as two small tables for a person. */
export function formatSummary({ title, contenders, comparisons }: ScenarioSummary): string {
  const rows = contenders.map((contender) => [
    contender.label,
    Math.round(contender.requestsPerSecond).toString(),
    contender.cpuMicrosecondsPerRequest.toFixed(1),
    (contender.p50Microseconds / 1000).toFixed(2),
    (contender.p99Microseconds / 1000).toFixed(2),
    contender.rowsPerCommit?.toFixed(1) ?? '-',
  ]);
  const ratios = comparisons.map(({ label, of, requestsPerSecond, cpu, p99 }) => [
    `${label} of ${of}`,
    formatRatio(requestsPerSecond),
    formatRatio(cpu),
    formatRatio(p99),
  ]);
  return [
    title,
    formatTable(['', 'req/s', 'CPU µs/req', 'p50 ms', 'p99 ms', 'rows/commit'], rows),
    '',
    formatTable(['paired ratios: median (lowest to highest)', 'req/s', 'CPU', 'p99'], ratios),
    '',
  ].join('\n');
}

/** The numbers of a measurement. */
export function formatFinding({ title, series }: Finding): string {
  const rows = series.map(({ name, unit, values }) => [
    name,
    formatNumber(median(values)),
    formatNumber(Math.min(...values)),
    formatNumber(Math.max(...values)),
    unit,
  ]);
  return [title, formatTable(['', 'median', 'lowest', 'highest', 'unit'], rows), ''].join('\n');
}

/** What was to be reached, and what was. */
export function formatGoals(goals: readonly GoalResult[]): string {
  const rows = goals.map((goal) => [
    goal.what,
    `${goal.isUpperBound ? '≤' : '≥'} ${formatNumber(goal.bound)}`,
    formatNumber(goal.median),
    `${formatNumber(goal.lowest)} to ${formatNumber(goal.highest)}`,
    goal.unit,
    goal.isReached ? 'yes' : 'no',
  ]);
  return ['Goals', formatTable(['', 'goal', 'median', 'range', 'unit', 'reached'], rows), ''].join('\n');
}

/** Two decimals below ten, one below a hundred, else none and thousands apart. */
export function formatNumber(value: number): string {
  const digits = value < 10 ? 2 : value < 100 ? 1 : 0;
  return value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

function formatRatio({ median: middle, lowest, highest }: PairedRatio): string {
  return `${middle.toFixed(2)} (${lowest.toFixed(2)} to ${highest.toFixed(2)})`;
}

/** The first column to the left, numbers to the right. */
function formatTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  return [head, ...rows]
    .map((row) =>
      row
        .map((cell, column) =>
          column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0),
        )
        .join('  '),
    )
    .map((line) => `  ${line.trimEnd()}`)
    .join('\n');
}
