/** Source of time, injected so that tests can control it. */
export interface Clock {
  /** Returns the wall-clock time, in milliseconds since 1970. */
  nowMs(): number;
  /** Returns milliseconds since an arbitrary start, for measuring durations. Never decreases. */
  monotonicMs(): number;
}
