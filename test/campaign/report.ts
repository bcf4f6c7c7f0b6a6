import { type Findings, type PromiseName, promises } from './promises.ts';

const SHOWN_VIOLATIONS = 20;

/** The table of promises, cases and violations, the faults that were injected, and each violation with its seed. */
export function formatFindings({ cases, violations, faults }: Findings): string {
  const names = Object.keys(promises) as PromiseName[];
  const rows = names.map((name) => {
    const broken = violations.filter(({ promise }) => promise === name);
    return [promises[name], cases.get(name) ?? 0, broken.length] as const;
  });
  const injected = [...faults].sort(([one], [other]) => (one < other ? -1 : 1));
  return [
    '| promise | cases | violations |',
    '|---|---|---|',
    ...rows.map((row) => `| ${row.map(shown).join(' | ')} |`),
    '',
    `faults: ${injected.map(([kind, times]) => `${kind} ${shown(times)}`).join(', ')}`,
    ...violations
      .slice(0, SHOWN_VIOLATIONS)
      .map(({ promise, seed, detail }) => `seed ${seed} broke "${promises[promise]}": ${detail}`),
    ...(violations.length > SHOWN_VIOLATIONS ? [`… and ${violations.length - SHOWN_VIOLATIONS} more`] : []),
  ].join('\n');
}

function shown(value: string | number): string {
  return typeof value === 'number' ? value.toLocaleString('en') : value;
}
