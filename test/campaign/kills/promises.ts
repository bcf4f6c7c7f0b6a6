import type { PromiseResult } from '../part.ts';

/** What a kill must not break, in the order of the table. */
export const killPromises = {
  reached: 'The process was killed at the chosen point',
  created:
    'Every acknowledged create is stored after the kill, and a retry with its Idempotency-Key returns the same payment',
  recovered: 'Paid within 30 s of the kill',
  paidOnce: 'Paid once: one release, and the merchant receives the exact amount on the chain',
  oneWebhook:
    'One webhook: at most one POST, exactly one for a delivered one, `unknown` only if interrupted in flight',
  verified: '`card-checkout verify` finds nothing',
} as const;

export type KillPromise = keyof typeof killPromises;

export interface KillFindings {
  /** A case of this promise; a violation when it was not kept, which is also written down. */
  expect(promise: KillPromise, isKept: boolean, detail: () => string): void;
  results(): PromiseResult[];
}

export function createKillFindings(log: (line: string) => void): KillFindings {
  const counted = new Map<KillPromise, { cases: number; violations: number }>();
  const names = Object.keys(killPromises) as KillPromise[];
  for (const name of names) counted.set(name, { cases: 0, violations: 0 });
  return {
    expect(promise, isKept, detail) {
      const row = counted.get(promise) as { cases: number; violations: number };
      row.cases++;
      if (isKept) return;
      row.violations++;
      log(`broken: "${killPromises[promise]}": ${detail()}`);
    },
    results: () => [...counted].map(([name, row]) => ({ promise: `kill -9: ${killPromises[name]}`, ...row })),
  };
}
