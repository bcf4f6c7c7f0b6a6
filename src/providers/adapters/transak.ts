/**
 * Transak: creates a session with the partner's access token. The session's URL can be opened only once. A new access
 * token invalidates the old one, so calls share a token, and only one call at a time refreshes it. If another instance
 * refreshes the token, the next session here is refused and fetches a new one. Calls made for a customer include the
 * customer's IP address. Other calls, such as those for a merchant's create request, do not.
 */
import { formatCents } from '../../payment/money.ts';
import type { SessionProgress } from '../../payment/provider-session.ts';
import { ProviderWebhookRefusedError } from '../provider.ts';
import { defineProvider } from './define-provider.ts';
import * as answers from './provider-http.ts';
import { type Call, DeclinedRequestError, requireSuccess } from './provider-http.ts';
import * as variable from './provider-variables.ts';
import { readProgress, readWebhookFields, readWebhookTimeMs } from './webhook-signature.ts';

const SESSION_LIFETIME_MS = 5 * 60_000;
/** Maximum length of a catalog, which lists all coins on all networks, or all currencies with payment options. */
const MAXIMUM_CATALOG_BYTES = 8 * 1024 * 1024;
/** Pause after a failed token request for a webhook, because strangers can send webhooks. */
const TOKEN_RETRY_MS = 30_000;

const progressOfStatus: ReadonlyMap<unknown, SessionProgress> = new Map([
  ['AWAITING_PAYMENT_FROM_USER', 'paying'],
  ['PAYMENT_DONE_MARKED_BY_USER', 'paying'],
  ['PROCESSING', 'delivering'],
  ['PENDING_DELIVERY_FROM_TRANSAK', 'delivering'],
  ['ON_HOLD_PENDING_DELIVERY_FROM_TRANSAK', 'delivering'],
  ['COMPLETED', 'delivered'],
  ['CANCELLED', 'failed'],
  ['FAILED', 'failed'],
  ['REFUNDED', 'failed'],
  ['EXPIRED', 'failed'],
]);

export const transak = defineProvider({
  id: 'transak',
  hosts: {
    api: { production: 'https://api.transak.com', sandbox: 'https://api-stg.transak.com' },
    gateway: {
      production: 'https://api-gateway.transak.com',
      sandbox: 'https://api-gateway-stg.transak.com',
    },
  },
  variables: [
    variable.secret('API_KEY', 'The API key; without it, the provider is inactive.'),
    variable.secret('API_SECRET', 'The API secret, which mints access tokens.'),
    variable.optional(
      variable.plain(
        'REFERRER_DOMAIN',
        'The domain from which Transak expects customers (the host of BASE_URL).',
      ),
    ),
    ...variable.environment,
  ],
  /** INR is missing, because Transak accepts it only by UPI and the checkout is for cards. */
  traits: { currenciesSold: ['USD', 'EUR', 'CAD'], opensOnce: true, checksReferrer: true, needsIp: true },
  facts: {
    inferred: [
      '`x-user-ip` with the session (vechain/vechain-kit), and with the token and the quote (bitpay/bitcore, 2026-07-06).',
      '`fiatAmount`, which a quote repeats, is all that the customer pays: MetaMask asks for fees on top with `isFeeExcludedFromFiat=true` (MetaMask/core), which is not sent.',
      'The fields of `webhookData`; a request without a user agent may be refused.',
      '`GET /cryptocoverage/api/v1/public/crypto-currencies` with `symbol`, `network.name`, `address`, `isAllowed`, `kycCountriesNotSupported`; `GET /fiat/public/v1/currencies/fiat-currencies` with `paymentOptions[].id`, `isActive`, `limitCurrency`, `minAmount`, `maxAmount` (gemwalletcom/core, in production, with a recorded answer).',
      '`google_pay` beside `apple_pay` and `credit_debit_card` (public integrations).',
    ],
    unknown: [
      'How many decimals `fiatAmount` may have; which calls Transak refuses without `x-user-ip`, and in which words: any 4xx that names the header counts as this refusal, not as an outage.',
      'Whether a webhook that was sent before the access token was refreshed is signed again; until then it is refused.',
    ],
  },
  means: { card: 'credit_debit_card', apple_pay: 'apple_pay', google_pay: 'google_pay' },
  fees: 'included',
  account({ apiKey, baseUrl, nowMs, urls, value, valueOrNull }) {
    const apiSecret = value('API_SECRET');
    const token = createSharedToken(nowMs);
    let pausedUntilMs = 0;
    const readToken = (call: Call, customerIp: string | null) =>
      token.read(async () => {
        const requestedAtMs = nowMs();
        const answer = await (customerIp === null ? call : call.ofCustomer).answer({
          url: `${urls.api}/partners/api/v2/refresh-token`,
          headers: { 'api-secret': apiSecret, ...userIpOf(customerIp) },
          body: { apiKey },
        });
        const { accessToken, expiresAt } = answers.fieldsOf(requireFields(answer, customerIp)['data']);
        // `expiresAt` is in seconds since 1970. If it is missing or past, the token is assumed to last an hour.
        const statedMs = typeof expiresAt === 'number' ? expiresAt * 1000 : 0;
        const expiresAtMs = statedMs > requestedAtMs ? statedMs : requestedAtMs + 60 * 60_000;
        return { token: answers.readToken(accessToken), expiresAtMs };
      });
    return {
      /** Domain of the checkout page, as registered at Transak. */
      referrerDomain: valueOrNull('REFERRER_DOMAIN') ?? new URL(baseUrl).hostname,
      forgetToken: token.forget,
      readToken,
      async readTokenForWebhook(call: Call) {
        if (nowMs() < pausedUntilMs) throw new Error('transak gave no access token a moment ago');
        return readToken(call, null).catch((error: unknown) => {
          pausedUntilMs = nowMs() + TOKEN_RETRY_MS;
          throw error;
        });
      },
    };
  },
  headers: ({ apiKey }) => ({ 'x-api-key': apiKey }),

  async readCatalog({ urls, methodOf, readUsdcContract }, request, call) {
    const { customerCountry: country } = request;
    const read = async (path: string) => {
      const answer = await call.answer({ url: `${urls.api}${path}`, maximumBytes: MAXIMUM_CATALOG_BYTES });
      return requireFields(answer, null)['response'];
    };
    const coin = answers.entryOf(
      await read('/cryptocoverage/api/v1/public/crypto-currencies'),
      'USDC on polygon',
      ({ symbol, network, isAllowed }) =>
        symbol === 'USDC' && answers.fieldsOf(network ?? {})['name'] === 'polygon' && isAllowed !== false,
    );
    const { kycCountriesNotSupported: countries, regionsNotSupported: regions } = coin;
    const isRefused = Array.isArray(countries) && countries.includes(country);
    const region = answers.listOf(regions ?? []).find((each) => each['country'] === country);
    const { currency } = request;
    const fiats = await read('/fiat/public/v1/currencies/fiat-currencies');
    const { paymentOptions } = answers.entryOf(fiats, currency, ({ symbol }) => symbol === currency);
    const method = methodOf(request);
    const isSold = ({ id, isActive }: answers.AnswerFields) => id === method && isActive !== false;
    const option = answers.entryOf(paymentOptions, method, isSold);
    // Ignores limits in another currency.
    const limits = (option['limitCurrency'] ?? currency) === currency ? option : {};
    return {
      asset: 'USDC on polygon',
      tokenContract: readUsdcContract(coin['address']),
      ...answers.excludedRegions(country, isRefused ? [] : region?.['restrictedStates']),
      ...answers.limitsOf(limits, 'minAmount', 'maxAmount'),
    };
  },

  async quote({ urls, apiKey, methodOf, warn }, request, call) {
    const { customerCountry = null, customerIp = null } = request;
    const answer = await ((customerCountry ?? customerIp) ? call.ofCustomer : call).answer({
      url: `${urls.api}/api/v1/pricing/public/quotes`,
      query: {
        partnerApiKey: apiKey,
        fiatCurrency: request.currency,
        cryptoCurrency: 'USDC',
        isBuyOrSell: 'BUY',
        network: 'polygon',
        paymentMethod: methodOf(request),
        fiatAmount: formatCents(request.amountCents),
        ...(customerCountry === null ? {} : { quoteCountryCode: customerCountry }),
      },
      headers: userIpOf(customerIp),
    });
    if (customerIp === null && lacksUserIp(answer)) {
      warn?.('Transak refuses quotes without x-user-ip, so those for no customer have no price');
      return { deliveryUnits: null };
    }
    const quote = answers.fieldsOf(requireFields(answer, customerIp)['response']);
    answers.requireNoOther(quote, { fiatCurrency: request.currency, cryptoCurrency: 'USDC' });
    return {
      chargedCents: answers.readCentsOrNull(quote['fiatAmount'], 'fiatAmount') ?? request.amountCents,
      deliveryUnits: answers.readDecimalUnits(quote['cryptoAmount'], 'cryptoAmount'),
    };
  },

  async startSession({ urls, apiKey, nowMs, ...account }, request, call) {
    const { customerIp = null } = request;
    const widgetParams = {
      apiKey,
      referrerDomain: account.referrerDomain,
      fiatAmount: Number(formatCents(request.amountCents)),
      fiatCurrency: request.currency,
      cryptoCurrencyCode: 'USDC',
      network: 'polygon',
      walletAddress: request.depositAddress,
      disableWalletAddressForm: true,
      partnerOrderId: request.paymentId,
      partnerCustomerId: request.customerReference,
      redirectURL: request.returnUrl,
      paymentMethod: account.methodOf(request),
      ...(request.email === null ? {} : { email: request.email }),
    };
    const post = (accessToken: string) =>
      call.ofCustomer.answer({
        url: `${urls.gateway}/api/v2/auth/session`,
        headers: { 'access-token': accessToken, ...userIpOf(customerIp) },
        body: { widgetParams },
      });
    const token = await account.readToken(call, customerIp);
    let answer = await post(token);
    // Refreshes a refused token once, because another instance with the same account may have replaced it.
    if (answer.status === 401 && !lacksUserIp(answer) && account.forgetToken(token))
      answer = await post(await account.readToken(call, customerIp));
    const { data } = requireFields(answer, customerIp);
    return {
      redirectUrl: answers.readRedirectUrl(answers.fieldsOf(data)['widgetUrl']),
      expiresAtMs: nowMs() + SESSION_LIFETIME_MS,
    };
  },

  async readWebhook({ readTokenForWebhook }, webhook, call) {
    const { data } = readWebhookFields(webhook.body);
    const payload = readWebhookFields(await verifyJwt(data, () => readTokenForWebhook(call)));
    const eventId = payload['eventID'];
    if (typeof eventId !== 'string' || !eventId.startsWith('ORDER_')) return null;
    const order = answers.fieldsOf(payload['webhookData']);
    const paymentId = order['partnerOrderId'];
    if (typeof paymentId !== 'string') return null;
    const progress = readProgress('transak', progressOfStatus, order['status']);
    const atMs = readWebhookTimeMs(payload['createdAt'], webhook.receivedAtMs);
    return { paymentId, walletAddress: answers.readTextOrNull(order['walletAddress']), progress, atMs };
  },
});

function userIpOf(customerIp: string | null): Readonly<Record<string, string>> {
  return customerIp === null ? {} : { 'x-user-ip': customerIp };
}

/** Returns whether a call was refused because the customer's IP address is missing or rejected. */
function lacksUserIp({ status, body }: answers.JsonAnswer): boolean {
  return status >= 400 && status < 500 && /user[-_ ]?ip/i.test(JSON.stringify(body ?? null));
}

/** Returns a successful answer's fields. A refusal due to the IP address is neither an outage nor wrong credentials. */
function requireFields(answer: answers.JsonAnswer, customerIp: string | null): answers.AnswerFields {
  if (!lacksUserIp(answer)) return answers.fieldsOf(requireSuccess('transak', answer));
  const known = customerIp === null ? 'which is unknown: check TRUST_PROXY' : 'which was sent';
  throw new DeclinedRequestError(`transak answered ${answer.status} and requires x-user-ip, ${known}`);
}

/**
 * Returns the payload of a JWT signed with HS256 and the key. Reads the key only for a JWT, because anyone can send
 * webhooks. Throws `ProviderWebhookRefusedError` for anything else, or the error of `readKey`.
 */
async function verifyJwt(jwt: unknown, readKey: () => Promise<string>): Promise<Buffer> {
  const { compactVerify } = await import('jose/jws/compact/verify');
  const { JOSEError } = await import('jose/errors');
  try {
    const key = async () => Buffer.from(await readKey());
    const { payload } = await compactVerify(String(jwt), key, { algorithms: ['HS256'] });
    return Buffer.from(payload);
  } catch (cause) {
    if (!(cause instanceof JOSEError)) throw cause;
    throw new ProviderWebhookRefusedError('the webhook holds no JWT that the access token signed', { cause });
  }
}

interface AccessToken {
  readonly token: string;
  readonly expiresAtMs: number;
}

/** Time before a token's expiry at which a new token is fetched. */
const EARLY_MS = 60_000;
/** Age below which a refused token is kept, because a new one invalidates the token that all other calls use. */
const MINIMUM_AGE_MS = 60_000;

/** Creates a cache for a token that calls share. Concurrent calls share one fetch. A failed fetch is not cached. */
function createSharedToken(nowMs: () => number) {
  let current: AccessToken | null = null;
  let fetchedAtMs = 0;
  let fetching: Promise<AccessToken> | null = null;
  return {
    async read(fetchToken: () => Promise<AccessToken>): Promise<string> {
      if (current !== null && nowMs() < current.expiresAtMs - EARLY_MS) return current.token;
      fetching ??= fetchToken().finally(() => {
        fetching = null;
        fetchedAtMs = nowMs();
      });
      current = await fetching;
      return current.token;
    },
    /** Drops a refused token. Returns false if the token is too new to be replaced. */
    forget(token: string): boolean {
      if (current?.token !== token) return true;
      if (nowMs() < fetchedAtMs + MINIMUM_AGE_MS) return false;
      current = null;
      return true;
    },
  };
}
