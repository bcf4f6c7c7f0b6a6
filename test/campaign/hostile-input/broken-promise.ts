import type { HostileInputPromise } from './promises.ts';

/** Thrown in the middle of a case; says which promise was broken and how. */
export class BrokenPromiseError extends Error {
  override readonly name = 'BrokenPromiseError';
  readonly promise: HostileInputPromise;

  constructor(promise: HostileInputPromise, detail: string) {
    super(detail);
    this.promise = promise;
  }
}

/** Throws `BrokenPromiseError` unless it was kept. */
export function requireKept(promise: HostileInputPromise, isKept: boolean, detail: () => string): void {
  if (!isKept) throw new BrokenPromiseError(promise, detail());
}
