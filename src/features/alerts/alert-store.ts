/** `webhooks`: events that did not arrive or whose delivery is unknown. `payments`: money that needs attention. */
export const alertKinds = ['webhooks', 'payments'] as const;
export type AlertKind = (typeof alertKinds)[number];

/** Failures in an account since its owners were last notified. */
export interface Alert {
  readonly accountId: string;
  readonly kind: AlertKind;
  readonly count: number;
  readonly sinceMs: number;
  /** Time of the owners' last notification; 0 for never. */
  readonly notifiedAtMs: number;
}

export interface AlertStore {
  /**
   * Counts failures since the last call and no later than `throughMs`, ignoring those before `earliestMs`. Those found
   * by the first call are old, and count as notified.
   */
  recordAlerts(earliestMs: number, throughMs: number): Promise<void>;
  /**
   * Claims alerts of accounts whose owners were notified of the kind before `notifiedBeforeMs` or never, each for one
   * caller.
   */
  claimAlerts(notifiedBeforeMs: number, limit: number, nowMs: number): Promise<readonly Alert[]>;
  /** Returns a claimed alert for which no mail was sent. */
  returnAlert(alert: Alert): Promise<void>;
}
