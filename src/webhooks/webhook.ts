import { createHmac } from 'node:crypto';
import type { PaymentId } from '../payment/payment.ts';
import type { NewWebhook } from '../payment/payment-events.ts';
import type { DeliveryOutcome } from './callback-guard.ts';

/**
 * The life of a webhook: pending → sending → delivered | failed | blocked | unknown.
 * `sending` is committed before the socket opens; what a crash leaves in `sending` becomes `unknown` and is never
 * sent again: an event is sent at most once.
 */
export type WebhookStatus = 'pending' | 'sending' | 'delivered' | 'failed' | 'blocked' | 'unknown';

/** A webhook as it is stored. Its id is `webhookIdOf` its payment and event. */
export interface Webhook extends NewWebhook {
  readonly id: string;
  readonly accountId: string;
  readonly paymentId: PaymentId;
  readonly url: string;
  /** Host of the URL, without the port. */
  readonly host: string;
  readonly tokenFingerprint: string;
  readonly status: WebhookStatus;
  readonly createdAtMs: number;
  readonly claimedAtMs: number | null;
  readonly result: WebhookResult | null;
}

/** A `pending` webhook, with the fields by which the sender chooses. */
export type WaitingWebhook = Pick<Webhook, 'id' | 'accountId' | 'host' | 'createdAtMs'>;

/** The id of a payment's webhook: each event exists once. */
export function webhookIdOf(paymentId: PaymentId, event: NewWebhook['event']): string {
  return `${paymentId}:${event}`;
}

/** The host that a callback leads to, for counting deliveries; never throws, because a payment is paid meanwhile. */
export function hostOfCallback(callbackUrl: string): string {
  return URL.parse(callbackUrl)?.hostname.replace(/\.$/, '') ?? '';
}

/** Outcome of the one attempt, with what was sent. */
export interface WebhookResult extends DeliveryOutcome {
  /** The exact body and signature that were sent; null when nothing was. */
  readonly body: string | null;
  readonly signature: string | null;
  readonly finishedAtMs: number;
}

const USER_AGENT = 'card-checkout-webhook/1';

/** The signature of a webhook: hex HMAC-SHA256 of the raw body under the payment's ipn_token. */
export function signWebhook(body: string, ipnToken: string): string {
  return createHmac('sha256', ipnToken).update(body).digest('hex');
}

/** The headers of a webhook, exactly as they are sent; `hostname` without brackets. */
export function webhookHeaders(
  { hostname, port }: { readonly hostname: string; readonly port: number },
  bodyBytes: number,
  signature: string | null,
): Readonly<Record<string, string>> {
  const host = hostname.includes(':') ? `[${hostname}]` : hostname;
  return {
    Host: port === 443 ? host : `${host}:${port}`,
    'User-Agent': USER_AGENT,
    'Content-Type': 'application/json',
    'Content-Length': String(bodyBytes),
    ...(signature === null ? {} : { 'X-Service-Signature': signature }),
    Connection: 'close',
  };
}

/** Webhooks that a process may claim. */
export interface ClaimableWebhooks {
  /** Fingerprints of the secrets with which it can sign. */
  readonly fingerprints: readonly string[];
  /** Webhooks created earlier are claimed with any secret. */
  readonly anyCreatedBeforeMs: number;
}

export interface WebhookStore {
  /**
   * Oldest `perAccount` pending webhooks of each account, except those to these hosts. One account's backlog does not
   * hide another's webhooks.
   */
  listWaitingWebhooks(perAccount: number, exceptHosts: readonly string[]): Promise<readonly WaitingWebhook[]>;
  /**
   * Durably moves pending webhooks that this process may send to `sending` and returns them, oldest first. Each is
   * claimed once.
   */
  claimWebhooks(
    ids: readonly string[],
    nowMs: number,
    claimable: ClaimableWebhooks,
  ): Promise<readonly Webhook[]>;
  /** Records the result of the single attempt. */
  recordWebhookResult(webhook: Pick<Webhook, 'id'>, result: WebhookResult): Promise<void>;
  /** After a crash: every `sending` webhook claimed before `beforeMs` becomes `unknown` and is never sent again. */
  abandonStaleWebhooks(beforeMs: number): Promise<number>;
  listWebhooks(paymentId: PaymentId): Promise<readonly Webhook[]>;
}
