/** One row of the campaign's table. */
export interface PromiseResult {
  /** What is promised, as a sentence for people. */
  readonly promise: string;
  /** How often it was looked at. */
  readonly cases: number;
  /** How often it was not kept; each was said through `log`, with the seed that brings it about again. */
  readonly violations: number;
  /** Why it could not be looked at here, in a few words. */
  readonly unchecked?: string;
}

export interface PartOptions {
  /** Decides every choice that is not the machine's. */
  readonly seed: number;
  /** The long form takes minutes to hours, the short one seconds to minutes. */
  readonly long: boolean;
  /** Says something to whoever watches the campaign. */
  readonly log: (line: string) => void;
}

/** A part of the campaign: tries some promises and says what came of each. Throws only when it cannot run at all. */
export type RunPart = (options: PartOptions) => Promise<readonly PromiseResult[]>;
