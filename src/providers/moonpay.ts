/**
 * MoonPay: the customer is sent to a signed address of its widget.
 *
 * Sources, gathered 2026-11; no live API has been called.
 * - Hosts, and the signature (HMAC-SHA256 of the query with its `?`, base64, appended last): its Node package (sdk).
 * - `walletAddress` is not asked for again when it is valid, `currencyCode` fixes the asset, `email` needs a signature,
 *   `GET /v3/currencies/{code}/buy_quote` and its `quoteCurrencyAmount`, `Moonpay-Signature-V2`: documentation (doc).
 * - Unverified, seen in public code of others: the asset `usdc_polygon` (in the test environment `usdc`), the remaining
 *   parameters of the address, `areFeesIncluded` (so that the fees are inside the charge and not on top of it),
 *   `baseCurrency.minBuyAmount`, the states of a transaction and the fields of its webhook.
 * - PayPal is a way to pay there (`paymentMethod=paypal`, in the United States, the United Kingdom and the EU): doc.
 * - Unknown: for how long an address works, and the time within which a repeated webhook is signed anew.
 */
import { createHmac } from 'node:crypto';
import { UnknownStateError } from '../domain/errors.ts';
import { formatCents } from '../domain/money.ts';
import type {
  PostedWebhook,
  ProviderWebhook,
  Quote,
  QuoteRequest,
  SessionRequest,
} from '../domain/ports/provider.ts';
import type { SessionProgress } from '../domain/provider-session.ts';
import {
  defineProvider,
  environmentVariables,
  optional,
  type ProviderSettings,
  secret,
} from './define-provider.ts';
import { type Call, LINK_LIFETIME_MS, minimumUsdCentsOf, requireSuccess } from './protocol-adapter.ts';
import { fieldsOf, readDecimalUnits, readTextOrNull } from './provider-http.ts';
import {
  readSignatureHeader,
  readSignedTime,
  readWebhookFields,
  readWebhookTimeMs,
  requireHmac,
  requireRecent,
} from './webhook-signature.ts';

const progressOfStatus: ReadonlyMap<unknown, SessionProgress> = new Map([
  ['waitingPayment', 'paying'],
  ['waitingAuthorization', 'paying'],
  ['pending', 'delivering'],
  ['completed', 'delivered'],
  ['failed', 'failed'],
]);

export const moonpay = defineProvider<Account>({
  id: 'moonpay',
  hosts: {
    widget: { production: 'https://buy.moonpay.com', sandbox: 'https://buy-sandbox.moonpay.com' },
    api: { production: 'https://api.moonpay.com' },
  },
  variables: [
    secret('API_KEY', 'The publishable key (`pk_…`); without it, the provider is inactive.'),
    secret('SECRET_KEY', 'The secret key (`sk_…`), which signs the URLs of sessions.'),
    optional(secret('WEBHOOK_KEY', 'The webhook signing key (`wk_…`); without it, webhooks are rejected.')),
    ...environmentVariables,
  ],
  account: accountOf,
  quote: fetchQuote,
  async startSession(account, request, call) {
    // The address promises nothing, so the quote decides the threshold; it also shows that the provider responds.
    const quote = await fetchQuote(account, request, call);
    return {
      redirectUrl: signedUrl(account, request),
      providerReference: request.paymentId,
      expiresAtMs: account.nowMs() + LINK_LIFETIME_MS,
      quotedUnits: quote.deliveryUnits,
    };
  },
  takesWebhooks: ({ webhookKey }) => webhookKey !== '',
  readWebhook: async ({ webhookKey }, webhook) => readWebhook(webhookKey, webhook),
});

type Account = ReturnType<typeof accountOf>;

function accountOf(settings: ProviderSettings) {
  return {
    ...settings,
    widgetUrl: settings.host('widget'),
    apiUrl: settings.host('api'),
    // The test environment has no USDC on Polygon.
    asset: settings.isSandbox ? 'usdc' : 'usdc_polygon',
    apiKey: settings.value('API_KEY'),
    secretKey: settings.value('SECRET_KEY'),
    webhookKey: settings.valueOrNull('WEBHOOK_KEY') ?? '',
    method: settings.paymentMethod ?? 'credit_debit_card',
  };
}

async function fetchQuote(account: Account, request: QuoteRequest, call: Call): Promise<Quote> {
  const query = new URLSearchParams({
    apiKey: account.apiKey,
    baseCurrencyCode: request.currency.toLowerCase(),
    baseCurrencyAmount: formatCents(request.amountCents),
    paymentMethod: account.method,
    areFeesIncluded: 'true',
  });
  const url = `${account.apiUrl}/v3/currencies/${account.asset}/buy_quote?${query}`;
  const body = fieldsOf(requireSuccess(account.id, await call({ method: 'GET', url })));
  const base = body['baseCurrency'] === undefined ? {} : fieldsOf(body['baseCurrency']);
  const minimum = base['minBuyAmount'];
  return {
    deliveryUnits: readDecimalUnits(body['quoteCurrencyAmount'], 'quoteCurrencyAmount'),
    minimumUsdCents:
      minimum === undefined || minimum === null
        ? null
        : minimumUsdCentsOf(readDecimalUnits(minimum, 'minBuyAmount'), request),
  };
}

function signedUrl(account: Account, request: SessionRequest): string {
  const query = new URLSearchParams({
    apiKey: account.apiKey,
    currencyCode: account.asset,
    walletAddress: request.depositAddress,
    baseCurrencyCode: request.currency.toLowerCase(),
    baseCurrencyAmount: formatCents(request.amountCents),
    lockAmount: 'true',
    paymentMethod: account.method,
    externalTransactionId: request.paymentId,
    redirectURL: request.returnUrl,
    ...(request.email === null ? {} : { email: request.email }),
  });
  return signMoonpayUrl(`${account.widgetUrl}?${query}`, account.secretKey);
}

/** Appends MoonPay's signature to an address: of the query as it stands, together with its question mark. */
export function signMoonpayUrl(url: string, secretKey: string): string {
  const signature = createHmac('sha256', secretKey).update(new URL(url).search).digest('base64');
  return `${url}&signature=${encodeURIComponent(signature)}`;
}

function readWebhook(webhookKey: string, webhook: PostedWebhook): ProviderWebhook | null {
  const header = readSignatureHeader(webhook.headers['moonpay-signature-v2']);
  const time = header.get('t')?.[0] ?? '';
  requireHmac(webhookKey, [`${time}.`, webhook.body], header.get('s') ?? [], 'hex');
  requireRecent(readSignedTime(time) * 1000, webhook.receivedAtMs);

  const fields = readWebhookFields(webhook.body);
  const type = fields['type'];
  // Of other products (sales, swaps, identity checks) nothing concerns a payment.
  if (typeof type !== 'string' || !type.startsWith('transaction_')) return null;
  const data = fieldsOf(fields['data']);
  const paymentId = data['externalTransactionId'];
  if (typeof paymentId !== 'string') return null;
  const progress = progressOfStatus.get(data['status']);
  if (progress === undefined)
    throw new UnknownStateError(`moonpay sent the unknown status ${JSON.stringify(data['status'])}`);
  const atMs = readWebhookTimeMs(data['updatedAt'], webhook.receivedAtMs);
  const walletAddress = readTextOrNull(data['walletAddress']);
  return { paymentId, providerReference: null, walletAddress, progress, atMs };
}
