import type { Webhook, WebhookStore } from '../../src/webhooks/send-webhook.ts';

/** For a process that may claim each webhook. */
export const withAnySecret = { fingerprints: [], anyCreatedBeforeMs: Number.MAX_SAFE_INTEGER };

/** Claims the oldest webhooks of all accounts, as many as there are up to the limit. */
export async function claimOldest(
  webhooks: WebhookStore,
  limit: number,
  nowMs: number,
): Promise<readonly Webhook[]> {
  const waiting = await webhooks.listWaitingWebhooks(limit, []);
  const oldest = waiting.toSorted(
    (one, other) => one.createdAtMs - other.createdAtMs || (one.id < other.id ? -1 : 1),
  );
  return webhooks.claimWebhooks(
    oldest.slice(0, limit).map(({ id }) => id),
    nowMs,
    withAnySecret,
  );
}
