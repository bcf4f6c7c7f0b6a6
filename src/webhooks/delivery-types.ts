export interface CallbackGuard {
  /** Null for an accepted URL, otherwise the broken rule ("must begin with https://"). */
  refusalOf(callback: unknown): Promise<string | null>;
}

/**
 * - `delivered`: a final 2xx status arrived.
 * - `failed`: the body was not sent, or the receiver did not answer with an acceptable 2xx.
 * - `blocked`: we refused to connect; nothing was sent.
 * - `unknown`: the body may have arrived, but no answer came; it is never sent again.
 */
export const deliveryOutcomes = ['delivered', 'failed', 'blocked', 'unknown'] as const;

export interface DeliveryOutcome {
  readonly outcome: (typeof deliveryOutcomes)[number];
  /** Final status, even an unsuccessful one; null if there is none. */
  readonly httpStatus: number | null;
  /** Short stable code of the failure ("http_302", "timeout"); null if delivered. */
  readonly reason: string | null;
  readonly durationMs: number;
  /** Start of the answer's body for the merchant's log: at most 1 KiB, unprintable characters as dots. */
  readonly responseExcerpt: string;
}

/** One finding about an endpoint, with the remedy unless `ok`. With `warn` events may arrive, with `fail` none can. */
export interface EndpointStep {
  readonly name: string;
  readonly level: 'ok' | 'warn' | 'fail';
  readonly detail: string;
}

/** Tests an endpoint with a request that is not an event, within the time limit of a delivery. */
export type CheckEndpoint = (url: string) => Promise<readonly EndpointStep[]>;

export interface WebhookDelivery {
  /** Callback as supplied at creation. */
  readonly url: string;
  /** The signed text, sent as UTF-8. */
  readonly body: string;
  /** Hex HMAC-SHA256 of exactly these bytes, for `X-Service-Signature`; null for a request that is not an event. */
  readonly signature: string | null;
  readonly headers?: Readonly<Record<string, string>>;
  /** Time limit of the delivery: DNS, TCP, TLS, request and answer. Default 10,000, as specified. */
  readonly timeoutMs?: number;
}

/** Makes the single attempt to send a signed body to a callback. Never rejects because of the receiver or network. */
export type DeliverWebhook = (
  delivery: WebhookDelivery & { readonly signature: string },
) => Promise<DeliveryOutcome>;
