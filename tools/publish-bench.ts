/**
 * Makes the last run of `npm run bench` the one that docs/performance.md shows: `node tools/publish-bench.ts`, and
 * then `npm run docs`. Refuses a run that is short or did not measure everything.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fullExtent } from './bench/extent.ts';
import { goals } from './bench/goals.ts';
import type { BenchReport } from './bench/report.ts';
import { type PublishedReport, publishedFile, readPublished } from './docs-performance.ts';

const file = join(import.meta.dirname, '..', 'test-output', 'bench.json');
const { samples, ...report } = JSON.parse(readFileSync(file, 'utf8')) as BenchReport;
const judged = new Set(report.goals.map(({ what }) => what));
const missing = goals.filter(({ what }) => !judged.has(what)).map(({ what }) => what);
if (missing.length > 0) throw new Error(`the run did not measure: ${missing.join(', ')}`);
if (report.extent.rounds < fullExtent.rounds) throw new Error('medians of a short run say little');
// Keeps the goals of the previous run too, because a figure that only one run found proves little.
const published = existsSync(publishedFile) ? readPublished() : null;
const earlier = published?.at === report.at ? published.before : published;
const before = earlier === null ? null : { at: earlier.at, goals: earlier.goals };
writeFileSync(publishedFile, `${JSON.stringify({ ...report, before } satisfies PublishedReport, null, 2)}\n`);
console.log(`The run of ${report.at} with ${samples.length} samples is in docs/performance.json.`);
