import { createHmac } from 'node:crypto';
import type { IpnTokens } from '../domain/ipn-token.ts';
import type { DeliverWebhook } from '../domain/ports/callback-guard.ts';
import type { WebhookStore } from '../domain/ports/webhook-store.ts';
import type { Webhook, WebhookResult } from '../domain/webhook.ts';

export interface SendWebhooksContext {
  readonly webhooks: WebhookStore;
  readonly tokens: IpnTokens;
  readonly deliver: DeliverWebhook;
  readonly nowMs: () => number;
  /** Told of every ending, for logs and metrics. */
  readonly onResult: (webhook: Webhook, result: WebhookResult) => void;
}

/** The signature of a webhook: hex HMAC-SHA256 of the raw body under the payment's ipn_token. */
function signWebhook(body: string, ipnToken: string): string {
  return createHmac('sha256', ipnToken).update(body).digest('hex');
}

/**
 * Sends one claimed webhook: the claim is durable before this runs, and whatever happens ends in a result, so an
 * event is sent at most once.
 */
export async function sendWebhook(context: SendWebhooksContext, webhook: Webhook): Promise<void> {
  const sentAtMs = context.nowMs();
  const ipnToken = context.tokens.create(webhook.paymentId, webhook.tokenFingerprint);
  const body = JSON.stringify({ ...webhook.fields, timestamp: Math.floor(sentAtMs / 1000) });
  const signature = signWebhook(body, ipnToken);
  const delivery = await context.deliver({ url: webhook.url, body, signature });
  const result: WebhookResult = {
    outcome: delivery.outcome,
    httpStatus: delivery.httpStatus,
    reason: delivery.reason,
    durationMs: delivery.durationMs,
    responseExcerpt: delivery.responseExcerpt,
    body,
    signature,
    finishedAtMs: context.nowMs(),
  };
  await context.webhooks.recordWebhookResult(webhook.id, result);
  context.onResult(webhook, result);
}
