/** How much is measured. */
export interface Extent {
  readonly rounds: number;
  /** Of load, for each run of a round. */
  readonly seconds: number;
  /** Of load that is not measured, after a server was woken for its turn. */
  readonly wakeUpSeconds: number;
  /** Of one run of warming up; there are as many as it takes to send `warmUpRequests`. */
  readonly warmUpSeconds: number;
  readonly warmUpRequests: number;
  /** Posts of each sender, for each run of a round. */
  readonly webhooks: number;
  /** Blocks with 4,000 logs each that a round scans. */
  readonly scannedPages: number;
  /** At least 2,000: the blocks to finality at the end count in the whole run, and less so with more payments. */
  readonly settledPayments: number;
  /** Creates of the store alone, for each round. */
  readonly storedCreates: number;
  /** How often each list, search and statistic is asked for. */
  readonly questions: number;
  /** Payments that are settled one after the other. */
  readonly timedPayments: number;
  /** Starts of a service with a million payments. */
  readonly starts: number;
  /** After a start, until its memory is read. */
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
  // Long enough for the watcher, the sweep and the collector of garbage to have had their turns.
  idleSeconds: 10,
  storedPayments: 1_000_000,
};

/** Runs every part once: its figures say nothing. Part of `npm run test:all`. */
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
