import type { WaitingWebhook, Webhook } from './webhook.ts';

/** How many deliveries may be open at a time in one process. */
export interface DeliveryBounds {
  readonly open: number;
  /** To one host, so that nobody is flooded by us, and a host that hangs holds no more than this. */
  readonly openPerHost: number;
}

/** A delivery that is open, as far as it counts against the bounds. */
export type OpenDelivery = Pick<Webhook, 'accountId' | 'host'>;

/**
 * Which of the waiting webhooks may be sent now, so that no receiver and no account keeps the others waiting.
 *
 * An account gets another place only while it holds fewer than are free. So one whose receivers all hang takes half of
 * them at the most, and the next one half of the rest: whoever comes then need not wait until somebody gives up. Two that
 * come together take a third each. Whoever holds least comes first, then the oldest.
 *
 * @param waiting the oldest of each account
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

/** Hosts that may get no other delivery now. There are at most `open / openPerHost` of them. */
export function fullHosts(open: readonly OpenDelivery[], { openPerHost }: DeliveryBounds): string[] {
  const byHost = new Map<string, number>();
  for (const { host } of open) byHost.set(host, held(byHost, host) + 1);
  return [...byHost].filter(([, places]) => places >= openPerHost).map(([host]) => host);
}

/** Each with the number of places that its account would hold before it, the smallest first. */
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
