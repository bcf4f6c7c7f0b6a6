/** Chooses the webhooks to send next. Each is sent at most once, and never retried: its claim is durable first. */
import type { SendWebhooksContext, WaitingWebhook, Webhook } from './send-webhook.ts';

export const WEBHOOK_INTERVAL_MS = 1_000;

/** Maximum waiting webhooks per account that one pass considers; the next pass follows immediately. */
const SEEN_PER_ACCOUNT = 100;

/** Time during a change of secrets in which other processes may sign a webhook that this one cannot; then it fails. */
const LEFT_TO_OTHERS_MS = 10 * 60_000;

/** Time after which a claimed webhook counts as abandoned, far above a delivery's duration and clock differences. */
export const STALE_AFTER_MS = 120_000;

/** Durably claims webhooks that may be sent now. `hasBacklog`: check again when a delivery ends. */
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
  // Time of the claim rather than of the check, because a delivery's time limit counts from it.
  const claimedAtMs = nowMs();
  const claimed = await webhooks.claimWebhooks(chosen, claimedAtMs, {
    fingerprints: tokens.fingerprints,
    anyCreatedBeforeMs: claimedAtMs - LEFT_TO_OTHERS_MS,
  });
  return { claimed, hasBacklog };
}

export interface DeliveryBounds {
  readonly open: number;
  /** Maximum open deliveries to one host, to limit both the load on it and the slots that it can block. */
  readonly openPerHost: number;
}

/** Maximum open deliveries. A slow receiver holds a slot until its delivery times out. */
export const deliveryBounds: DeliveryBounds = { open: 2_000, openPerHost: 100 };

export type OpenDelivery = Pick<Webhook, 'accountId' | 'host'>;

/**
 * Waiting webhooks (the oldest of each account) that may be sent now, so that no receiver and no account delays the
 * others. An account gets another slot only while it holds fewer than are free, so receivers that hang take at most
 * half of them. The account that holds the fewest comes first, then the oldest webhook.
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

/** Hosts that must not get another delivery now, at most `open / openPerHost`. */
export function fullHosts(open: readonly OpenDelivery[], { openPerHost }: DeliveryBounds): string[] {
  const byHost = new Map<string, number>();
  for (const { host } of open) byHost.set(host, held(byHost, host) + 1);
  return [...byHost].filter(([, places]) => places >= openPerHost).map(([host]) => host);
}

/** Sorts webhooks by the slots that their account would hold before each. */
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
