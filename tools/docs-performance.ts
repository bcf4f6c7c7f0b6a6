import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BenchReport } from './bench/report.ts';
import { formatFinding, formatGoals, formatSummary } from './bench/summary.ts';

/** The run that docs/performance.md shows: a bench report without its single runs, and what the whole run before it found. */
export interface PublishedReport extends Omit<BenchReport, 'samples'> {
  readonly before: Pick<BenchReport, 'at' | 'goals'> | null;
}

export const publishedFile = join(import.meta.dirname, '..', 'docs', 'performance.json');

/** Throws if no run has been published. */
export function readPublished(): PublishedReport {
  if (!existsSync(publishedFile))
    throw new Error('docs/performance.json is missing: node tools/publish-bench.ts');
  return JSON.parse(readFileSync(publishedFile, 'utf8')) as PublishedReport;
}

/** Goals with their results, the machine and the date. */
export function goalTable(): string {
  const { goals, machine, at, extent, before } = readPublished();
  return [
    `${at.slice(0, 10)}, ${extent.rounds} rounds. ${machine.cpu}, Node ${machine.node}, SQLite ${machine.sqlite}; load by ${machine.loadGenerator}; ${machine.cores}; ${machine.otherLoad}.`,
    formatGoals(goals, before?.goals),
  ].join('\n\n');
}

/** Results of all load scenarios and measurements. */
export function findingTables(): string {
  const { scenarios, measurements } = readPublished();
  return [...scenarios.map(formatSummary), ...measurements.map(formatFinding)].join('\n\n');
}
