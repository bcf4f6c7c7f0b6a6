import { bytesToHex } from '@noble/hashes/utils.js';
import { ConnectionError } from './errors.ts';
import { type RequestContext, sendRequest } from './send-request.ts';
import type {
  CheckoutRequest,
  DirectPayment,
  DirectPaymentRequest,
  MerchantCheckout,
  MerchantCheckoutRequest,
  MerchantEventPage,
  MerchantPayment,
  MerchantPaymentPage,
  Payment,
  PaymentListFilter,
  PaymentStatus,
  Refund,
  RefundList,
  RefundRequest,
  SettlementPublication,
} from './wire.ts';

export interface ClientOptions {
  /** `service_live_…`. Only for servers, never for a page or an app. */
  readonly apiKey: string;
  /** Root of the service, such as `https://pay.example.com`. Plain http is allowed for this machine only. */
  readonly baseUrl: string;
  /**
   * Allows plain http to other machines, for a private network such as Docker Compose. Anyone on the path can read the
   * API key. Default: false.
   */
  readonly allowInsecureHttp?: boolean;
  /** Timeout of one attempt. Default: 30,000. */
  readonly timeoutMs?: number;
  /** Attempts after the first. Default: 2. */
  readonly maximumRetries?: number;
  /** Maximum pause that the service may ask for; a longer one throws. Default: 10,000. */
  readonly maximumPauseMs?: number;
  /** Default: the runtime's own. */
  readonly fetch?: typeof globalThis.fetch;
  /** Wait function, for tests. */
  readonly wait?: (ms: number) => Promise<void>;
  /** Random number from 0 to 1, for tests. */
  readonly random?: () => number;
}

/** Payment id or token; the token comes from the response to create. */
export type PaymentQuery = { readonly paymentId: string } | { readonly ipnToken: string };

/** Events per page, few enough to stay well below the client's limit of a response. */
const EVENTS_OF_A_PAGE = 50;

/** Client of the service for a merchant's server. */
export interface Client {
  readonly checkouts: {
    /**
     * Creates a checkout. Pass your order number as `idempotencyKey`: an order then gets one payment, however often the
     * customer clicks. Without it, each call creates a payment; retries within a call do not create another.
     *
     * @throws ApiError, ConnectionError
     */
    create(request: CheckoutRequest, options?: { readonly idempotencyKey?: string }): Promise<Payment>;
  };
  readonly payments: {
    /**
     * Reads the status of a payment.
     *
     * @throws ApiError (404: unknown, or of another account), ConnectionError
     */
    retrieve(query: PaymentQuery | string): Promise<PaymentStatus>;
    /**
     * Lists payments of the account, newest first; `before` is the `next` of the previous page.
     * @throws ApiError, ConnectionError
     */
    list(filter?: PaymentListFilter): Promise<MerchantPaymentPage>;
    /**
     * Cancels a payment for which less than 0.01 USDC has arrived.
     * @throws ApiError (409: its state does not allow it), ConnectionError
     */
    cancel(paymentId: string): Promise<MerchantPayment>;
  };
  readonly refunds: {
    /**
     * Opens a refund. Pass your return number as `idempotencyKey`: the return then gets one refund, however often you
     * call.
     *
     * @throws ApiError (409: less can be refunded, or the key was used with other parameters), ConnectionError
     */
    create(
      paymentId: string,
      request?: RefundRequest,
      options?: { readonly idempotencyKey?: string },
    ): Promise<Refund>;
    /**
     * Returns a payment's refunds and the amount that can still be refunded.
     *
     * @throws ApiError, ConnectionError
     */
    list(paymentId: string): Promise<RefundList>;
    /**
     * Reads a refund.
     *
     * @throws ApiError (404: unknown, or of another account), ConnectionError
     */
    get(refundId: string): Promise<Refund>;
    /**
     * Confirms the address that the customer entered, as you saw it.
     * @throws ApiError (409: it has changed), ConnectionError
     */
    confirm(refundId: string, destination: string): Promise<Refund>;
    /**
     * Submits the hash of your transfer if its amount differs from the refund's.
     *
     * @throws ApiError, ConnectionError
     */
    submitTransaction(refundId: string, transaction: string): Promise<Refund>;
    /**
     * Cancels an unpaid refund.
     *
     * @throws ApiError (409: it is paid or canceled), ConnectionError
     */
    cancel(refundId: string): Promise<Refund>;
  };
  readonly events: {
    /**
     * Reads the events after a number, or from the oldest. `followEvents` does so in a loop.
     *
     * @throws ApiError (410: events after that number were deleted), ConnectionError
     */
    list(query?: { readonly after?: number; readonly limit?: number }): Promise<MerchantEventPage>;
  };
  readonly merchantCheckouts: {
    /**
     * Creates a checkout with reference, metadata, line items, return addresses and an expiry. `address` and `callback`
     * default to the account's.
     *
     * @throws ApiError, ConnectionError
     */
    create(
      request: MerchantCheckoutRequest,
      options?: { readonly idempotencyKey?: string },
    ): Promise<MerchantCheckout>;
  };
  readonly directPayments: {
    /**
     * Creates a payment in USDC from the customer's own wallet. `address` and `callback` default to the account's.
     * @throws ApiError, ConnectionError
     */
    create(
      request: DirectPaymentRequest,
      options?: { readonly idempotencyKey?: string },
    ): Promise<DirectPayment>;
  };
  readonly journal: {
    /**
     * Reads the double-entry journal of a month, such as `2026-11`, as CSV.
     *
     * @throws ApiError, ConnectionError
     */
    csv(month: string): Promise<string>;
  };
  readonly settlement: {
    /**
     * Reads the contracts from which deposit addresses are computed. Store the result with your code instead of
     * requesting it each time.
     *
     * @throws ApiError, ConnectionError
     */
    retrieve(): Promise<SettlementPublication>;
  };
}

/**
 * Creates a client of one account. It holds no connection, so nothing has to be closed.
 *
 * @throws TypeError for an incomplete key, a base URL that is not secure, and in a browser
 */
export function createClient(options: ClientOptions): Client {
  const context: RequestContext = {
    baseUrl: checkBaseUrl(options.baseUrl, options.allowInsecureHttp === true),
    apiKey: checkApiKey(options.apiKey),
    fetch: options.fetch ?? ((...parameters) => globalThis.fetch(...parameters)),
    timeoutMs: options.timeoutMs ?? 30_000,
    maximumRetries: options.maximumRetries ?? 2,
    maximumPauseMs: options.maximumPauseMs ?? 10_000,
    wait: options.wait ?? ((ms) => new Promise((resolve) => setTimeout(resolve, ms))),
    random: options.random ?? Math.random,
  };
  const refundPath = (refundId: string) => `/merchant/v1/refunds/${encodeURIComponent(refundId)}`;
  const refundsOf = (paymentId: string) => `/merchant/v1/payments/${encodeURIComponent(paymentId)}/refunds`;
  const refundOf = (answer: unknown) =>
    expectFields<Refund>(answer, ['refund_id', 'payment_id', 'status', 'amount']);
  /** Changes are not retried, because the service would refuse the second attempt with a conflict. */
  async function refund(method: 'GET' | 'POST', path: string, body?: object): Promise<Refund> {
    const headers = { 'content-type': 'application/json' };
    const sent = body === undefined ? {} : { headers, body: JSON.stringify(body) };
    const answer = await sendRequest(method === 'GET' ? context : { ...context, maximumRetries: 0 }, {
      method,
      path,
      ...sent,
    });
    return refundOf(answer);
  }
  const post = async (path: string, request: object, idempotencyKey: string | undefined) =>
    sendRequest(context, {
      method: 'POST',
      path,
      headers: {
        'content-type': 'application/json',
        'idempotency-key': idempotencyKey ?? (await createIdempotencyKey()),
      },
      body: JSON.stringify(request),
    });
  return {
    checkouts: {
      async create(request, { idempotencyKey } = {}) {
        const answer = await post('/api/v1/wallet', request, idempotencyKey);
        return expectFields<Payment>(answer, ['payment_id', 'ipn_token', 'checkout_url']);
      },
    },
    payments: {
      async retrieve(query) {
        const answer = await sendRequest(context, {
          method: 'GET',
          path: `/api/v1/payment-status?${queryOf(query)}`,
        });
        return expectFields<PaymentStatus>(answer, ['payment_id', 'status', 'forward_status']);
      },
      async list(filter = {}) {
        const answer = await sendRequest(context, {
          method: 'GET',
          path: withQuery('/merchant/v1/payments', filter),
        });
        return expectList<MerchantPaymentPage>(answer, 'payments');
      },
      async cancel(paymentId) {
        const path = `/merchant/v1/payments/${encodeURIComponent(paymentId)}/cancel`;
        const answer = await sendRequest(context, { method: 'POST', path });
        return expectFields<MerchantPayment>(answer, ['payment_id', 'status', 'forward_status']);
      },
    },
    refunds: {
      create: async (paymentId, request = {}, { idempotencyKey } = {}) =>
        refundOf(await post(refundsOf(paymentId), request, idempotencyKey)),
      async list(paymentId) {
        const answer = await sendRequest(context, { method: 'GET', path: refundsOf(paymentId) });
        return expectList<RefundList>(answer, 'refunds');
      },
      get: (refundId) => refund('GET', refundPath(refundId)),
      confirm: (refundId, destination) => refund('POST', `${refundPath(refundId)}/confirm`, { destination }),
      submitTransaction: (refundId, transaction) =>
        refund('POST', `${refundPath(refundId)}/transaction`, { transaction }),
      cancel: (refundId) => refund('POST', `${refundPath(refundId)}/cancel`),
    },
    events: {
      async list({ after, limit = EVENTS_OF_A_PAGE } = {}) {
        const path = withQuery('/merchant/v1/events', { after, limit });
        return expectList<MerchantEventPage>(await sendRequest(context, { method: 'GET', path }), 'events');
      },
    },
    merchantCheckouts: {
      async create(request, { idempotencyKey } = {}) {
        const answer = await post('/merchant/v1/checkouts', request, idempotencyKey);
        return expectFields<MerchantCheckout>(answer, ['payment_id', 'ipn_token', 'checkout_url']);
      },
    },
    directPayments: {
      async create(request, { idempotencyKey } = {}) {
        const answer = await post('/merchant/v1/direct-payments', request, idempotencyKey);
        return expectFields<DirectPayment>(answer, [
          'payment_id',
          'ipn_token',
          'checkout_url',
          'usdc_amount',
        ]);
      },
    },
    journal: {
      async csv(month) {
        const path = withQuery('/merchant/v1/journal.csv', { month });
        return (await sendRequest(context, { method: 'GET', path, accept: 'text/csv' })) as string;
      },
    },
    settlement: {
      async retrieve() {
        const answer = await sendRequest(context, { method: 'GET', path: '/.well-known/card-checkout.json' });
        return answer as SettlementPublication;
      },
    },
  };
}

function queryOf(query: PaymentQuery | string): string {
  if (typeof query === 'string') return `payment_id=${encodeURIComponent(query)}`;
  return 'ipnToken' in query
    ? `ipn_token=${encodeURIComponent(query.ipnToken)}`
    : `payment_id=${encodeURIComponent(query.paymentId)}`;
}

function withQuery(path: string, parameters: object): string {
  const given = Object.entries(parameters).filter(([, value]) => value !== undefined);
  const query = new URLSearchParams(
    given.map(([name, value]): [string, string] => [name, String(value)]),
  ).toString();
  return query === '' ? path : `${path}?${query}`;
}

function expectList<Answer>(answer: unknown, field: keyof Answer & string): Answer {
  if (Array.isArray((answer as Readonly<Record<string, unknown>>)[field])) return answer as Answer;
  throw new ConnectionError(`the answer has no ${field}`);
}

/** Rejects a response without these fields, which does not come from the service. */
function expectFields<Answer>(answer: unknown, fields: readonly (keyof Answer & string)[]): Answer {
  const record = answer as Readonly<Record<string, unknown>>;
  const missing = fields.filter((field) => typeof record[field] !== 'string');
  if (missing.length > 0) throw new ConnectionError(`the answer has no ${missing.join(', ')}`);
  return answer as Answer;
}

function checkApiKey(apiKey: string): string {
  if ('document' in globalThis && 'window' in globalThis) {
    throw new TypeError('an API key must never be in a browser: call the service from your server');
  }
  if (typeof apiKey !== 'string' || !apiKey.startsWith('service_live_')) {
    throw new TypeError('apiKey must be the whole key, which begins with service_live_');
  }
  return apiKey;
}

function checkBaseUrl(baseUrl: string, isHttpAllowed: boolean): string {
  let url: URL;
  try {
    url = new URL(baseUrl);
  } catch {
    throw new TypeError('baseUrl must be the root of the service, such as https://pay.example.com');
  }
  const isAllowed = isHttpAllowed || /^(localhost|127(\.\d+){3}|\[::1\])$/.test(url.hostname);
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isAllowed)) {
    throw new TypeError(
      'baseUrl must begin with https://, or set allowInsecureHttp: the API key is readable on the way',
    );
  }
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
}

/** 128 random bits. Node 18 has Web Crypto only as a module; the indirect name hides it from bundlers. */
async function createIdempotencyKey(): Promise<string> {
  const moduleName = 'node:crypto';
  const crypto =
    globalThis.crypto ?? ((await import(moduleName)) as { webcrypto: typeof globalThis.crypto }).webcrypto;
  return `sdk-${bytesToHex(crypto.getRandomValues(new Uint8Array(16)))}`;
}
