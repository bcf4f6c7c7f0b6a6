import type { PaymentId } from './payment-id.ts';

/**
 * The life of a webhook: pending → sending → delivered | failed | blocked | unknown.
 * `sending` is committed before the socket opens; what a crash leaves in `sending` becomes `unknown` and is never
 * sent again: an event is sent at most once.
 */
export type WebhookStatus = 'pending' | 'sending' | 'delivered' | 'failed' | 'blocked' | 'unknown';

/** A webhook as it is queued, in the transaction that made its payment paid. */
export interface NewWebhook {
  readonly event: 'payment.paid';
  /** The body's fields save the timestamp, which is set when the event is sent. */
  readonly fields: Readonly<Record<string, string | boolean | null>>;
}

/** A webhook as it is stored. Its id is `<payment id>:<event>`, so that a second row cannot exist. */
export interface Webhook extends NewWebhook {
  readonly id: string;
  readonly accountId: string;
  readonly paymentId: PaymentId;
  readonly url: string;
  readonly tokenFingerprint: string;
  readonly status: WebhookStatus;
  readonly createdAtMs: number;
  readonly claimedAtMs: number | null;
  readonly result: WebhookResult | null;
}

/** How its one attempt ended, with what was sent. */
export interface WebhookResult {
  readonly outcome: 'delivered' | 'failed' | 'blocked' | 'unknown';
  readonly httpStatus: number | null;
  readonly reason: string | null;
  readonly durationMs: number;
  readonly responseExcerpt: string;
  /** The exact body and signature that were sent; null when nothing was. */
  readonly body: string | null;
  readonly signature: string | null;
  readonly finishedAtMs: number;
}
