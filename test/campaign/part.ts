/** One row of the stress suite's table. */
export interface PromiseResult {
  /** The promise, as a sentence. */
  readonly promise: string;
  readonly cases: number;
  /** The number of violations; each is logged with the seed that reproduces it. */
  readonly violations: number;
  /** Why it could not be checked here, in a few words. */
  readonly unchecked?: string;
}

export interface PartOptions {
  /** Decides every choice that is not the machine's. */
  readonly seed: number;
  /** The long form takes minutes to hours, the short one seconds to minutes. */
  readonly long: boolean;
  readonly log: (line: string) => void;
}
