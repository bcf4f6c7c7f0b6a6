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
  type ProviderWebhook,
  ProviderWebhookRefusedError,
  type Quote,
  type QuoteRequest,
  type SessionRequest,
  type StartedSession,
} from '../domain/ports/provider.ts';
import type { SessionProgress } from '../domain/provider-session.ts';
import {
  defineProvider,
  environmentVariables,
  optional,
  type ProviderSettings,
  plain,
  secret,
} from './define-provider.ts';
import { type Call, LINK_LIFETIME_MS, requireSuccess } from './protocol-adapter.ts';
import {
  fieldsOf,
  MalformedAnswerError,
  readDecimalUnits,
  readRedirectUrl,
  readReference,
} from './provider-http.ts';
import { readWebhookFields, requireHmac } from './webhook-signature.ts';

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

export const banxa = defineProvider<Account>({
  id: 'banxa',
  hosts: { api: { production: 'https://api.banxa.com', sandbox: 'https://api.banxa-sandbox.com' } },
  variables: [
    secret('API_KEY', 'The API key; without it, the provider is inactive.'),
    plain('PARTNER', 'The partner reference, part of the path of every call.'),
    optional(plain('BLOCKCHAIN', "Banxa's code of Polygon (MATIC).")),
    optional(secret('WEBHOOK_SECRET', 'The secret that signs webhooks; without it, webhooks are rejected.')),
    ...environmentVariables,
  ],
  traits: { opensOnce: true },
  account: accountOf,
  quote: fetchQuote,
  startSession,
  takesWebhooks: ({ webhookSecret }) => webhookSecret !== '',
  readWebhook: async (account, webhook) => readWebhook(account, webhook),
});

type Account = ReturnType<typeof accountOf>;

function accountOf(settings: ProviderSettings) {
  return {
    ...settings,
    apiUrl: `${settings.host('api')}/${encodeURIComponent(settings.value('PARTNER'))}`,
    apiKey: settings.value('API_KEY'),
    blockchain: settings.valueOrNull('BLOCKCHAIN') ?? 'MATIC',
    webhookSecret: settings.valueOrNull('WEBHOOK_SECRET') ?? '',
    method: settings.paymentMethod ?? 'debit-credit-card',
  };
}

async function fetchQuote(account: Account, request: QuoteRequest, call: Call): Promise<Quote> {
  const query = new URLSearchParams({
    paymentMethodId: account.method,
    crypto: 'USDC',
    blockchain: account.blockchain,
    fiat: request.currency,
    fiatAmount: formatCents(request.amountCents),
  });
  const url = `${account.apiUrl}/v2/quotes/buy?${query}`;
  const answer = await call({ method: 'GET', url, headers: { 'x-api-key': account.apiKey } });
  const body = fieldsOf(requireSuccess(account.id, answer));
  const quote = body['data'] === undefined ? body : fieldsOf(body['data']);
  return { deliveryUnits: readDecimalUnits(quote['cryptoAmount'], 'cryptoAmount'), minimumUsdCents: null };
}

async function startSession(account: Account, request: SessionRequest, call: Call): Promise<StartedSession> {
  // The order promises nothing, so the quote decides what is enough.
  const { deliveryUnits } = await fetchQuote(account, request, call);
  const answer = await call({
    method: 'POST',
    url: `${account.apiUrl}/v2/buy`,
    headers: { 'x-api-key': account.apiKey },
    body: {
      paymentMethodId: account.method,
      crypto: 'USDC',
      blockchain: account.blockchain,
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
  const { id, checkoutUrl } = fieldsOf(requireSuccess(account.id, answer));
  return {
    redirectUrl: readRedirectUrl(checkoutUrl),
    providerReference: readReference(id),
    expiresAtMs: account.nowMs() + LINK_LIFETIME_MS,
    quotedUnits: deliveryUnits,
  };
}

function readWebhook(account: Account, webhook: PostedWebhook): ProviderWebhook | null {
  const [, signature = '', nonce = ''] =
    /^Bearer [^:\s]+:([0-9a-f]{64}):([^:\s]{1,100})$/.exec(webhook.headers['authorization'] ?? '') ?? [];
  if (nonce === '') throw new ProviderWebhookRefusedError('the webhook is not signed');
  // As it was registered: a proxy before us may have taken a part of the path away.
  const { pathname } = new URL(account.webhookUrl);
  requireHmac(account.webhookSecret, [`POST\n${pathname}\n${nonce}\n`, webhook.body], [signature], 'hex');

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
