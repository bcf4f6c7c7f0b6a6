import type { GoalResult } from './bench/goals.ts';
import { median } from './bench/statistics.ts';
import { formatNumber } from './bench/summary.ts';
import { table } from './markdown.ts';
import { readPublished } from './published-bench.ts';

/** With fewer, medians say little. */
const FEWEST_ROUNDS = 8;

/** The goals with what was reached, and where and when. */
export function goalTable(): string {
  const { goals, machine, at, extent, before } = readPublished();
  const isProvisional = extent.rounds < FEWEST_ROUNDS;
  const rows = goals.map((goal) => [
    goal.what,
    `${goal.isUpperBound ? '≤' : '≥'} ${formatNumber(goal.bound)}${unitOf(goal)}`,
    `**${formatNumber(goal.median)}**${unitOf(goal)}`,
    `${formatNumber(goal.lowest)} to ${formatNumber(goal.highest)}`,
    medianOf(goal.what, before?.goals ?? []),
    isProvisional ? 'not shown' : goal.isReached ? 'yes' : 'no',
  ]);
  const warning = isProvisional
    ? [`**Provisional: ${extent.rounds} short rounds are too few to show a yes or a no.**`]
    : [];
  return [
    ...warning,
    `${at.slice(0, 10)}, ${extent.rounds} rounds. ${machine.cpu}, Node ${machine.node}, SQLite ${machine.sqlite}; load by ${machine.loadGenerator}; ${machine.cores}; ${machine.otherLoad}.`,
    table(['goal', 'bound', 'median', 'range', 'previous run', 'reached'], rows),
  ].join('\n\n');
}

function medianOf(what: string, found: readonly GoalResult[]): string {
  const goal = found.find((each) => each.what === what);
  return goal === undefined ? '–' : `${formatNumber(goal.median)}${unitOf(goal)}`;
}

/** What every scenario of load and every measurement found. */
export function findingTables(): string {
  const { scenarios, measurements } = readPublished();
  const loads = scenarios.map(({ title, contenders, comparisons }) =>
    [
      `### ${title}`,
      table(
        ['', 'req/s', 'CPU µs per request', 'p50 ms', 'p99 ms', 'rows per commit'],
        contenders.map((contender) => [
          contender.label,
          formatNumber(contender.requestsPerSecond),
          formatNumber(contender.cpuMicrosecondsPerRequest),
          formatNumber(contender.p50Microseconds / 1000),
          formatNumber(contender.p99Microseconds / 1000),
          contender.rowsPerCommit === null ? '–' : formatNumber(contender.rowsPerCommit),
        ]),
      ),
      table(
        ['ratio within rounds: median (range)', 'req/s', 'CPU', 'p99'],
        comparisons.map(({ label, of, requestsPerSecond, cpu, p99 }) => [
          `${label} of ${of}`,
          ...[requestsPerSecond, cpu, p99].map(
            ({ median: middle, lowest, highest }) =>
              `**${formatNumber(middle)}** (${formatNumber(lowest)} to ${formatNumber(highest)})`,
          ),
        ]),
      ),
    ].join('\n\n'),
  );
  const others = measurements.map(({ title, series }) =>
    [
      `### ${title}`,
      table(
        ['', 'median', 'lowest to highest'],
        series.map(({ name, unit, values }) => [
          unit === '' ? name : `${name}, ${unit}`,
          `**${formatNumber(median(values))}**`,
          `${formatNumber(Math.min(...values))} to ${formatNumber(Math.max(...values))}`,
        ]),
      ),
    ].join('\n\n'),
  );
  return [...loads, ...others].join('\n\n');
}

function unitOf({ unit }: GoalResult): string {
  return unit === '' || unit === '×' ? unit : ` ${unit}`;
}
