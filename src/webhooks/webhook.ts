import { createHmac } from 'node:crypto';
import type { IpnTokens } from '../payment/ipn-token.ts';
import type { PaymentId } from '../payment/payment.ts';
import type { NewWebhook } from '../payment/payment-events.ts';
import type { Clock } from '../platform/clock.ts';
import type { DeliverWebhook, DeliveryOutcome } from './callback-guard.ts';

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

export interface SendWebhooksContext {
  readonly webhooks: WebhookStore;
  readonly tokens: IpnTokens;
  readonly deliver: DeliverWebhook;
  readonly nowMs: () => number;
  /** Called with every ending, for logs and metrics. */
  readonly onResult: (webhook: Webhook, result: WebhookResult) => void;
}

/**
 * Sends one claimed webhook: the claim is durable before this runs, and whatever happens ends in a result, so an
 * event is sent at most once. A mistake of our own is recorded as well, and then thrown to be seen.
 */
export async function sendWebhook(context: SendWebhooksContext, webhook: Webhook): Promise<void> {
  const { result, mistake } = await attemptDelivery(context, webhook);
  await context.webhooks.recordWebhookResult(webhook, result);
  context.onResult(webhook, result);
  if (mistake !== undefined) throw mistake;
}

async function attemptDelivery(
  context: SendWebhooksContext,
  webhook: Webhook,
): Promise<{ readonly result: WebhookResult; readonly mistake?: unknown }> {
  const startedAtMs = context.nowMs();
  const body = JSON.stringify({ ...webhook.fields, timestamp: Math.floor(startedAtMs / 1000) });
  let signature: string | null = null;
  let reason = 'event_unreadable';
  try {
    if (Object.keys(webhook.fields).length === 0)
      throw new Error(`${webhook.id} has no fields that can be read`);
    reason = 'signing_key_missing';
    signature = signWebhook(body, context.tokens.create(webhook.paymentId, webhook.tokenFingerprint));
    const delivery = await context.deliver({ url: webhook.url, body, signature });
    const { outcome, httpStatus, durationMs, responseExcerpt } = delivery;
    const ending = { outcome, httpStatus, reason: delivery.reason, durationMs, responseExcerpt };
    return { result: { ...ending, body, signature, finishedAtMs: context.nowMs() } };
  } catch (mistake) {
    // An event that was not signed was not sent. Once it was signed, its delivery is unknown.
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

/** Waiting webhooks of an account that one pass reads; the next pass follows at once. */
const SEEN_PER_ACCOUNT = 100;

/**
 * How long a webhook that this process cannot sign is left to the others. While a new secret is introduced, only some of
 * them have it. Afterwards the secret is taken for lost, and the webhook ends as `failed`.
 */
const LEFT_TO_OTHERS_MS = 10 * 60_000;

/**
 * Claims what may be sent now beside these open deliveries; durably, before anything of it is sent. `hasBacklog`: others
 * wait, or may wait, for a place: check again when a delivery has ended.
 */
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
  // The time of the claim, not of the check: the time limit of a delivery counts from it.
  const claimedAtMs = nowMs();
  const claimed = await webhooks.claimWebhooks(chosen, claimedAtMs, {
    fingerprints: tokens.fingerprints,
    anyCreatedBeforeMs: claimedAtMs - LEFT_TO_OTHERS_MS,
  });
  return { claimed, hasBacklog };
}

/** Maximum open deliveries in one process. */
export interface DeliveryBounds {
  readonly open: number;
  /** Maximum open deliveries to one host, so that no host is flooded and one that hangs holds no more than this. */
  readonly openPerHost: number;
}

/** A delivery that is open, as far as it counts against the bounds. */
export type OpenDelivery = Pick<Webhook, 'accountId' | 'host'>;

/**
 * The waiting webhooks that may be sent now, so that no receiver and no account delays the others.
 *
 * An account gets another place only while it holds fewer than are free. So one whose receivers all hang takes at most
 * half of them, and the next one half of the rest: a later account need not wait until a delivery times out. Two
 * accounts at the same time take a third each. The account that holds the fewest comes first, then the oldest webhook.
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

/** Readings kept for one wait, however often it is called. */
const READINGS_IN_A_WAIT = 100;

/**
 * Wall times before which something was left lying for so long: what the wall clock showed that long ago, by the clock
 * that never jumps, and never later than the wall time now less the wait. A wall clock that is put forward by an hour
 * therefore ages nothing by an hour. Null until this process has observed for that long; call it regularly.
 */
export function createStaleCutoff({ nowMs, monotonicMs }: Clock, waitMs: number): () => number | null {
  const readings: { readonly wallMs: number; readonly takenAtMs: number }[] = [];
  return () => {
    const takenAtMs = monotonicMs();
    const wallMs = nowMs();
    const lastMs = readings.at(-1)?.takenAtMs ?? Number.NEGATIVE_INFINITY;
    if (takenAtMs - lastMs >= waitMs / READINGS_IN_A_WAIT) readings.push({ wallMs, takenAtMs });
    // The newest that is old enough comes first.
    while (readings[1] !== undefined && takenAtMs - readings[1].takenAtMs >= waitMs) readings.shift();
    const [oldest] = readings;
    if (oldest === undefined || takenAtMs - oldest.takenAtMs < waitMs) return null;
    return Math.min(oldest.wallMs, wallMs - waitMs);
  };
}
