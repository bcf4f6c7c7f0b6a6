import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Finding, Measurement, MeasurementContext } from './measurements/measurement.ts';

/** Runs these measurements one after the other, each in a folder of its own below the context's. */
export async function measureOthers(
  chosen: readonly Measurement[],
  context: MeasurementContext,
): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  for (const { name, title, measure } of chosen) {
    const folder = join(context.folder, name);
    mkdirSync(folder, { recursive: true });
    findings.push({ name, title, series: await measure({ ...context, folder }) });
  }
  return findings;
}
