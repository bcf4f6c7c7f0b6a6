/** Banxa: the customer opens an order's one-time URL. Webhook nonces are not stored, because a replay has no effect. */
import { formatCents } from '../../payment/money.ts';
import type { ProviderId } from '../../payment/provider-catalog.ts';
import type { SessionProgress } from '../../payment/provider-session.ts';
import { ProviderWebhookRefusedError, type QuoteRequest } from '../provider.ts';
import { defineProvider } from './define-provider.ts';
import * as answers from './provider-http.ts';
import * as variable from './provider-variables.ts';
import { readProgress, readWebhookFields, readWebhookTimeMs, requireHmac } from './webhook-signature.ts';

const STATUS_TIME = /^(\d{4}-\d\d-\d\d)[T ]?(\d\d:\d\d:\d\d)(?:\.\d+)?(Z|[+-]\d\d:?\d\d)?$/;
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
  /** Customers in Canada cannot buy stablecoins. */
  traits: { opensOnce: true, withholdsEmail: true, regionsNotServed: new Set(['CA']) },
  facts: {
    inferred: [
      'Polygon is `MATIC` (EdgeApp/edge-react-gui #6057, gemwalletcom/core); Klarna is `KLARNACKO` (SEK) in version 1 (EdgeApp/edge-react-gui #6057).',
      'The states `completed` and `succeeded`; the id `google-pay` (gemwalletcom/core, in production).',
      'Both fees are part of `fiatAmount`, which a quote repeats as what the customer pays; `unsupportedCountries` of a blockchain lists states by country, or none for the whole country.',
      '`order_type` may be `CRYPTO-SELL`; times without an offset are in UTC.',
    ],
    unknown: [
      'The names of the fields for IP binding: without them Banxa is inactive in production unless your account has no IP binding.',
      'The payment method id of Klarna in version 2; whether customers prove who they are before Banxa reuses an earlier check; where an error has its code.',
    ],
  },
  means: { card: 'debit-credit-card', apple_pay: 'apple-pay', google_pay: 'google-pay' },
  fees: 'included',
  account: (settings) => ({
    apiUrl: `${settings.urls.api}/${encodeURIComponent(settings.value('PARTNER'))}`,
    blockchain: settings.valueOrNull('BLOCKCHAIN') ?? 'MATIC',
    ipBinding: settings.valueOrNull('IP_BINDING'),
  }),
  headers: ({ apiKey }) => ({ 'x-api-key': apiKey }),
  blockedBecause: ({ isProduction, ipBinding }) =>
    isProduction && ipBinding !== 'off'
      ? 'Banxa binds orders to the IP address of the customer, and the names of these fields are not known. If IP binding is off for your account, set BANXA_IP_BINDING=off.'
      : null,

  async readCatalog({ id: provider, apiUrl, blockchain, methodOf, readUsdcContract }, request, call) {
    const read = async (name: string) => {
      const answer = call.answer({ url: `${apiUrl}/v2/${name}/buy`, maximumBytes: answers.CATALOG_BYTES });
      return contentOf(provider, request, await answer);
    };
    const { blockchains } = answers.entryOf(await read('crypto'), 'USDC', ({ id }) => id === 'USDC');
    const chain = answers.entryOf(blockchains, `USDC on ${blockchain}`, ({ id }) => id === blockchain);
    const { customerCountry } = request;
    const statesOf = answers.fieldsOf(chain['unsupportedCountries'] ?? {});
    const tokenContract = readUsdcContract(chain['address']);
    // The coin's minimum is in crypto and applies to withdrawals, so the limits come from the payment method.
    const fiat = answers.listOf(await read('fiats')).find(({ id }) => id === request.currency);
    const methods = answers.listOf(fiat?.['supportedPaymentMethods'] ?? []);
    const limits = methods.find(({ id }) => id === methodOf(request));
    return {
      asset: `USDC on ${blockchain}`,
      tokenContract,
      ...answers.excludedRegions(customerCountry, statesOf[customerCountry ?? '']),
      ...answers.limitsOf(limits, 'minimum', 'maximum'),
    };
  },

  async quote({ id, apiUrl, methodOf, blockchain }, request, call) {
    const answer = await call.answer({
      url: `${apiUrl}/v2/quotes/buy`,
      query: {
        paymentMethodId: methodOf(request),
        crypto: 'USDC',
        blockchain,
        fiat: request.currency,
        fiatAmount: formatCents(request.amountCents),
      },
    });
    const quote = answers.fieldsOf(contentOf(id, request, answer));
    answers.requireNoOther(quote, { fiat: request.currency, crypto: 'USDC' });
    return {
      chargedCents: answers.readCentsOrNull(quote['fiatAmount'], 'fiatAmount') ?? request.amountCents,
      deliveryUnits: answers.readDecimalUnits(quote['cryptoAmount'], 'cryptoAmount'),
    };
  },

  async startSession({ id: provider, apiUrl, methodOf, blockchain }, request, call) {
    const answer = await call.ofCustomer.answer({
      url: `${apiUrl}/v2/buy`,
      body: {
        paymentMethodId: methodOf(request),
        crypto: 'USDC',
        blockchain,
        fiat: request.currency,
        fiatAmount: formatCents(request.amountCents),
        walletAddress: request.depositAddress,
        redirectUrl: request.returnUrl,
        // Neither the customer's reference nor the email address is sent (see `facts`).
        externalCustomerId: request.paymentId,
        externalOrderId: request.paymentId,
      },
    });
    const { id, checkoutUrl } = answers.fieldsOf(contentOf(provider, request, answer));
    // Returns no expiry: the link must be opened within a minute, but the customer may stay at Banxa far longer.
    return {
      redirectUrl: answers.readRedirectUrl(checkoutUrl),
      providerReference: answers.readReference(id),
    };
  },

  async readWebhook({ webhookSecret, webhookUrl }, webhook) {
    const [, signature = '', nonce = ''] =
      /^Bearer [^:\s]+:([0-9a-f]{64}):([^:\s]{1,100})$/.exec(webhook.headers['authorization'] ?? '') ?? [];
    if (nonce === '') throw new ProviderWebhookRefusedError('the webhook is not signed');
    // Uses the path registered at Banxa, because a proxy may have removed part of the request's path.
    const { pathname } = new URL(webhookUrl);
    requireHmac(webhookSecret, [`POST\n${pathname}\n${nonce}\n`, webhook.body], [signature]);

    const fields = readWebhookFields(webhook.body);
    const { external_id: paymentId, order_type: kind } = fields;
    // Ignores orders in which the customer sells crypto (`SELL` and `CRYPTO-SELL`).
    if ((typeof kind === 'string' && /sell/i.test(kind)) || typeof paymentId !== 'string') return null;
    const progress = readProgress('banxa', progressOfStatus, fields['status']);
    const atMs = readStatusTimeMs(fields['status_date'], webhook.receivedAtMs);
    return { paymentId, providerReference: answers.readReference(fields['order_id']), progress, atMs };
  },
});

/** Returns a successful answer's content, which may be in `data`. Throws for other answers, or a list of `errors`. */
function contentOf(id: ProviderId, request: QuoteRequest, answer: answers.JsonAnswer): unknown {
  const { status, body } = answer;
  // Error 5034: the coin is not sold in the customer's country.
  if (answers.codesOf(body).includes('5034'))
    throw answers.countryNotServed(id, request.customerCountry ?? 'this region');
  const { errors, data } = (body ?? {}) as answers.AnswerFields;
  const hasFailed = status < 300 && Array.isArray(errors) && errors.length > 0;
  return answers.requireSuccess(id, hasFailed ? { ...answer, status: 422 } : answer, data);
}

/** Parses an ISO 8601 time, or a time such as `2026-01-16 04:04:21`. Returns the time of arrival if it is missing. */
function readStatusTimeMs(date: unknown, receivedAtMs: number): number {
  const [, day, time, offset = 'Z'] = STATUS_TIME.exec(String(date)) ?? [];
  return readWebhookTimeMs(day === undefined ? date : `${day}T${time}${offset}`, receivedAtMs);
}
