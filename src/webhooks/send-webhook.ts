/** A webhook's body and its single attempt: each webhook is sent at most once, and never retried. */
import type { IpnTokens } from '../payment/ipn-token.ts';
import type { PaymentId } from '../payment/payment.ts';
import type { NewWebhook } from '../payment/payment-events.ts';
import type { SecretBox } from '../platform/secret-box.ts';
import { annotate, trace } from '../platform/tracing.ts';
import type { DeliverWebhook, DeliveryOutcome } from './delivery-types.ts';
import { eventIdOf, signWebhook, standardHeaders } from './webhook-signatures.ts';

/** `sending` is committed before the socket opens; after a crash it becomes `unknown` and is never sent again. */
export type WebhookStatus = 'pending' | 'sending' | DeliveryOutcome['outcome'];

/** A stored webhook. `webhookIdOf` derives its id from payment and event. */
export interface Webhook extends NewWebhook {
  readonly id: string;
  readonly accountId: string;
  readonly paymentId: PaymentId;
  readonly url: string;
  /** Host of the URL, without the port. */
  readonly host: string;
  readonly tokenFingerprint: string;
  readonly sealedSecrets: readonly string[];
  readonly status: WebhookStatus;
  readonly createdAtMs: number;
  readonly claimedAtMs: number | null;
  readonly result: WebhookResult | null;
}

/** A `pending` webhook, with the fields by which the sender chooses. */
export type WaitingWebhook = Pick<Webhook, 'id' | 'accountId' | 'host' | 'createdAtMs'>;

export function webhookIdOf(paymentId: PaymentId, event: NewWebhook['event']): string {
  return `${paymentId}:${event}`;
}

/** Host of a callback, for counting deliveries. Never throws, because it runs while a payment becomes paid. */
export function hostOfCallback(callbackUrl: string): string {
  return URL.parse(callbackUrl)?.hostname.replace(/\.$/, '') ?? '';
}

/** Outcome of the single attempt, with the request. */
export interface WebhookResult extends DeliveryOutcome {
  /** Exact body and signature as sent; null if nothing was. */
  readonly body: string | null;
  readonly signature: string | null;
  readonly finishedAtMs: number;
}

export interface ClaimableWebhooks {
  readonly fingerprints: readonly string[];
  /** Webhooks created earlier are claimed with any secret. */
  readonly anyCreatedBeforeMs: number;
}

export interface WebhookStore {
  /** Oldest `perAccount` pending webhooks of each account, except those to these hosts. */
  listWaitingWebhooks(perAccount: number, exceptHosts: readonly string[]): Promise<readonly WaitingWebhook[]>;
  /** Durably marks pending webhooks that this process may send as `sending`; each is claimed once. Oldest first. */
  claimWebhooks(
    ids: readonly string[],
    nowMs: number,
    claimable: ClaimableWebhooks,
  ): Promise<readonly Webhook[]>;
  recordWebhookResult(webhook: Pick<Webhook, 'id'>, result: WebhookResult): Promise<void>;
  /** After a crash: every `sending` webhook claimed before `beforeMs` becomes `unknown` and is never sent again. */
  abandonStaleWebhooks(beforeMs: number): Promise<number>;
  listWebhooks(paymentId: PaymentId): Promise<readonly Webhook[]>;
}

export interface SendWebhooksContext {
  readonly webhooks: WebhookStore;
  readonly tokens: IpnTokens;
  readonly signingSecrets: Pick<SecretBox, 'open'>;
  readonly deliver: DeliverWebhook;
  readonly nowMs: () => number;
  /** Called with every result, for logs and metrics. */
  readonly onResult: (webhook: Webhook, result: WebhookResult) => void;
}

/** Sends one claimed webhook and records every outcome. This service's errors are recorded as well, and then thrown. */
export function sendWebhook(context: SendWebhooksContext, webhook: Webhook): Promise<void> {
  const attributes = { 'card_checkout.payment_id': webhook.paymentId, 'server.address': webhook.host };
  return trace(`webhook ${webhook.event}`, attributes, async () => {
    const { result, mistake } = await attemptDelivery(context, webhook);
    annotate({ 'card_checkout.outcome': result.outcome });
    await context.webhooks.recordWebhookResult(webhook, result);
    context.onResult(webhook, result);
    if (mistake !== undefined) throw mistake;
  });
}

async function attemptDelivery(
  context: SendWebhooksContext,
  webhook: Webhook,
): Promise<{ readonly result: WebhookResult; readonly mistake?: unknown }> {
  const startedAtMs = context.nowMs();
  const timestamp = Math.floor(startedAtMs / 1000);
  const body = JSON.stringify({ ...webhook.fields, timestamp });
  let signature: string | null = null;
  let reason = 'event_unreadable';
  try {
    if (Object.keys(webhook.fields).length === 0)
      throw new Error(`${webhook.id} has no fields that can be read`);
    reason = 'signing_key_missing';
    signature = signWebhook(body, context.tokens.create(webhook.paymentId, webhook.tokenFingerprint));
    const sent = { id: eventIdOf(webhook.paymentId, webhook.event), timestamp, body };
    const headers = standardHeaders(context.signingSecrets, webhook, sent);
    const delivery = await context.deliver({ url: webhook.url, body, signature, headers });
    const { outcome, httpStatus, durationMs, responseExcerpt } = delivery;
    const ending = { outcome, httpStatus, reason: delivery.reason, durationMs, responseExcerpt };
    return { result: { ...ending, body, signature, finishedAtMs: context.nowMs() } };
  } catch (mistake) {
    // An unsigned event was not sent; after signing, the delivery is unknown.
    const ending =
      signature === null
        ? { outcome: 'failed' as const, reason, body: null }
        : { outcome: 'unknown' as const, reason: 'internal_error', body };
    const finishedAtMs = context.nowMs();
    const durationMs = finishedAtMs - startedAtMs;
    return {
      result: { ...ending, httpStatus: null, durationMs, responseExcerpt: '', signature, finishedAtMs },
      mistake,
    };
  }
}
