/** Judges callback URLs when a checkout is created. */
export interface CallbackGuard {
  /** Null when the URL is accepted, else how it breaks the rules ("must begin with https://"). */
  refusalOf(callback: unknown): Promise<string | null>;
}

/** The outcome of a webhook's one attempt. */
export interface DeliveryOutcome {
  readonly outcome: 'delivered' | 'failed' | 'blocked' | 'unknown';
  readonly httpStatus: number | null;
  /** A short stable word for what went wrong ("http_302", "timeout"), null when delivered. */
  readonly reason: string | null;
  readonly durationMs: number;
  /** The first printable part of the answer, for the merchant's log. */
  readonly responseExcerpt: string;
}

/** Sends a signed body to a callback, exactly once. Never throws: every ending is an outcome. */
export type DeliverWebhook = (delivery: {
  readonly url: string;
  readonly body: string;
  readonly signature: string;
}) => Promise<DeliveryOutcome>;
