/**
 * Transak: a session is created with a partner's access token, and its URL opens once. A new access token invalidates
 * the old one, so calls share one, refreshed once at a time; each instance's refresh invalidates the token of the
 * others, which notice with their next session. `facts` lists what the adapter relies on, with sources.
 */
import { formatCents } from '../../payment/money.ts';
import type { SessionProgress } from '../../payment/provider-session.ts';
import { ProviderWebhookRefusedError } from '../provider.ts';
import { defineProvider } from './define-provider.ts';
import * as answers from './provider-http.ts';
import { type Call, requireSuccess } from './provider-http.ts';
import * as variable from './provider-variables.ts';
import { readProgress, readWebhookFields, readWebhookTimeMs } from './webhook-signature.ts';

const SESSION_LIFETIME_MS = 5 * 60_000;

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
  /** Accepts INR only by UPI, and the checkout is for cards. */
  traits: { currenciesSold: ['USD', 'EUR', 'CAD'], opensOnce: true, checksReferrer: true },
  facts: {
    official: [
      'Hosts, `POST /partners/api/v2/refresh-token`, `POST /api/v2/auth/session`, `referrerDomain`, one use within five minutes (docs.transak.com).',
      '`x-api-key` on every call, `x-user-ip` with the address at which the customer opens the widget, and egress addresses on the allowlist, from 2026-07-15 (docs.transak.com/guides/mandatory-security-changes).',
      'The reference of the session requires `access-token` alone (docs.transak.com/api/public/create-widget-url): a session whose customer has no known address is started without `x-user-ip`.',
    ],
    sdk: [
      'A webhook is a JWT with HS256 (jose; a test compares with it). The packages of Transak only embed the widget.',
    ],
    inferred: [
      '`GET /api/v1/pricing/public/quotes` and `response.cryptoAmount`; the parameters of the widget; `x-user-ip` with the session (vechain/vechain-kit).',
      'Webhooks are keyed with the current access token; their fields and states.',
      '`fiatAmount` is all that the customer pays: MetaMask asks for fees on top with `isFeeExcludedFromFiat=true` (MetaMask/core), which is not sent.',
      'A request without a user agent may be refused.',
    ],
    unknown: [
      'Which calls Transak refuses without `x-user-ip`.',
      'Whether a webhook that was sent before the access token was refreshed is signed again; until then it is refused.',
    ],
  },
  fees: 'included',
  account({ apiKey, baseUrl, nowMs, urls, value, valueOrNull }) {
    const apiSecret = value('API_SECRET');
    const token = createSharedToken(nowMs);
    return {
      /** Customers' domain as registered at Transak. */
      referrerDomain: valueOrNull('REFERRER_DOMAIN') ?? new URL(baseUrl).hostname,
      forgetToken: token.forget,
      readToken: (call: Call) =>
        token.read(async () => {
          const requestedAtMs = nowMs();
          const answer = await call.fields({
            url: `${urls.api}/partners/api/v2/refresh-token`,
            headers: { 'api-secret': apiSecret },
            body: { apiKey },
          });
          const { accessToken, expiresAt } = answers.fieldsOf(answer['data']);
          // Seconds since 1970; any other value is trusted for an hour.
          const expiresAtMs = typeof expiresAt === 'number' ? expiresAt * 1000 : requestedAtMs + 60 * 60_000;
          return { token: answers.readToken(accessToken), expiresAtMs };
        }),
    };
  },
  headers: ({ apiKey }) => ({ 'x-api-key': apiKey }),

  async quote({ urls, apiKey }, request, call) {
    const answer = await call.fields({
      url: `${urls.api}/api/v1/pricing/public/quotes`,
      query: {
        partnerApiKey: apiKey,
        fiatCurrency: request.currency,
        cryptoCurrency: 'USDC',
        isBuyOrSell: 'BUY',
        network: 'polygon',
        paymentMethod: 'credit_debit_card',
        fiatAmount: formatCents(request.amountCents),
      },
    });
    const quote = answers.fieldsOf(answer['response']);
    return { deliveryUnits: answers.readDecimalUnits(quote['cryptoAmount'], 'cryptoAmount') };
  },

  async startSession({ urls, apiKey, nowMs, warn, ...account }, request, call) {
    const { customerIp = null } = request;
    if (customerIp === null)
      warn?.(
        'Transak session without the IP address of the customer, which Transak requires: check TRUST_PROXY, unless it was of provider check without --ip, or of a rehearsal',
      );
    const userIp = customerIp === null ? {} : { 'x-user-ip': customerIp };
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
      redirectURL: request.returnUrl,
      paymentMethod: 'credit_debit_card',
      ...(request.email === null ? {} : { email: request.email }),
    };
    const post = (accessToken: string) =>
      call.ofCustomer.answer({
        url: `${urls.gateway}/api/v2/auth/session`,
        headers: { 'access-token': accessToken, ...userIp },
        body: { widgetParams },
      });
    const token = await account.readToken(call);
    let answer = await post(token);
    // Refreshes a refused token once: another server with the same account may have replaced it.
    if (answer.status === 401) {
      account.forgetToken(token);
      answer = await post(await account.readToken(call));
    }
    const { data } = answers.fieldsOf(requireSuccess('transak', answer));
    return {
      redirectUrl: answers.readRedirectUrl(answers.fieldsOf(data)['widgetUrl']),
      expiresAtMs: nowMs() + SESSION_LIFETIME_MS,
    };
  },

  async readWebhook({ readToken }, webhook, call) {
    const accessToken = await readToken(call);
    const { data } = readWebhookFields(webhook.body);
    const payload = readWebhookFields(await verifyJwt(data, accessToken));
    const eventId = payload['eventID'];
    // Events of identity checks concern no payment.
    if (typeof eventId !== 'string' || !eventId.startsWith('ORDER_')) return null;
    const order = answers.fieldsOf(payload['webhookData']);
    const paymentId = order['partnerOrderId'];
    if (typeof paymentId !== 'string') return null;
    const progress = readProgress('transak', progressOfStatus, order['status']);
    const atMs = readWebhookTimeMs(payload['createdAt'], webhook.receivedAtMs);
    return { paymentId, walletAddress: answers.readTextOrNull(order['walletAddress']), progress, atMs };
  },
});

/** Payload of a JWT with exactly this algorithm and key. Throws `ProviderWebhookRefusedError`. */
async function verifyJwt(jwt: unknown, key: string): Promise<Buffer> {
  const { compactVerify } = await import('jose/jws/compact/verify');
  try {
    const { payload } = await compactVerify(String(jwt), Buffer.from(key), { algorithms: ['HS256'] });
    return Buffer.from(payload);
  } catch (error) {
    throw new ProviderWebhookRefusedError('the webhook holds no JWT that the access token signed', {
      cause: error,
    });
  }
}

interface AccessToken {
  readonly token: string;
  readonly expiresAtMs: number;
}

/** Time before its expiry from which a token is replaced. */
const EARLY_MS = 60_000;

/** Token shared by calls and fetched once at a time. A failed fetch is not cached. */
function createSharedToken(nowMs: () => number) {
  let current: AccessToken | null = null;
  let fetching: Promise<string> | null = null;

  async function fetchNew(fetchToken: () => Promise<AccessToken>): Promise<string> {
    current = await fetchToken();
    return current.token;
  }

  return {
    /** The token, fetched if there is none or it expires soon; concurrent callers share one fetch. */
    read(fetchToken: () => Promise<AccessToken>): Promise<string> {
      if (current !== null && nowMs() < current.expiresAtMs - EARLY_MS) return Promise.resolve(current.token);
      fetching ??= fetchNew(fetchToken).finally(() => {
        fetching = null;
      });
      return fetching;
    },
    /** Drops a refused token, unless another one has replaced it. */
    forget(token: string): void {
      if (current?.token === token) current = null;
    },
  };
}
