/** Kinds of alerts. `webhooks`: failed, blocked or unknown deliveries. `payments`: payments that need attention. */
export const alertKinds = ['webhooks', 'payments'] as const;
export type AlertKind = (typeof alertKinds)[number];

/** Number of failures in an account since its owners were last notified. */
export interface Alert {
  readonly accountId: string;
  readonly kind: AlertKind;
  readonly count: number;
  readonly sinceMs: number;
  /** Time of the last notification to the owners; 0 if they were never notified. */
  readonly notifiedAtMs: number;
}

export interface AlertStore {
  /** Counts new failures up to `throughMs`. Ignores failures before `earliestMs`, and in the first call, all. */
  recordAlerts(earliestMs: number, throughMs: number): Promise<void>;
  /** Claims alerts whose last notification precedes `notifiedBeforeMs`. Only one caller gets each alert. */
  claimAlerts(notifiedBeforeMs: number, limit: number, nowMs: number): Promise<readonly Alert[]>;
  returnAlert(alert: Alert): Promise<void>;
}
