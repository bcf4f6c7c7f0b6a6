/** Kinds of alerts. `webhooks`: failed, blocked or unknown deliveries. `payments`: money that needs attention. */
export const alertKinds = ['webhooks', 'payments'] as const;
export type AlertKind = (typeof alertKinds)[number];

/** Failures in an account since its owners were last notified. */
export interface Alert {
  readonly accountId: string;
  readonly kind: AlertKind;
  readonly count: number;
  readonly sinceMs: number;
  /** Time of the last notification to the owners; 0 for never. */
  readonly notifiedAtMs: number;
}

export interface AlertStore {
  /** Counts failures until `throughMs`. Those before `earliestMs` and all of the first call count as notified. */
  recordAlerts(earliestMs: number, throughMs: number): Promise<void>;
  /** Claims alerts of accounts not notified of this kind since `notifiedBeforeMs`. Only one caller gets each. */
  claimAlerts(notifiedBeforeMs: number, limit: number, nowMs: number): Promise<readonly Alert[]>;
  returnAlert(alert: Alert): Promise<void>;
}
