import type { PromiseResult } from '../part.ts';

/** What the service promises about other people's payments and about secrets, as rows of the campaign's table. */
export const secretPromises = {
  foreignIds: "An id of another account's payment gets the same response as an unknown id, byte for byte",
  deadKeys:
    'A revoked key, a hash or an id instead of a key gets the same response as any wrong key, byte for byte',
  foreignIdempotency: 'An Idempotency-Key of another account counts as a new one',
  headers:
    'Every response forbids sniffing, framing and caching, requires HTTPS, and allows only scripts with its nonce',
  logs: 'No secret and no email address in the output of the process, even when third parties quote them',
  failedStarts: 'No secret in the output of failing and diagnostic commands',
  errors: 'No secret in an error answer',
  pages: 'No key, token, callback or email address in a page, and the note only behind the short link',
  metrics: 'No secret in the metrics',
  arguments: 'No secret in the arguments of any process',
  atRest: 'No key and no token in the database and the files beside it',
  timing: 'Unknown ids and ids of other accounts take the same time',
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
