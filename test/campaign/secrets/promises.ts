import type { PromiseResult } from '../part.ts';

/** What the service promises about other people's payments and about secrets, as rows of the campaign's table. */
export const secretPromises = {
  foreignIds: "Every id of another account's payment is answered like one that never was, byte for byte",
  deadKeys:
    'A revoked key, a hash or an id in the place of a key is answered like any wrong key, byte for byte',
  foreignIdempotency: "Another account's Idempotency-Key is as good as a new one",
  headers:
    'Every answer forbids sniffing, framing and storing, insists on HTTPS, and lets only its nonce run',
  logs: 'No secret and no e-mail address in what the process prints, also not when others quote them',
  failedStarts: 'No secret in what a command prints that fails or looks for what is wrong',
  errors: 'No secret in an error answer',
  pages: 'No key, token, callback or e-mail address in a page, and the note only behind the short link',
  metrics: 'No secret in the metrics',
  arguments: 'No secret in the arguments of any process',
  atRest: 'No key and no token in the database and the files beside it',
  timing: 'Unknown ids and ids of others take equally long',
} as const;

export type SecretPromise = keyof typeof secretPromises;

/** Counts cases and violations; the details of violations go to the log. */
export interface Tally {
  expect(promise: SecretPromise, isKept: boolean, detail: () => string): void;
  /** Says why a promise was not looked at. */
  leaveOut(promise: SecretPromise, reason: string): void;
  rows(): PromiseResult[];
}

export function createTally(log: (line: string) => void): Tally {
  const counts = new Map<SecretPromise, { cases: number; violations: number }>();
  const reasons = new Map<SecretPromise, string>();
  return {
    expect(promise, isKept, detail) {
      const count = counts.get(promise) ?? { cases: 0, violations: 0 };
      counts.set(promise, count);
      count.cases++;
      if (isKept) return;
      count.violations++;
      log(`broke "${secretPromises[promise]}": ${detail()}`);
    },
    leaveOut: (promise, reason) => void reasons.set(promise, reason),
    rows: () =>
      (Object.keys(secretPromises) as SecretPromise[]).map((name) => {
        const unchecked = reasons.get(name);
        return {
          promise: secretPromises[name],
          ...(counts.get(name) ?? { cases: 0, violations: 0 }),
          ...(unchecked === undefined ? {} : { unchecked }),
        };
      }),
  };
}
