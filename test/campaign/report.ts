import type { PromiseResult } from './part.ts';
import { type Findings, type PromiseName, promises } from './promises.ts';

const SHOWN_VIOLATIONS = 20;

export interface PartReport {
  readonly part: string;
  readonly results: readonly PromiseResult[];
}

export function formatTable(reports: readonly PartReport[]): string {
  const rows = reports.flatMap(({ part, results }) =>
    results.map(({ promise, cases, violations, unchecked }) => {
      const looked =
        unchecked === undefined ? counted(cases) : `${counted(cases)}, not checked: ${unchecked}`;
      return `| ${promise} | ${part} | ${looked} | ${counted(violations)} |`;
    }),
  );
  return ['| promise | part | cases | violations |', '|---|---|---|---|', ...rows].join('\n');
}

/** The results of seeds, one row per promise. */
export function resultsOf({ cases, violations }: Findings): readonly PromiseResult[] {
  return (Object.keys(promises) as PromiseName[]).map((name) => {
    const looked = cases.get(name) ?? 0;
    const row = {
      promise: promises[name],
      cases: looked,
      violations: violations.filter(({ promise }) => promise === name).length,
    };
    return looked === 0 ? { ...row, unchecked: 'it did not occur in these runs' } : row;
  });
}

/** The faults that were injected, and the first violations with their seeds. */
export function linesOf({ violations, faults, together }: Findings): readonly string[] {
  return [
    `faults: ${listOf(faults)}`,
    ...(together.size === 0 ? [] : [`faults of endpoints, alone and two at once: ${listOf(together)}`]),
    ...violations
      .slice(0, SHOWN_VIOLATIONS)
      .map(({ promise, seed, detail }) => `seed ${seed} broke "${promises[promise]}": ${detail}`),
    ...(violations.length > SHOWN_VIOLATIONS ? [`… and ${violations.length - SHOWN_VIOLATIONS} more`] : []),
  ];
}

function listOf(counts: ReadonlyMap<string, number>): string {
  const sorted = [...counts].sort(([one], [other]) => (one < other ? -1 : 1));
  return sorted.map(([name, times]) => `${name} ${counted(times)}`).join(', ');
}

function counted(value: number): string {
  return value.toLocaleString('en');
}
