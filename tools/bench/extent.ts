/** Amount of work per measurement. */
export interface Extent {
  readonly rounds: number;
  /** Duration of a measured run of load. */
  readonly seconds: number;
  /** Duration of unmeasured load after a server is resumed. */
  readonly wakeUpSeconds: number;
  /** Duration of one warm-up run, repeated until `warmUpRequests` are sent. */
  readonly warmUpSeconds: number;
  readonly warmUpRequests: number;
  /** Posts per sender and run. */
  readonly webhooks: number;
  /** Blocks per round, with 4,000 logs each. */
  readonly scannedPages: number;
  /** At least 2,000, because more payments reduce the weight of the final wait for finality. */
  readonly settledPayments: number;
  readonly storedCreates: number;
  /** Reads of each list, search and statistic. */
  readonly questions: number;
  /** Payments that are settled one at a time. */
  readonly timedPayments: number;
  /** Starts of a service with a million payments. */
  readonly starts: number;
  /** Delay between a start and the reading of its memory. */
  readonly idleSeconds: number;
  /** Payments of the large store, a tenth of them open. */
  readonly storedPayments: number;
}

export const fullExtent: Extent = {
  rounds: 8,
  seconds: 2,
  wakeUpSeconds: 1,
  warmUpSeconds: 1,
  warmUpRequests: 80_000,
  webhooks: 1_500,
  scannedPages: 10,
  settledPayments: 4_000,
  timedPayments: 8,
  storedCreates: 12_800,
  questions: 9,
  starts: 8,
  // Long enough for the watcher, the sweep and garbage collection to run.
  idleSeconds: 10,
  storedPayments: 1_000_000,
};

/** Runs every part once, without meaningful figures. Part of `npm run test:all`. */
export const shortExtent: Extent = {
  rounds: 1,
  seconds: 0.2,
  wakeUpSeconds: 0.1,
  warmUpSeconds: 0.1,
  warmUpRequests: 1,
  webhooks: 20,
  scannedPages: 1,
  settledPayments: 20,
  timedPayments: 1,
  storedCreates: 64,
  questions: 1,
  starts: 1,
  idleSeconds: 0,
  storedPayments: 2_000,
};
