/** Who of several processes does what only one of them should do at a time. */
export interface LeaseStore {
  /**
   * Takes a lease that is free or has ended, or renews one's own: it then lasts `durationMs` from now on, by the
   * store's own clock. False while another holder has it.
   */
  takeLease(name: string, holder: string, durationMs: number): Promise<boolean>;
  /** Ends one's own lease, so that another can take it at once. */
  releaseLease(name: string, holder: string): Promise<void>;
}
