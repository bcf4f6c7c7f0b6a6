/** Validates callback URLs when a checkout is created. */
export interface CallbackGuard {
  /** Null when the URL is accepted, else how it breaks the rules ("must begin with https://"). */
  refusalOf(callback: unknown): Promise<string | null>;
}

/** The outcome of a webhook's one attempt. */
export interface DeliveryOutcome {
  /**
   * - `delivered`: a final 2xx status arrived.
   * - `failed`: nothing was sent, or the receiver answered with something else than 2xx.
   * - `blocked`: we refused to connect; nothing was sent.
   * - `unknown`: the body may have arrived, but no answer came; it is never sent again.
   */
  readonly outcome: 'delivered' | 'failed' | 'blocked' | 'unknown';
  /** The final status, also when it is no success; null when none arrived. */
  readonly httpStatus: number | null;
  /** A short stable word for what went wrong ("http_302", "timeout"), null when delivered. */
  readonly reason: string | null;
  readonly durationMs: number;
  /** The beginning of the answer's body for the merchant's log: at most 1 KiB, unprintable characters as dots. */
  readonly responseExcerpt: string;
}

/** One finding about an endpoint, with what to do unless it is `ok`. With `warn` events may arrive, with `fail` none can. */
export interface EndpointStep {
  readonly name: string;
  readonly level: 'ok' | 'warn' | 'fail';
  readonly detail: string;
}

/** Tests an endpoint with a request that is no event; ends within the time of a delivery. */
export type CheckEndpoint = (url: string) => Promise<readonly EndpointStep[]>;

/** Sends a signed body to a callback, exactly once. Never throws: every ending is an outcome. */
export type DeliverWebhook = (delivery: {
  readonly url: string;
  readonly body: string;
  readonly signature: string;
}) => Promise<DeliveryOutcome>;
