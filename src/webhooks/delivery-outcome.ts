/**
 * What became of the one attempt to deliver a webhook.
 *
 * - `delivered`: a final 2xx status arrived.
 * - `failed`: nothing was sent, or the receiver answered with something else than 2xx.
 * - `blocked`: we refused to connect; nothing was sent.
 * - `unknown`: the body may have arrived, but no answer came; it is never sent again.
 */
export type DeliveryOutcomeName = 'delivered' | 'failed' | 'blocked' | 'unknown';

/** Stable short codes for logs, pages and metrics. */
export type DeliveryReason =
  // blocked: before any socket
  | 'blocked_url'
  | 'blocked_address'
  | 'blocked_own_address'
  // failed: before the body was sent
  | 'dns_failed'
  | 'dns_timeout'
  | 'connect_failed'
  | 'connect_refused'
  | 'connect_timeout'
  | 'tls_expired'
  | 'tls_failed'
  | 'tls_not_yet_valid'
  | 'tls_self_signed'
  | 'tls_timeout'
  | 'tls_untrusted'
  | 'tls_version'
  | 'tls_wrong_host'
  // failed: an answer that is not 2xx, or no HTTP answer at all
  | `http_${number}`
  | 'invalid_response'
  | 'response_headers_too_large'
  | 'too_many_interim_responses'
  // unknown: the body was sent
  | 'no_response'
  | 'reset'
  | 'timeout';

export interface DeliveryOutcome {
  readonly outcome: DeliveryOutcomeName;
  /** The final status, also when it is no success; null when none arrived. */
  readonly httpStatus: number | null;
  /** Null when delivered. */
  readonly reason: DeliveryReason | null;
  readonly durationMs: number;
  /** Bytes of the answer's body that were read, at most 64 KiB. */
  readonly responseBytes: number;
  /** The beginning of the answer's body for the log: at most 1 KiB, unprintable characters as dots. */
  readonly responseExcerpt: string;
}

/** Thrown inside a delivery when it ends without an HTTP answer; `deliverWebhook` turns it into an outcome. */
export class DeliveryStopped extends Error {
  override readonly name = 'DeliveryStopped';
  readonly outcome: Exclude<DeliveryOutcomeName, 'delivered'>;
  readonly reason: DeliveryReason;

  constructor(outcome: Exclude<DeliveryOutcomeName, 'delivered'>, reason: DeliveryReason, cause?: unknown) {
    super(`delivery ${outcome}: ${reason}`, cause === undefined ? {} : { cause });
    this.outcome = outcome;
    this.reason = reason;
  }
}
