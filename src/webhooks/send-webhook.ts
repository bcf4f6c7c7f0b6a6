/** Sends webhooks. Each one is attempted at most once, and never retried. */
import type { IpnTokens } from '../payment/ipn-token.ts';
import type { PaymentId } from '../payment/payment.ts';
import type { NewWebhook } from '../payment/payment-events.ts';
import type { SecretBox } from '../platform/secret-box.ts';
import { annotate, trace } from '../platform/tracing.ts';
import type { DeliverWebhook, DeliveryOutcome } from './delivery-types.ts';
import { eventIdOf, signWebhook, standardHeaders } from './webhook-signatures.ts';

/** Status of a webhook. `sending` is committed before the socket opens, and becomes `unknown` after a crash. */
export type WebhookStatus = 'pending' | 'sending' | DeliveryOutcome['outcome'];

/** Stored webhook. `webhookIdOf` derives its id from the payment and the event. */
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

/** Fields of a `pending` webhook by which the queue chooses what to send next. */
export type WaitingWebhook = Pick<Webhook, 'id' | 'accountId' | 'host' | 'createdAtMs'>;

export function webhookIdOf(paymentId: PaymentId, event: NewWebhook['event']): string {
  return `${paymentId}:${event}`;
}

/** Returns a callback's host, or '' for an invalid URL. Never throws, because the payment must still become paid. */
export function hostOfCallback(callbackUrl: string): string {
  return URL.parse(callbackUrl)?.hostname.replace(/\.$/, '') ?? '';
}

/** Outcome of the single attempt, with the signed request. */
export interface WebhookResult extends DeliveryOutcome {
  /** Exact body and signature; null if the event could not be signed. */
  readonly body: string | null;
  readonly signature: string | null;
  readonly finishedAtMs: number;
}

export interface ClaimableWebhooks {
  readonly fingerprints: readonly string[];
  /** Webhooks created before this time are claimed even if their secret is unknown here. */
  readonly anyCreatedBeforeMs: number;
}

export interface WebhookStore {
  /** Lists the oldest pending webhooks of each account, at most `perAccount`, without those to `exceptHosts`. */
  listWaitingWebhooks(perAccount: number, exceptHosts: readonly string[]): Promise<readonly WaitingWebhook[]>;
  /** Durably marks pending webhooks as `sending`, each only once. Returns the marked ones, oldest first. */
  claimWebhooks(
    ids: readonly string[],
    nowMs: number,
    claimable: ClaimableWebhooks,
  ): Promise<readonly Webhook[]>;
  recordWebhookResult(webhook: Pick<Webhook, 'id'>, result: WebhookResult): Promise<void>;
  /** Turns webhooks that a crash left `sending` into `unknown` if claimed before `beforeMs`. Returns their number. */
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

/** Sends a claimed webhook and records its outcome. Errors in this service are recorded too, and then thrown. */
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
    // An event without a signature was not sent. A signed one may have arrived.
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
