/**
 * Banxa: an order is made with the partner's key, and its one-time address opened.
 *
 * Sources, gathered 2026-11; no live API has been called.
 * - `POST /{partner}/v2/buy` with `x-api-key`, its fields and `checkoutUrl`, which opens once; `GET /v2/quotes/buy`; the
 *   states of an order; the fields of a webhook (version 2); `Authorization: Bearer key:signature:nonce` as
 *   HMAC-SHA256 in hex over method, path, nonce and body on lines of their own: documentation (doc), the last of them an
 *   older page.
 * - Unverified, seen in public code of others: the query of a quote and its `cryptoAmount`, at the top or below `data`;
 *   `externalOrderId`, which a webhook calls `external_id`; that times are in UTC.
 * - Unknown: Polygon's code, here `MATIC` unless configured otherwise: read it from `GET /{partner}/v2/crypto/buy`.
 *   For how long the address of an order opens. Whether the path that is signed is the one of the address registered.
 * - Their nonce is not kept: a replayed webhook contains nothing new and changes nothing.
 */
import { UnknownStateError } from '../domain/errors.ts';
import { formatCents } from '../domain/money.ts';
import {
  type PostedWebhook,
  type ProviderAdapter,
  type ProviderWebhook,
  ProviderWebhookRefusedError,
  type Quote,
  type QuoteRequest,
  type SessionRequest,
  type StartedSession,
} from '../domain/ports/provider.ts';
import type { ProviderId } from '../domain/provider-catalogue.ts';
import type { SessionProgress } from '../domain/provider-session.ts';
import {
  type AdapterSettings,
  type Call,
  createProtocolAdapter,
  LINK_LIFETIME_MS,
  requireSuccess,
} from './protocol-adapter.ts';
import {
  fieldsOf,
  MalformedAnswerError,
  readDecimalUnits,
  readRedirectUrl,
  readReference,
} from './provider-http.ts';
import { readWebhookFields, requireHmac } from './webhook-signature.ts';

export interface BanxaOptions extends AdapterSettings {
  /** Another provider than Banxa that is a way to pay there: its webhooks come to Banxa's address. */
  readonly id: ProviderId;
  /** As Banxa calls it: `debit-credit-card`. */
  readonly paymentMethod: string;
  /** The API's address with the partner's reference, without a slash at its end. */
  readonly apiUrl: string;
  readonly apiKey: string;
  /** Banxa's name of Polygon. */
  readonly blockchain: string;
  /** Null takes no webhooks. */
  readonly webhookSecret: string | null;
}

const progressOfStatus: ReadonlyMap<unknown, SessionProgress> = new Map([
  ['pendingPayment', 'paying'],
  ['waitingPayment', 'paying'],
  ['extraVerification', 'paying'],
  ['paymentReceived', 'delivering'],
  ['inProgress', 'delivering'],
  ['coinTransferred', 'delivering'],
  ['cryptoTransferred', 'delivering'],
  ['complete', 'delivered'],
  ['cancelled', 'failed'],
  ['declined', 'failed'],
  ['expired', 'failed'],
  ['refunded', 'failed'],
]);

/** Throws as the port says. */
export function createBanxaAdapter(options: BanxaOptions): ProviderAdapter {
  const { id, webhookSecret } = options;
  const isRouted = id !== 'banxa';
  return createProtocolAdapter(
    {
      id,
      ...(isRouted ? { routedThrough: 'banxa' } : {}),
      opensOnce: true,
      quote: (request, call) => fetchQuote(options, request, call),
      startSession: (request, call) => startSession(options, request, call),
      ...(webhookSecret === null || isRouted
        ? {}
        : { readWebhook: async (webhook: PostedWebhook) => readWebhook(options, webhookSecret, webhook) }),
    },
    options,
  );
}

async function fetchQuote(options: BanxaOptions, request: QuoteRequest, call: Call): Promise<Quote> {
  const query = new URLSearchParams({
    paymentMethodId: options.paymentMethod,
    crypto: 'USDC',
    blockchain: options.blockchain,
    fiat: request.currency,
    fiatAmount: formatCents(request.amountCents),
  });
  const url = `${options.apiUrl}/v2/quotes/buy?${query}`;
  const answer = await call({ method: 'GET', url, headers: { 'x-api-key': options.apiKey } });
  const body = fieldsOf(requireSuccess(options.id, answer));
  const quote = body['data'] === undefined ? body : fieldsOf(body['data']);
  return { deliveryUnits: readDecimalUnits(quote['cryptoAmount'], 'cryptoAmount'), minimumUsdCents: null };
}

async function startSession(
  options: BanxaOptions,
  request: SessionRequest,
  call: Call,
): Promise<StartedSession> {
  // The order promises nothing, so the quote decides what is enough.
  const { deliveryUnits } = await fetchQuote(options, request, call);
  const answer = await call({
    method: 'POST',
    url: `${options.apiUrl}/v2/buy`,
    headers: { 'x-api-key': options.apiKey },
    body: {
      paymentMethodId: options.paymentMethod,
      crypto: 'USDC',
      blockchain: options.blockchain,
      fiat: request.currency,
      fiatAmount: formatCents(request.amountCents),
      walletAddress: request.depositAddress,
      redirectUrl: request.returnUrl,
      // The customer is unknown here, and pays at most once for one payment.
      externalCustomerId: request.paymentId,
      externalOrderId: request.paymentId,
      ...(request.email === null ? {} : { email: request.email }),
    },
  });
  const { id, checkoutUrl } = fieldsOf(requireSuccess(options.id, answer));
  return {
    redirectUrl: readRedirectUrl(checkoutUrl),
    providerReference: readReference(id),
    expiresAtMs: options.nowMs() + LINK_LIFETIME_MS,
    quotedUnits: deliveryUnits,
  };
}

function readWebhook(
  options: BanxaOptions,
  webhookSecret: string,
  webhook: PostedWebhook,
): ProviderWebhook | null {
  const [, signature = '', nonce = ''] =
    /^Bearer [^:\s]+:([0-9a-f]{64}):([^:\s]{1,100})$/.exec(webhook.headers['authorization'] ?? '') ?? [];
  if (nonce === '') throw new ProviderWebhookRefusedError('the webhook is not signed');
  // As it was registered: a proxy before us may have taken a part of the path away.
  const { pathname } = new URL(options.webhookUrl);
  requireHmac(webhookSecret, [`POST\n${pathname}\n${nonce}\n`, webhook.body], [signature], 'hex');

  const {
    status,
    external_id: paymentId,
    status_date: date,
    order_type: kind,
    order_id: id,
  } = readWebhookFields(webhook.body);
  if (kind === 'SELL' || typeof paymentId !== 'string') return null;
  const progress = progressOfStatus.get(status);
  if (progress === undefined)
    throw new UnknownStateError(`banxa sent the unknown status ${JSON.stringify(status)}`);
  const atMs = readStatusTimeMs(date, webhook.receivedAtMs);
  return { paymentId, providerReference: readReference(id), walletAddress: null, progress, atMs };
}

/** `2026-01-16 04:04:21`, of which Banxa's own example leaves out the space; when it arrived where there is none. */
function readStatusTimeMs(date: unknown, receivedAtMs: number): number {
  if (date === undefined || date === null) return receivedAtMs;
  const [, day, time] =
    typeof date === 'string' ? (/^(\d{4}-\d\d-\d\d)[T ]?(\d\d:\d\d:\d\d)/.exec(date) ?? []) : [];
  const timeMs = Date.parse(`${day}T${time}Z`);
  if (Number.isNaN(timeMs)) throw new MalformedAnswerError('the time of the webhook is malformed');
  return timeMs;
}
