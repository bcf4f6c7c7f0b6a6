import { createHmac } from 'node:crypto';
import type { IpnTokens } from '../payment/ipn-token.ts';
import type { PaymentId } from '../payment/payment.ts';
import type { NewWebhook } from '../payment/payment-events.ts';
import type { Clock } from '../platform/clock.ts';
import type { DeliverWebhook, DeliveryOutcome } from './delivery-types.ts';

/**
 * Life of a webhook: pending → sending → delivered | failed | blocked | unknown. `sending` is committed before the
 * socket opens; after a crash it becomes `unknown` and is never sent again, because an event is sent at most once.
 */
export type WebhookStatus = 'pending' | 'sending' | 'delivered' | 'failed' | 'blocked' | 'unknown';

/** A webhook as stored. Its id is `webhookIdOf` its payment and event. */
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

/** Id of a payment's webhook, unique per event. */
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

const USER_AGENT = 'card-checkout-webhook/1';

/** Hex HMAC-SHA256 of the raw body under the payment's ipn_token. */
export function signWebhook(body: string, ipnToken: string): string {
  return createHmac('sha256', ipnToken).update(body).digest('hex');
}

/** Headers of a webhook, exactly as sent; `hostname` without brackets. */
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
  /** Called with every result, for logs and metrics. */
  readonly onResult: (webhook: Webhook, result: WebhookResult) => void;
}

/**
 * Sends one claimed webhook. The claim is durable before this runs, and every outcome is recorded, so an event is sent
 * at most once. Our own mistakes are recorded as well, and then thrown.
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

/** Waiting webhooks of an account per pass; the next pass follows at once. */
const SEEN_PER_ACCOUNT = 100;

/**
 * Time for which webhooks that this process cannot sign are left to the others: a new secret is introduced gradually.
 * Afterwards the secret counts as lost, and the webhook ends as `failed`.
 */
const LEFT_TO_OTHERS_MS = 10 * 60_000;

/**
 * Durably claims webhooks that may be sent now beside these open deliveries. `hasBacklog`: others may wait for a slot,
 * so check again when a delivery ends.
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
  /** Maximum open deliveries to one host, which limits both the load on it and the slots that it can block. */
  readonly openPerHost: number;
}

/** Fields of an open delivery that count against the bounds. */
export type OpenDelivery = Pick<Webhook, 'accountId' | 'host'>;

/**
 * Waiting webhooks that may be sent now, so that no receiver and no account delays the others.
 *
 * An account gets another slot only while it holds fewer than are free. One whose receivers all hang therefore takes at
 * most half of them, and the next one half of the rest, so that later accounts need not wait for timeouts. The account
 * that holds the fewest comes first, then the oldest webhook.
 *
 * @param waiting oldest webhooks of each account
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

/** Readings kept for one wait, however often it is called. */
const READINGS_IN_A_WAIT = 100;

/**
 * Wall time before which something has been stale for `waitMs`: what the wall clock showed that long ago by the
 * monotonic clock, and at most the present wall time less the wait. A wall clock set forward by an hour thus ages
 * nothing. Null until this process has observed that long; call it regularly.
 */
export function createStaleCutoff({ nowMs, monotonicMs }: Clock, waitMs: number): () => number | null {
  const readings: { readonly wallMs: number; readonly takenAtMs: number }[] = [];
  return () => {
    const takenAtMs = monotonicMs();
    const wallMs = nowMs();
    const lastMs = readings.at(-1)?.takenAtMs ?? Number.NEGATIVE_INFINITY;
    if (takenAtMs - lastMs >= waitMs / READINGS_IN_A_WAIT) readings.push({ wallMs, takenAtMs });
    // Keeps the newest reading that is old enough at the front.
    while (readings[1] !== undefined && takenAtMs - readings[1].takenAtMs >= waitMs) readings.shift();
    const [oldest] = readings;
    if (oldest === undefined || takenAtMs - oldest.takenAtMs < waitMs) return null;
    return Math.min(oldest.wallMs, wallMs - waitMs);
  };
}
