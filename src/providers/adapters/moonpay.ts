/** MoonPay: the customer opens a signed URL of its widget. */
import { createHmac } from 'node:crypto';
import { UNSERVED } from '../../payment/checkout-url.ts';
import { formatCents } from '../../payment/money.ts';
import type { SessionProgress } from '../../payment/provider-session.ts';
import { defineProvider } from './define-provider.ts';
import * as answers from './provider-http.ts';
import * as variable from './provider-variables.ts';
import * as webhooks from './webhook-signature.ts';

const progressOfStatus: ReadonlyMap<unknown, SessionProgress> = new Map([
  ['waitingPayment', 'paying'],
  ['waitingAuthorization', 'paying'],
  ['pending', 'delivering'],
  ['completed', 'delivered'],
  ['failed', 'failed'],
]);

export const moonpay = defineProvider({
  id: 'moonpay',
  /** INR is missing, because MoonPay does not support India. Customers in Canada cannot buy stablecoins. */
  traits: { currenciesSold: ['USD', 'EUR', 'CAD'], regionsNotServed: new Set(['CA']), needsIp: true },
  hosts: {
    widget: { production: 'https://buy.moonpay.com', sandbox: 'https://buy-sandbox.moonpay.com' },
    api: { production: 'https://api.moonpay.com' },
  },
  variables: [
    variable.secret('API_KEY', 'The publishable key (`pk_…`); without it, the provider is inactive.'),
    variable.secret('SECRET_KEY', 'The secret key (`sk_…`), which signs the URLs of sessions.'),
    variable.webhookSecret('WEBHOOK_KEY', 'The webhook signing key (`wk_…`)'),
    ...variable.environment,
  ],
  facts: {
    inferred: [
      '`allowedIpAddress` is the base64 HMAC-SHA256 of the address under the secret key (bitpay/bitcore, in production).',
      '`apple_pay` and `google_pay` in the URL (public integrations; Edge reads both names in purchases). None was seen in a request for a quote or for limits, which therefore ask for a card.',
      'The asset `usdc_polygon`, in the test environment `usdc`.',
      'Fees are taken out of the amount: in a quote by `areFeesIncluded`, in the widget always.',
      '`baseCurrency.minBuyAmount`, the states and fields of a webhook.',
      '`GET /v3/currencies` with `isSuspended`, `notAllowedCountries`, `notAllowedUSStates`, `metadata.contractAddress`; `GET /v3/currencies/{code}/limits`.',
      'India is not served, so INR is not offered.',
    ],
    unknown: ['How long a URL works, and whether a repeated webhook is signed again.'],
  },
  means: { card: 'credit_debit_card', apple_pay: 'apple_pay', google_pay: 'google_pay' },
  fees: 'included',
  account: (settings) => ({
    // The test environment has no USDC on Polygon.
    asset: settings.isSandbox ? 'usdc' : 'usdc_polygon',
    secretKey: settings.value('SECRET_KEY'),
    quotedMethod: settings.methodOf({}),
  }),

  async readCatalog({ id, urls, apiKey, asset, quotedMethod, readUsdcContract }, request, call) {
    const currencies = `${urls.api}/v3/currencies`;
    const list = { url: currencies, query: { apiKey }, maximumBytes: answers.CATALOG_BYTES };
    const all = answers.requireSuccess(id, await call.answer(list));
    const entry = answers.entryOf(
      all,
      asset,
      ({ code, isSuspended }) => code === asset && isSuspended !== true,
    );
    const { customerCountry: country } = request;
    const { notAllowedCountries: refused, notAllowedUSStates: states } = entry;
    const isRefused = Array.isArray(refused) && refused.includes(country);
    // An empty list of states excludes none.
    const refusedStates = country === 'US' && Array.isArray(states) && states.length > 0 ? states : null;
    const metadata = answers.fieldsOf(entry['metadata'] ?? {});
    const tokenContract = readUsdcContract(metadata['contractAddress']);
    const limits = await call.fields({
      url: `${currencies}/${asset}/limits`,
      query: {
        apiKey,
        baseCurrencyCode: request.currency.toLowerCase(),
        areFeesIncluded: 'true',
        paymentMethod: quotedMethod,
      },
    });
    const base = answers.fieldsOf(limits['baseCurrency']);
    return {
      asset,
      tokenContract,
      ...answers.excludedRegions(country, isRefused ? [] : refusedStates),
      ...answers.limitsOf(base, 'minBuyAmount', 'maxBuyAmount'),
    };
  },

  async quote({ urls, apiKey, asset, quotedMethod }, request, call) {
    const body = await call.fields({
      url: `${urls.api}/v3/currencies/${asset}/buy_quote`,
      query: {
        apiKey,
        baseCurrencyCode: request.currency.toLowerCase(),
        baseCurrencyAmount: formatCents(request.amountCents),
        paymentMethod: quotedMethod,
        areFeesIncluded: 'true',
      },
    });
    const base = answers.fieldsOf(body['baseCurrency'] ?? {});
    answers.requireNoOther(base, { code: request.currency });
    return {
      chargedCents: answers.readCentsOrNull(body['totalAmount'], 'totalAmount') ?? request.amountCents,
      deliveryUnits: answers.readDecimalUnits(body['quoteCurrencyAmount'], 'quoteCurrencyAmount'),
      minimumUsdCents: answers.minimumUsdCentsOf(base['minBuyAmount'], 'minBuyAmount', request),
    };
  },

  async startSession({ id, urls, apiKey, asset, methodOf, secretKey }, request) {
    const { customerIp = null } = request;
    const query = new URLSearchParams({
      apiKey,
      currencyCode: asset,
      walletAddress: request.depositAddress,
      baseCurrencyCode: request.currency.toLowerCase(),
      baseCurrencyAmount: formatCents(request.amountCents),
      lockAmount: 'true',
      paymentMethod: methodOf(request),
      externalTransactionId: request.paymentId,
      externalCustomerId: request.customerReference,
      redirectURL: request.returnUrl,
      unsupportedRegionRedirectUrl: new URL(`?returned=1&${UNSERVED}=${id}`, request.returnUrl).href,
      ...(request.email === null ? {} : { email: request.email }),
      // Binds the URL to the customer's IP address, because MoonPay may refuse an unbound URL.
      ...(customerIp === null ? {} : { allowedIpAddress: hmacOf(secretKey, customerIp) }),
    });
    // The signature covers the question mark too.
    const signature = encodeURIComponent(hmacOf(secretKey, `?${query}`));
    return { redirectUrl: `${urls.widget}?${query}&signature=${signature}` };
  },

  async readWebhook({ webhookSecret }, webhook) {
    webhooks.requireTimedHmac(webhookSecret, webhook.headers['moonpay-signature-v2'], 's', webhook);
    const fields = webhooks.readWebhookFields(webhook.body);
    const type = fields['type'];
    // Ignores events of other products (sales, swaps, identity checks), which belong to no payment.
    if (typeof type !== 'string' || !type.startsWith('transaction_')) return null;
    const data = answers.fieldsOf(fields['data']);
    const paymentId = data['externalTransactionId'];
    if (typeof paymentId !== 'string') return null;
    const progress = webhooks.readProgress('moonpay', progressOfStatus, data['status']);
    const atMs = webhooks.readWebhookTimeMs(data['updatedAt'], webhook.receivedAtMs);
    const walletAddress = answers.readTextOrNull(data['walletAddress']);
    const { metadata } = answers.fieldsOf(data['currency'] ?? {});
    const tokenContract = answers.readTextOrNull(answers.fieldsOf(metadata ?? {})['contractAddress']);
    return { paymentId, walletAddress, tokenContract, progress, atMs };
  },
});

function hmacOf(key: string, text: string): string {
  return createHmac('sha256', key).update(text).digest('base64');
}
