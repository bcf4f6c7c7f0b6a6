import type { PaymentId } from './payment-id.ts';

/**
 * The life of a webhook: pending → sending → delivered | failed | blocked | unknown.
 * `sending` is committed before the socket opens; what a crash leaves in `sending` becomes `unknown` and is never
 * sent again: an event is sent at most once.
 */
export type WebhookStatus = 'pending' | 'sending' | 'delivered' | 'failed' | 'blocked' | 'unknown';

/** A webhook as it is queued, in the transaction that made its payment paid. */
export interface NewWebhook {
  readonly event: 'payment.paid' | 'payment.forwarded';
  /** The body's fields save the timestamp, which is set when the event is sent. */
  readonly fields: Readonly<Record<string, string | boolean | null>>;
}

/** A webhook as it is stored. Its id is `<payment id>:<event>`, so that a second row cannot exist. */
export interface Webhook extends NewWebhook {
  readonly id: string;
  readonly accountId: string;
  readonly paymentId: PaymentId;
  readonly url: string;
  /** Of the URL, without the port; empty for those of before it was kept. */
  readonly host: string;
  readonly tokenFingerprint: string;
  readonly status: WebhookStatus;
  readonly createdAtMs: number;
  readonly claimedAtMs: number | null;
  readonly result: WebhookResult | null;
}

/** One that is `pending`, as far as it takes to choose from many. */
export type WaitingWebhook = Pick<Webhook, 'id' | 'accountId' | 'host' | 'createdAtMs'>;

/** The host that a callback leads to, for counting deliveries; never throws, because a payment is paid meanwhile. */
export function hostOfCallback(callbackUrl: string): string {
  return URL.parse(callbackUrl)?.hostname.replace(/\.$/, '') ?? '';
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
