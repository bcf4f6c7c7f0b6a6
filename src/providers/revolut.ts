/**
 * Revolut Ramp: the partner's API makes the address that the customer is sent to.
 *
 * Sources, gathered 2026-11; no live API has been called.
 * - `GET /partners/api/2.0/config`, `/quote` and `/buy` with `X-API-KEY`, their parameters, `ramp_redirect_url`; a quote's
 *   `crypto.amount`; `region` as the customer's country; a webhook's `order_id`, `wallet` and `event`, of which
 *   `ORDER_COMPLETED` is the only one named; `Revolut-Signature` with `Revolut-Request-Timestamp` (milliseconds, within
 *   five minutes): documentation (doc).
 * - Unverified, seen in public code of others: the asset `USDC-POL`; `fiat[].currency` and `min_limit`; USD, EUR and CAD
 *   only.
 * - Unknown: the other events, here guessed (loud when they are not met); whether one `orderId` may be begun twice;
 *   whether the address keeps a customer from changing the wallet in it, which a partner can choose with Revolut: choose
 *   it. An address that names another wallet than the deposit address is not used.
 */
import { UnknownStateError } from '../domain/errors.ts';
import { type Currency, formatCents } from '../domain/money.ts';
import type {
  PostedWebhook,
  ProviderWebhook,
  Quote,
  QuoteRequest,
  SessionRequest,
  StartedSession,
} from '../domain/ports/provider.ts';
import type { SessionProgress } from '../domain/provider-session.ts';
import {
  defineProvider,
  environmentVariables,
  optional,
  type ProviderSettings,
  secret,
} from './define-provider.ts';
import {
  type Call,
  LINK_LIFETIME_MS,
  minimumUsdCentsOf,
  requireSold,
  requireSuccess,
} from './protocol-adapter.ts';
import {
  type AnswerFields,
  fieldsOf,
  MalformedAnswerError,
  readDecimalUnits,
  readRedirectUrl,
  readTextOrNull,
} from './provider-http.ts';
import {
  readSignatureHeader,
  readSignedTime,
  readWebhookFields,
  requireHmac,
  requireRecent,
} from './webhook-signature.ts';

const ASSET = 'USDC-POL';
const currenciesSold: ReadonlySet<Currency> = new Set(['USD', 'EUR', 'CAD']);
const progressOfEvent: ReadonlyMap<unknown, SessionProgress> = new Map([
  ['ORDER_CREATED', 'paying'],
  ['ORDER_PROCESSING', 'delivering'],
  ['ORDER_COMPLETED', 'delivered'],
  ['ORDER_FAILED', 'failed'],
]);

export const revolut = defineProvider<Account>({
  id: 'revolut',
  hosts: {
    api: {
      production: 'https://ramp-partners.revolut.com',
      sandbox: 'https://ramp-partners.revolut.codes',
    },
  },
  variables: [
    secret('API_KEY', 'The API key; without it, the provider is inactive.'),
    optional(
      secret('WEBHOOK_SECRET', "The webhook's signing secret (`wsk_…`); without it, webhooks are rejected."),
    ),
    ...environmentVariables,
  ],
  traits: { needsCountry: true },
  account: accountOf,
  quote: fetchQuote,
  startSession,
  takesWebhooks: ({ webhookSecret }) => webhookSecret !== '',
  readWebhook: async ({ webhookSecret }, webhook) => readWebhook(webhookSecret, webhook),
});

type Account = ReturnType<typeof accountOf>;

function accountOf(settings: ProviderSettings) {
  return {
    ...settings,
    apiUrl: settings.host('api'),
    apiKey: settings.value('API_KEY'),
    webhookSecret: settings.valueOrNull('WEBHOOK_SECRET') ?? '',
  };
}

async function get(
  { apiUrl, apiKey }: Account,
  call: Call,
  path: string,
  query: Readonly<Record<string, string>>,
): Promise<AnswerFields> {
  const url = `${apiUrl}/partners/api/2.0/${path}?${new URLSearchParams(query)}`;
  return fieldsOf(
    requireSuccess('revolut', await call({ method: 'GET', url, headers: { 'x-api-key': apiKey } })),
  );
}

async function fetchQuote(account: Account, request: QuoteRequest, call: Call): Promise<Quote> {
  requireSold('revolut', request, currenciesSold);
  // Without a country there is no price, but what is sold at all, and from what amount.
  const country = request.customerCountry ?? null;
  if (country === null)
    return { deliveryUnits: null, minimumUsdCents: await fetchMinimumUsdCents(account, request, call) };
  const quote = await get(account, call, 'quote', purchaseOf(request, country));
  const { amount, currencyId } = fieldsOf(quote['crypto']);
  if (currencyId !== ASSET) throw new MalformedAnswerError('the quote is for another asset');
  return { deliveryUnits: readDecimalUnits(amount, 'crypto.amount'), minimumUsdCents: null };
}

async function fetchMinimumUsdCents(account: Account, request: QuoteRequest, call: Call): Promise<number> {
  const { fiat } = await get(account, call, 'config', {});
  const sold = Array.isArray(fiat)
    ? fiat.map(fieldsOf).find(({ currency }) => currency === request.currency)
    : undefined;
  if (sold === undefined) throw new MalformedAnswerError(`${request.currency} is not in the configuration`);
  return minimumUsdCentsOf(readDecimalUnits(sold['min_limit'], 'min_limit'), request);
}

function purchaseOf(request: QuoteRequest, country: string): Readonly<Record<string, string>> {
  return {
    fiat: request.currency,
    amount: formatCents(request.amountCents),
    crypto: ASSET,
    payment: 'card',
    region: country,
  };
}

async function startSession(account: Account, request: SessionRequest, call: Call): Promise<StartedSession> {
  const country = request.customerCountry ?? null;
  if (country === null) throw new TypeError('a session at Revolut needs the country of the customer');
  // The address promises nothing, so the quote decides what is enough.
  const { deliveryUnits } = await fetchQuote(account, request, call);
  const { ramp_redirect_url: url } = await get(account, call, 'buy', {
    ...purchaseOf(request, country),
    wallet: request.depositAddress,
    orderId: request.paymentId,
    partnerRedirectUrl: request.returnUrl,
  });
  const redirectUrl = readRedirectUrl(url);
  requireOwnWallet(redirectUrl, request);
  return {
    redirectUrl,
    providerReference: request.paymentId,
    expiresAtMs: account.nowMs() + LINK_LIFETIME_MS,
    quotedUnits: deliveryUnits,
  };
}

function requireOwnWallet(redirectUrl: string, { depositAddress }: SessionRequest): void {
  const named = new URL(redirectUrl).searchParams.getAll('walletAddress');
  if (named.every((wallet) => wallet.toLowerCase() === depositAddress.toLowerCase())) return;
  throw new MalformedAnswerError('revolut made an address for another wallet');
}

function readWebhook(webhookSecret: string, webhook: PostedWebhook): ProviderWebhook | null {
  const time = webhook.headers['revolut-request-timestamp'];
  const signedAtMs = readSignedTime(time);
  const signatures = readSignatureHeader(webhook.headers['revolut-signature']).get('v1') ?? [];
  requireHmac(webhookSecret, [`v1.${time}.`, webhook.body], signatures, 'hex');
  requireRecent(signedAtMs, webhook.receivedAtMs);

  const { order_id: paymentId, wallet, event } = readWebhookFields(webhook.body);
  if (typeof paymentId !== 'string') return null;
  const progress = progressOfEvent.get(event);
  if (progress === undefined)
    throw new UnknownStateError(`revolut sent the unknown event ${JSON.stringify(event)}`);
  const walletAddress = readTextOrNull(wallet);
  return { paymentId, providerReference: null, walletAddress, progress, atMs: signedAtMs };
}
