/**
 * Coinbase Onramp: creates a session with a token that this server signs for each call. The session's URL opens once. A
 * quote needs the country and, in the United States, the state, which few proxies report. Without them, the delivery is
 * assumed, and the session starts without a quote.
 */
import { createPrivateKey, createPublicKey, type KeyObject, randomBytes } from 'node:crypto';
import { formatCents } from '../../payment/money.ts';
import type { SessionProgress } from '../../payment/provider-session.ts';
import type { PostedWebhook, QuoteRequest } from '../provider.ts';
import { defineProvider } from './define-provider.ts';
import * as answers from './provider-http.ts';
import * as variable from './provider-variables.ts';
import * as webhooks from './webhook-signature.ts';

/** Hosts named in the tokens, even if calls go to a proxy. */
const PLATFORM_HOST = 'api.cdp.coinbase.com';
const DEVELOPER_HOST = 'api.developer.coinbase.com';
const TOKEN_LIFETIME_SECONDS = 120;
const SESSION_LIFETIME_MS = 5 * 60_000;
/** Prefix of the payment id in the test environment (inferred). */
const SANDBOX_PREFIX = 'sandbox-';

const progressOfStatus: ReadonlyMap<unknown, SessionProgress | null> = new Map([
  ['ONRAMP_TRANSACTION_STATUS_UNSPECIFIED', null],
  ['ONRAMP_TRANSACTION_STATUS_CREATED', 'paying'],
  ['ONRAMP_TRANSACTION_STATUS_AWAITING_AUTH', 'paying'],
  ['ONRAMP_TRANSACTION_STATUS_AWAITING_PAYMENT', 'paying'],
  ['ONRAMP_TRANSACTION_STATUS_IN_PROGRESS', 'delivering'],
  ['ONRAMP_TRANSACTION_STATUS_SUCCESS', 'delivered'],
  ['ONRAMP_TRANSACTION_STATUS_FAILED', 'failed'],
]);

export const coinbase = defineProvider({
  id: 'coinbase',
  hosts: {
    platform: { production: `https://${PLATFORM_HOST}` },
    developer: { production: `https://${DEVELOPER_HOST}` },
  },
  variables: [
    variable.secret('API_KEY', 'The id of the secret API key; without it, the provider is inactive.'),
    variable.secret(
      'API_SECRET',
      'The secret of that key: 64 bytes in base64 (Ed25519), or a PEM key (ES256).',
    ),
    variable.webhookSecret('WEBHOOK_SECRET', "The webhook subscription's secret"),
    ...variable.environment,
  ],
  traits: { currenciesSold: ['USD', 'EUR', 'CAD'], opensOnce: true, withholdsEmail: true },
  quotesInSession: true,
  facts: {
    inferred: [
      '`X-Hook0-Signature`: `v0` over time and body, `v1` over time, names and values of headers, and body (documentation of Hook0, which sends the webhooks: hook0/hook0, documentation/tutorials/webhook-authentication.md).',
      'A quote is asked for in camel case and answered in snake case (`purchase_amount.value`); `GET /onramp/v1/buy/options`; `sandbox-` before our id in the test environment.',
      '`contractAddress` of a webhook is the contract of the delivered token.',
    ],
    unknown: ['The state of customers in the United States, without a proxy that reports it.'],
  },
  fees: 'included',
  account({ apiKey: keyId, nowMs, ...settings }) {
    const signingKey = settings.key('API_SECRET', readCoinbaseKey);
    const alg = signingKey.asymmetricKeyType === 'ed25519' ? 'EdDSA' : 'ES256';
    return {
      /** Creates a header with a token for one call, bound to its method and URL. */
      async authorizationOf(target: string): Promise<Readonly<Record<string, string>>> {
        const { CompactSign } = await import('jose/jws/compact/sign');
        const nowSeconds = Math.floor(nowMs() / 1000);
        const header = { alg, kid: keyId, typ: 'JWT', nonce: randomBytes(16).toString('hex') };
        const claims = {
          sub: keyId,
          iss: 'cdp',
          iat: nowSeconds,
          nbf: nowSeconds,
          exp: nowSeconds + TOKEN_LIFETIME_SECONDS,
          uris: [target],
        };
        const token = new CompactSign(Buffer.from(JSON.stringify(claims))).setProtectedHeader(header);
        return { authorization: `Bearer ${await token.sign(signingKey)}` };
      },
    };
  },

  async readCatalog({ urls, authorizationOf, readUsdcContract }, request, call) {
    const path = '/onramp/v1/buy/options';
    const options = await call.fields({
      url: `${urls.developer}${path}`,
      query: { country: request.customerCountry ?? 'US' },
      headers: await authorizationOf(`GET ${DEVELOPER_HOST}${path}`),
      maximumBytes: answers.CATALOG_BYTES,
    });
    const coins = options['purchase_currencies'];
    const { networks } = answers.entryOf(coins, 'USDC', ({ symbol }) => symbol === 'USDC');
    const polygon = answers.entryOf(networks, 'USDC on Polygon', ({ name }) => name === 'polygon');
    const tokenContract = readUsdcContract(polygon['contract_address']);
    const fiat = answers.listOf(options['payment_currencies']).find(({ id }) => id === request.currency);
    const limits = answers.listOf(fiat?.['limits'] ?? []).find(({ id }) => id === 'CARD');
    return {
      asset: 'USDC on polygon',
      tokenContract,
      ...answers.limitsOf(limits, 'min', 'max'),
    };
  },

  async quote({ urls, authorizationOf }, request, call) {
    const place = quotedPlaceOf(request);
    if (place === null) {
      // Without a country or US state, there is no price. This call checks that Coinbase is up and sells somewhere.
      const path = '/onramp/v1/buy/config';
      const headers = await authorizationOf(`GET ${DEVELOPER_HOST}${path}`);
      const { countries } = await call.fields({ url: `${urls.developer}${path}`, headers });
      if (!Array.isArray(countries) || countries.length === 0)
        throw new answers.MalformedAnswerError('there is no country to sell in');
      return { deliveryUnits: null };
    }
    const path = '/onramp/v1/buy/quote';
    const quote = await call.ofCustomer.fields({
      url: `${urls.developer}${path}`,
      headers: await authorizationOf(`POST ${DEVELOPER_HOST}${path}`),
      body: {
        purchaseCurrency: 'USDC',
        purchaseNetwork: 'polygon',
        paymentAmount: formatCents(request.amountCents),
        paymentCurrency: request.currency,
        paymentMethod: 'CARD',
        ...place,
      },
    });
    const purchase = answers.fieldsOf(quote['purchase_amount']);
    answers.requireNoOther(purchase, { currency: 'USDC' });
    const { value: total, currency } = answers.fieldsOf(quote['payment_total'] ?? {});
    // Ignores a total in another currency: Coinbase falls back to USD if it does not support the requested one.
    const stated = currency === request.currency ? total : null;
    return {
      chargedCents: answers.readCentsOrNull(stated, 'payment_total') ?? request.amountCents,
      deliveryUnits: answers.readDecimalUnits(purchase['value'], 'purchase_amount'),
    };
  },

  async startSession({ urls, authorizationOf, isSandbox, nowMs }, request, call) {
    const path = '/platform/v2/onramp/sessions';
    const place = quotedPlaceOf(request);
    const { customerIp = null } = request;
    const body = await call.ofCustomer.fields({
      url: `${urls.platform}${path}`,
      headers: await authorizationOf(`POST ${PLATFORM_HOST}${path}`),
      body: {
        destinationAddress: request.depositAddress,
        destinationNetwork: 'polygon',
        purchaseCurrency: 'USDC',
        paymentAmount: formatCents(request.amountCents),
        paymentCurrency: request.currency,
        redirectUrl: request.returnUrl,
        partnerUserRef: `${isSandbox ? SANDBOX_PREFIX : ''}${request.paymentId}`,
        ...(customerIp === null ? {} : { clientIp: customerIp }),
        ...(place === null ? {} : { ...place, paymentMethod: 'CARD' }),
      },
    });
    const { onrampUrl } = answers.fieldsOf(body['session']);
    // Only a session with a country and a payment method includes a quote.
    const quote = place === null || !body['quote'] ? null : answers.fieldsOf(body['quote']);
    const isInCurrency = quote?.['paymentCurrency'] === request.currency;
    return {
      redirectUrl: answers.readRedirectUrl(onrampUrl),
      expiresAtMs: nowMs() + SESSION_LIFETIME_MS,
      quotedUnits:
        quote === null ? null : answers.readDecimalUnits(quote['purchaseAmount'], 'purchaseAmount'),
      chargedCents:
        answers.readCentsOrNull(isInCurrency ? quote['paymentTotal'] : null, 'paymentTotal') ??
        request.amountCents,
    };
  },

  async readWebhook({ webhookSecret }, webhook) {
    const header = webhooks.readSignatureHeader(webhook.headers['x-hook0-signature']);
    const time = header.get('t')?.[0] ?? '';
    requireHook0(webhookSecret, webhook, header);
    webhooks.requireRecent(webhooks.readSignedTime(time) * 1000, webhook.receivedAtMs);

    const fields = webhooks.readWebhookFields(webhook.body);
    const { eventType, status, partnerUserRef: reference } = fields;
    // Ignores events about sales and other products, which belong to no payment.
    if (typeof eventType !== 'string' || !eventType.startsWith('onramp.transaction.')) return null;
    if (typeof reference !== 'string') return null;
    const progress = webhooks.readProgress('coinbase', progressOfStatus, status);
    if (progress === null) return null;
    return {
      paymentId: reference.startsWith(SANDBOX_PREFIX) ? reference.slice(SANDBOX_PREFIX.length) : reference,
      walletAddress:
        answers.readTextOrNull(fields['walletAddress']) ??
        answers.readTextOrNull(fields['destinationAddress']),
      tokenContract: answers.readTextOrNull(fields['contractAddress']),
      progress,
      atMs: timeOf(fields, webhook.receivedAtMs),
    };
  },
});

/** Returns the customer's country, with the state in the United States. Null if that is not enough for a quote. */
function quotedPlaceOf({ customerCountry: country, customerState: subdivision }: QuoteRequest) {
  if (country === 'US') return subdivision ? { country, subdivision } : null;
  return country ? { country } : null;
}

const MAXIMUM_SIGNED_HEADERS = 30;

/** Requires a Hook0 signature. `v0` covers the time and the body. `v1` also covers the headers listed in `h`. */
function requireHook0(
  webhookSecret: string,
  { headers, body }: PostedWebhook,
  signature: ReadonlyMap<string, readonly string[]>,
): void {
  const [time = ''] = signature.get('t') ?? [];
  const { v0 = [], v1 = [] } = Object.fromEntries(signature);
  if (v1.length === 0) {
    webhooks.requireHmac(webhookSecret, [`${time}.`, body], v0);
    return;
  }
  const [names = ''] = signature.get('h') ?? [];
  const signed = names.split(' ', MAXIMUM_SIGNED_HEADERS).map((name) => headers[name.toLowerCase()] ?? '');
  try {
    webhooks.requireHmac(webhookSecret, [`${time}.${names}.${signed.join('.')}.`, body], v1);
  } catch (error) {
    if (v0.length === 0) throw error;
    webhooks.requireHmac(webhookSecret, [`${time}.`, body], v0);
  }
}

/** Returns the latest of the webhook's times. Coinbase uses the year 1 for an event that has not happened yet. */
function timeOf(fields: Readonly<Record<string, unknown>>, receivedAtMs: number): number {
  const times = ['updatedAt', 'completedAt', 'createdAt']
    .map((name) => fields[name])
    .filter((value) => value !== undefined && value !== null)
    .map((value) => webhooks.readWebhookTimeMs(value, receivedAtMs));
  return times.length === 0 ? receivedAtMs : Math.max(...times);
}

/** Parses an API key's secret: PEM, or 64 bytes in base64 (Ed25519 seed and public key). Null for anything else. */
function readCoinbaseKey(secret: string): KeyObject | null {
  try {
    const key = secret.includes('-----BEGIN')
      ? createPrivateKey(secret.replaceAll('\\n', '\n'))
      : ed25519KeyOf(Buffer.from(secret, 'base64'));
    return key !== null && signsTokens(key) ? key : null;
  } catch {
    return null;
  }
}

/** Creates a key from a 32-byte seed and its 32-byte public key. Returns null unless they match. */
function ed25519KeyOf(bytes: Buffer): KeyObject | null {
  if (bytes.length !== 64) return null;
  const encoded = {
    d: bytes.subarray(0, 32).toString('base64url'),
    x: bytes.subarray(32).toString('base64url'),
  };
  const key = createPrivateKey({ key: { kty: 'OKP', crv: 'Ed25519', ...encoded }, format: 'jwk' });
  return createPublicKey(key).export({ format: 'jwk' }).x === encoded.x ? key : null;
}

/** Returns whether the key can sign tokens. Only Ed25519 and P-256 keys can. */
function signsTokens({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): boolean {
  return asymmetricKeyType === 'ed25519' || asymmetricKeyDetails?.namedCurve === 'prime256v1';
}
