/** A fault that is put into a copy of the source, and how the campaign has to find it. */
export interface Plant {
  readonly fault: string;
  readonly file: string;
  /** Each text stands in the file exactly once. */
  readonly changes: readonly { readonly before: string; readonly after: string }[];
  /** What the campaign is run with. */
  readonly run: readonly string[];
  /** The beginning of the promise that has to be broken; others may be as well. */
  readonly brokenPromise: string;
}

/** Enough runs for what happens in one of ten. */
export const simulated = ['--only', 'simulation', '--seeds', '40', '--seed', '1'] as const;
