/** A row of the campaign's table. */
export interface PromiseResult {
  readonly promise: string;
  readonly cases: number;
  readonly violations: number;
  /** Why nothing could be said, if that is so. */
  readonly unchecked?: string;
}
