/**
 * Banxa: creates an order with the partner's key, whose one-time URL the customer opens. Nonces of webhooks are not
 * stored, because a replayed webhook changes nothing.
 */
import { formatCents } from '../../payment/money.ts';
import type { SessionProgress } from '../../payment/provider-session.ts';
import { ProviderWebhookRefusedError } from '../provider.ts';
import { defineProvider } from './define-provider.ts';
import * as answers from './provider-http.ts';
import * as variable from './provider-variables.ts';
import { readProgress, readWebhookFields, requireHmac } from './webhook-signature.ts';

/** Catalogs list all coins with their blockchains, or all currencies with their payment methods. */
const MAXIMUM_CATALOG_BYTES = 4 * 1024 * 1024;
const LINK_LIFETIME_MS = 60_000;
const progressOfStatus: ReadonlyMap<unknown, SessionProgress> = new Map([
  ['pendingPayment', 'paying'],
  ['waitingPayment', 'paying'],
  ['extraVerification', 'paying'],
  ['paymentReceived', 'delivering'],
  ['inProgress', 'delivering'],
  ['coinTransferred', 'delivering'],
  ['cryptoTransferred', 'delivering'],
  ['cryptoTransferInitiated', 'delivering'],
  ['cryptoTransferPending', 'delivering'],
  ['cryptoTransferComplete', 'delivering'],
  ['complete', 'delivered'],
  ['completed', 'delivered'],
  ['succeeded', 'delivered'],
  ['cancelled', 'failed'],
  ['declined', 'failed'],
  ['expired', 'failed'],
  ['refunded', 'failed'],
]);

export const banxa = defineProvider({
  id: 'banxa',
  hosts: { api: { production: 'https://api.banxa.com', sandbox: 'https://api.banxa-sandbox.com' } },
  variables: [
    variable.secret('API_KEY', 'The API key; without it, the provider is inactive.'),
    variable.plain('PARTNER', 'The partner reference, part of the path of every call.'),
    variable.optional(variable.plain('BLOCKCHAIN', "Banxa's code of Polygon (MATIC).")),
    variable.webhookSecret('WEBHOOK_SECRET', 'The secret that signs webhooks'),
    variable.optional(
      variable.oneOf(
        'IP_BINDING',
        '`off` once Banxa has confirmed that IP binding is off for your account; without it, Banxa is inactive in production.',
        ['off'],
      ),
    ),
    ...variable.environment,
  ],
  facts: {
    official: [
      '`POST /{partner}/v2/buy` with `x-api-key` and `checkoutUrl`, which opens once, and expires after a minute without a redirect (docs.banxa.com, Hosted Checkout, Create a buy order).',
      '`fiatAmount` is what the customer wants to spend; a quote also states `processingFee` and `networkFee` (docs.banxa.com, Hosted Checkout, Get a quote).',
      'IP binding is on for all new partners: each order must name the network of the customer, as `hash` (needs the API secret) or `range` (IPv4 /24, IPv6 /64). Until Banxa turns it on for an earlier partner, leaving the fields out changes nothing (docs.banxa.com, Hosted Checkout, IP binding).',
      'Banxa recognizes returning customers by `externalCustomerId` or email address, and may let them pay without another check (docs.banxa.com, Verification flow): it is therefore the id of the payment, which no other customer has.',
      'Quotes must not be cached, so a session asks for its own (docs.banxa.com, Integration best practices); at most 500 calls a minute per IP address, 120 in the test environment; no stablecoins for customers in Canada, error 5034 (docs.banxa.com, Error codes).',
      '`Authorization: Bearer key:signature:nonce`, HMAC-SHA256 in hex over method, registered path, nonce and body (docs.banxa.com).',
    ],
    sdk: [
      'The fields of an order and of a quote, the states, the fields of a webhook, `GET /{partner}/v2/crypto/buy` with `blockchains[].id` and `address` (@banxa/native-payments-sdk, source).',
    ],
    inferred: [
      'Polygon is `MATIC` (EdgeApp/edge-react-gui #6057, gemwalletcom/core); Klarna is `KLARNACKO` (SEK) and PayPal `PRIMERPAYPAL` (EUR) in version 1 (EdgeApp/edge-react-gui #6057).',
      '`GET /{partner}/v2/fiats/buy` with `supportedPaymentMethods[].minimum` and `maximum`; the states `completed` and `succeeded`; the ids `apple-pay` and `google-pay` beside `debit-credit-card` (gemwalletcom/core, in production).',
      'Both fees are part of `fiatAmount`.',
      '`order_type` may be `CRYPTO-SELL`; times are in UTC; a quote may stand below `data`.',
    ],
    unknown: [
      'The names of the fields for IP binding: without them Banxa is inactive in production unless your account has no IP binding.',
      'The payment method ids of Klarna and PayPal in version 2; whether customers prove who they are before Banxa reuses an earlier check.',
    ],
  },
  fees: 'included',
  traits: { opensOnce: true },
  account: (settings) => ({
    apiUrl: `${settings.urls.api}/${encodeURIComponent(settings.value('PARTNER'))}`,
    blockchain: settings.valueOrNull('BLOCKCHAIN') ?? 'MATIC',
    ipBinding: settings.valueOrNull('IP_BINDING'),
    method: settings.paymentMethod ?? 'debit-credit-card',
  }),
  headers: ({ apiKey }) => ({ 'x-api-key': apiKey }),
  blockedBecause: ({ isProduction, ipBinding }) =>
    isProduction && ipBinding !== 'off'
      ? 'Banxa binds orders to the IP address of the customer, and the names of these fields are not known. If IP binding is off for your account, set BANXA_IP_BINDING=off.'
      : null,

  async readCatalog({ apiUrl, blockchain, method, readUsdcContract }, request, call) {
    const read = async (name: string) => {
      const body = await call.body({ url: `${apiUrl}/v2/${name}/buy`, maximumBytes: MAXIMUM_CATALOG_BYTES });
      return answers.listOf(Array.isArray(body) ? body : answers.fieldsOf(body)['data']);
    };
    const coin = (await read('crypto')).find(({ id }) => id === 'USDC');
    const chain = answers.listOf(coin?.['blockchains'] ?? []).find(({ id }) => id === blockchain);
    if (chain === undefined)
      throw new answers.MalformedAnswerError(`USDC on ${blockchain} is not in the catalog`);
    const tokenContract = readUsdcContract(chain['address']);
    // The coin's minimum is in crypto and for withdrawals, so the limits come from the payment method.
    const fiat = (await read('fiats')).find(({ id }) => id === request.currency);
    const limits = answers.listOf(fiat?.['supportedPaymentMethods'] ?? []).find(({ id }) => id === method);
    return {
      asset: `USDC on ${blockchain}`,
      tokenContract,
      minimumCents: answers.readCentsOrNull(limits?.['minimum'], 'minimum'),
      maximumCents: answers.readCentsOrNull(limits?.['maximum'], 'maximum'),
    };
  },

  async quote({ apiUrl, method, blockchain }, request, call) {
    const body = await call.fields({
      url: `${apiUrl}/v2/quotes/buy`,
      query: {
        paymentMethodId: method,
        crypto: 'USDC',
        blockchain,
        fiat: request.currency,
        fiatAmount: formatCents(request.amountCents),
      },
    });
    const quote = body['data'] === undefined ? body : answers.fieldsOf(body['data']);
    return { deliveryUnits: answers.readDecimalUnits(quote['cryptoAmount'], 'cryptoAmount') };
  },

  async startSession({ apiUrl, method, blockchain, nowMs }, request, call) {
    const { id, checkoutUrl } = await call.ofCustomer.fields({
      url: `${apiUrl}/v2/buy`,
      body: {
        paymentMethodId: method,
        crypto: 'USDC',
        blockchain,
        fiat: request.currency,
        fiatAmount: formatCents(request.amountCents),
        walletAddress: request.depositAddress,
        redirectUrl: request.returnUrl,
        // Not the customer's reference: see `facts`.
        externalCustomerId: request.paymentId,
        externalOrderId: request.paymentId,
        ...(request.email === null ? {} : { email: request.email }),
      },
    });
    return {
      redirectUrl: answers.readRedirectUrl(checkoutUrl),
      providerReference: answers.readReference(id),
      expiresAtMs: nowMs() + LINK_LIFETIME_MS,
    };
  },

  async readWebhook({ webhookSecret, webhookUrl }, webhook) {
    const [, signature = '', nonce = ''] =
      /^Bearer [^:\s]+:([0-9a-f]{64}):([^:\s]{1,100})$/.exec(webhook.headers['authorization'] ?? '') ?? [];
    if (nonce === '') throw new ProviderWebhookRefusedError('the webhook is not signed');
    // The path as registered at Banxa, because a proxy may have removed a part of it before us.
    const { pathname } = new URL(webhookUrl);
    requireHmac(webhookSecret, [`POST\n${pathname}\n${nonce}\n`, webhook.body], [signature]);

    const fields = readWebhookFields(webhook.body);
    const { external_id: paymentId, order_type: kind } = fields;
    // Sales: `SELL` and `CRYPTO-SELL`.
    if ((typeof kind === 'string' && /sell/i.test(kind)) || typeof paymentId !== 'string') return null;
    const progress = readProgress('banxa', progressOfStatus, fields['status']);
    const atMs = readStatusTimeMs(fields['status_date'], webhook.receivedAtMs);
    return { paymentId, providerReference: answers.readReference(fields['order_id']), progress, atMs };
  },
});

/** Parses `2026-01-16 04:04:21`; Banxa's own example lacks the space. The time of arrival if there is none. */
function readStatusTimeMs(date: unknown, receivedAtMs: number): number {
  if (date === undefined || date === null) return receivedAtMs;
  const [, day, time] =
    typeof date === 'string' ? (/^(\d{4}-\d\d-\d\d)[T ]?(\d\d:\d\d:\d\d)/.exec(date) ?? []) : [];
  const timeMs = Date.parse(`${day}T${time}Z`);
  if (Number.isNaN(timeMs)) throw new answers.MalformedAnswerError('the time of the webhook is malformed');
  return timeMs;
}
