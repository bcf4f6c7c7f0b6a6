import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BenchReport } from './bench/report.ts';

/** The run that docs/performance.md shows: a bench report without its single runs, and what the whole run before it found. */
export interface PublishedReport extends Omit<BenchReport, 'samples'> {
  readonly before: Pick<BenchReport, 'at' | 'goals'> | null;
}

export const publishedFile = join(import.meta.dirname, '..', 'docs', 'performance.json');

/** Throws when no run was published yet. */
export function readPublished(): PublishedReport {
  if (!existsSync(publishedFile))
    throw new Error('docs/performance.json is missing: node tools/publish-bench.ts');
  return JSON.parse(readFileSync(publishedFile, 'utf8')) as PublishedReport;
}
