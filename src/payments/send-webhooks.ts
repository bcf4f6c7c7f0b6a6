import type { IpnTokens } from '../domain/ipn-token.ts';
import type { DeliverWebhook } from '../domain/ports/callback-guard.ts';
import type { WebhookStore } from '../domain/ports/webhook-store.ts';
import type { Webhook, WebhookResult } from '../domain/webhook.ts';
import { signWebhook } from '../domain/webhook-request.ts';

export interface SendWebhooksContext {
  readonly webhooks: WebhookStore;
  readonly tokens: IpnTokens;
  readonly deliver: DeliverWebhook;
  readonly nowMs: () => number;
  /** Told of every ending, for logs and metrics. */
  readonly onResult: (webhook: Webhook, result: WebhookResult) => void;
}

/**
 * Sends one claimed webhook: the claim is durable before this runs, and whatever happens ends in a result, so an
 * event is sent at most once. A mistake of our own is recorded as well, and then thrown to be seen.
 */
export async function sendWebhook(context: SendWebhooksContext, webhook: Webhook): Promise<void> {
  const { result, mistake } = await attempt(context, webhook);
  await context.webhooks.recordWebhookResult(webhook, result);
  context.onResult(webhook, result);
  if (mistake !== undefined) throw mistake;
}

async function attempt(
  context: SendWebhooksContext,
  webhook: Webhook,
): Promise<{ readonly result: WebhookResult; readonly mistake?: unknown }> {
  const startedAtMs = context.nowMs();
  const body = JSON.stringify({ ...webhook.fields, timestamp: Math.floor(startedAtMs / 1000) });
  let signature: string | null = null;
  try {
    signature = signWebhook(body, context.tokens.create(webhook.paymentId, webhook.tokenFingerprint));
    const delivery = await context.deliver({ url: webhook.url, body, signature });
    const { outcome, httpStatus, reason, durationMs, responseExcerpt } = delivery;
    const ending = { outcome, httpStatus, reason, durationMs, responseExcerpt };
    return { result: { ...ending, body, signature, finishedAtMs: context.nowMs() } };
  } catch (mistake) {
    // What was not signed was not sent; of what was signed, nobody knows how far it got.
    const ending =
      signature === null
        ? { outcome: 'failed' as const, reason: 'signing_key_missing', body: null }
        : { outcome: 'unknown' as const, reason: 'internal_error', body };
    const finishedAtMs = context.nowMs();
    const durationMs = finishedAtMs - startedAtMs;
    return {
      result: { ...ending, httpStatus: null, durationMs, responseExcerpt: '', signature, finishedAtMs },
      mistake,
    };
  }
}
