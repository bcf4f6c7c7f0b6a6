export interface CallbackGuard {
  /** Returns the rule that a URL breaks ("must begin with https://"), or null if it is accepted. */
  refusalOf(callback: unknown): Promise<string | null>;
}

/**
 * - `delivered`: a final 2xx status arrived.
 * - `failed`: the body was not sent, or the receiver did not respond with an acceptable 2xx.
 * - `blocked`: this service refused to connect; nothing was sent.
 * - `unknown`: the body may have arrived, but there was no response; it is never sent again.
 */
export const deliveryOutcomes = ['delivered', 'failed', 'blocked', 'unknown'] as const;

export interface DeliveryOutcome {
  readonly outcome: (typeof deliveryOutcomes)[number];
  /** Final HTTP status, even if unsuccessful; null if there is none. */
  readonly httpStatus: number | null;
  /** Stable short code of the failure ("http_302", "timeout"); null if delivered. */
  readonly reason: string | null;
  readonly durationMs: number;
  /** Start of the response body for the merchant's log, at most 1 KiB, with dots for unprintable characters. */
  readonly responseExcerpt: string;
}

/** Finding about an endpoint, with a remedy unless `ok`. Events may arrive with `warn`, but never with `fail`. */
export interface EndpointStep {
  readonly name: string;
  readonly level: 'ok' | 'warn' | 'fail';
  readonly detail: string;
}

/** Tests an endpoint with a request that carries no event, within the time limit of a delivery. */
export type CheckEndpoint = (url: string) => Promise<readonly EndpointStep[]>;

export interface WebhookDelivery {
  /** Callback URL as given at creation. */
  readonly url: string;
  /** Signed text, sent as UTF-8. */
  readonly body: string;
  /** Hex HMAC-SHA256 of the body's exact bytes, for `X-Service-Signature`; null for a request without an event. */
  readonly signature: string | null;
  readonly headers?: Readonly<Record<string, string>>;
  /** Time limit for DNS, TCP, TLS, request and response together. Default 10,000, as specified. */
  readonly timeoutMs?: number;
}

/** Makes the single attempt to send a signed body to a callback. Never rejects because of the receiver or network. */
export type DeliverWebhook = (
  delivery: WebhookDelivery & { readonly signature: string },
) => Promise<DeliveryOutcome>;
