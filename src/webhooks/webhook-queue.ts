/** Chooses the webhooks to send next. Each is durably claimed before it is sent, so it is sent at most once. */
import type { SendWebhooksContext, WaitingWebhook, Webhook } from './send-webhook.ts';

export const WEBHOOK_INTERVAL_MS = 1_000;

/** Maximum waiting webhooks per account that a pass considers. The next pass follows immediately. */
const SEEN_PER_ACCOUNT = 100;

/** Time for which a webhook whose secret is missing here is left to other processes. Then it is claimed and fails. */
const LEFT_TO_OTHERS_MS = 10 * 60_000;

/** Time after which a claimed webhook counts as abandoned. Far exceeds a delivery's duration and clock differences. */
export const STALE_AFTER_MS = 120_000;

/** Durably claims webhooks that may be sent now. `hasBacklog`: others may become sendable when a delivery ends. */
export async function claimWebhooks(
  { webhooks, tokens, nowMs }: Pick<SendWebhooksContext, 'webhooks' | 'tokens' | 'nowMs'>,
  open: readonly OpenDelivery[],
  bounds: DeliveryBounds,
) {
  const full = fullHosts(open, bounds);
  const waiting = await webhooks.listWaitingWebhooks(SEEN_PER_ACCOUNT, full);
  const chosen = chooseWebhooks(waiting, open, bounds).map(({ id }) => id);
  const hasBacklog = full.length > 0 || chosen.length < waiting.length;
  if (chosen.length === 0) return { claimed: [], hasBacklog };
  // Reads the clock after the query, because the time until a webhook counts as abandoned starts with the claim.
  const claimedAtMs = nowMs();
  const claimed = await webhooks.claimWebhooks(chosen, claimedAtMs, {
    fingerprints: tokens.fingerprints,
    anyCreatedBeforeMs: claimedAtMs - LEFT_TO_OTHERS_MS,
  });
  return { claimed, hasBacklog };
}

export interface DeliveryBounds {
  readonly open: number;
  /** Maximum open deliveries to one host. Limits both the load on the host and the slots that it can block. */
  readonly openPerHost: number;
}

/** Maximum open deliveries. A slow receiver holds a slot until its delivery times out. */
export const deliveryBounds: DeliveryBounds = { open: 2_000, openPerHost: 100 };

export type OpenDelivery = Pick<Webhook, 'accountId' | 'host'>;

/**
 * Chooses which of the accounts' oldest webhooks may be sent now, so that no receiver and no account delays the others.
 * An account gets another slot only while it holds fewer slots than are free, so one account takes at most half of
 * them. The account with the fewest slots comes first, then the oldest webhook.
 */
export function chooseWebhooks(
  waiting: readonly WaitingWebhook[],
  open: readonly OpenDelivery[],
  bounds: DeliveryBounds,
): WaitingWebhook[] {
  const byAccount = new Map<string, number>();
  const byHost = new Map<string, number>();
  let free = bounds.open;
  const take = ({ accountId, host }: OpenDelivery) => {
    byAccount.set(accountId, held(byAccount, accountId) + 1);
    byHost.set(host, held(byHost, host) + 1);
    free--;
  };
  for (const delivery of open) take(delivery);
  return inTurn(waiting, byAccount).filter((webhook) => {
    const isFree =
      held(byAccount, webhook.accountId) < free && held(byHost, webhook.host) < bounds.openPerHost;
    if (isFree) take(webhook);
    return isFree;
  });
}

/** Returns the hosts that must not get another delivery now, at most `open / openPerHost` of them. */
export function fullHosts(open: readonly OpenDelivery[], { openPerHost }: DeliveryBounds): string[] {
  const byHost = new Map<string, number>();
  for (const { host } of open) byHost.set(host, held(byHost, host) + 1);
  return [...byHost].filter(([, places]) => places >= openPerHost).map(([host]) => host);
}

/** Sorts webhooks by the number of slots that their account would already hold, then by age. */
function inTurn(
  waiting: readonly WaitingWebhook[],
  byAccount: ReadonlyMap<string, number>,
): WaitingWebhook[] {
  const places = new Map(byAccount);
  return waiting
    .toSorted((one, other) => one.createdAtMs - other.createdAtMs || (one.id < other.id ? -1 : 1))
    .map((webhook) => {
      const place = held(places, webhook.accountId);
      places.set(webhook.accountId, place + 1);
      return { webhook, place };
    })
    .sort((one, other) => one.place - other.place)
    .map(({ webhook }) => webhook);
}

function held(places: ReadonlyMap<string, number>, of: string): number {
  return places.get(of) ?? 0;
}
