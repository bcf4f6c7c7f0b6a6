/** Time, injected so that tests can move it. */
export interface Clock {
  /** Wall clock, milliseconds since 1970. */
  nowMs(): number;
  /** Never goes back; for windows and durations. Milliseconds from an arbitrary start. */
  monotonicMs(): number;
}
