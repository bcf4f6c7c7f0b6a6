import {
  chooseWebhooks,
  type DeliveryBounds,
  fullHosts,
  type OpenDelivery,
} from '../domain/choose-webhooks.ts';
import type { WebhookStore } from '../domain/ports/webhook-store.ts';
import type { Webhook } from '../domain/webhook.ts';

/** How many waiting webhooks of an account are looked at in one pass; the next pass follows at once. */
const SEEN_PER_ACCOUNT = 100;

/** What one pass has claimed. */
export interface ClaimedWebhooks {
  readonly claimed: readonly Webhook[];
  /** Whether others wait, or may wait, for a place: look again when a delivery has ended. */
  readonly isHeldUp: boolean;
}

/** Claims what may be sent now beside these open deliveries; durably, before anything of it is sent. */
export async function claimWebhooks(
  webhooks: WebhookStore,
  open: readonly OpenDelivery[],
  bounds: DeliveryBounds,
  nowMs: () => number,
): Promise<ClaimedWebhooks> {
  const full = fullHosts(open, bounds);
  const waiting = await webhooks.listWaitingWebhooks(SEEN_PER_ACCOUNT, full);
  const chosen = chooseWebhooks(waiting, open, bounds).map(({ id }) => id);
  // The time of the claim, not of the look: from it on is counted when a delivery was given up.
  const claimed = chosen.length === 0 ? [] : await webhooks.claimWebhooks(chosen, nowMs());
  return { claimed, isHeldUp: full.length > 0 || chosen.length < waiting.length };
}
