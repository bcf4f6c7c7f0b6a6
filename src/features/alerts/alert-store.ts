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
  /** Counts failures up to `throughMs`. Those before `earliestMs`, and all of the first call, count as notified. */
  recordAlerts(earliestMs: number, throughMs: number): Promise<void>;
  /** Claims alerts of accounts not notified of the kind since `notifiedBeforeMs`, each for one caller. */
  claimAlerts(notifiedBeforeMs: number, limit: number, nowMs: number): Promise<readonly Alert[]>;
  returnAlert(alert: Alert): Promise<void>;
}
