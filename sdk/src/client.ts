import { bytesToHex } from '@noble/hashes/utils.js';
import { ArgumentError, ConnectionError } from './errors.ts';
import { type CallOptions, type Fetch, type RequestContext, sendRequest } from './send-request.ts';
import type {
  AuditLog,
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
  /** API key, `service_live_…`. Only for servers, never for a page or an app. */
  readonly apiKey: string;
  /** Root of the service, such as `https://pay.example.com`. Plain http is only allowed for this machine. */
  readonly baseUrl: string;
  /**
   * Whether to allow plain http to other machines, for a private network such as Docker Compose. Anyone on the network
   * path can then read the API key. Default: false.
   */
  readonly allowInsecureHttp?: boolean;
  /** Timeout of one attempt in milliseconds. Default: 30,000. */
  readonly timeoutMs?: number;
  /** Maximum attempts after the first. Default: 2. */
  readonly maximumRetries?: number;
  /** Maximum pause before a retry, in milliseconds. A longer `Retry-After` throws. Default: 10,000. */
  readonly maximumPauseMs?: number;
  /** Implementation of `fetch`. Default: the runtime's. */
  readonly fetch?: Fetch;
  /** Wait function, for tests. */
  readonly wait?: (ms: number) => Promise<void>;
  /** Source of random numbers from 0 to 1, for tests. */
  readonly random?: () => number;
}

/** Settings of a call that creates something. */
export interface CreateOptions extends CallOptions {
  /** Idempotency key of 1 to 255 visible ASCII characters, such as the order number. */
  readonly idempotencyKey?: string;
}

/** Payment id, or the token from the response to the creation. */
export type PaymentQuery = { readonly paymentId: string } | { readonly ipnToken: string };

/** Events per page. The response stays well below the client's size limit. */
const EVENTS_OF_A_PAGE = 50;

/** Client of the service for a merchant's server. */
export interface Client {
  readonly checkouts: {
    /**
     * Creates a checkout. Pass the order number as `idempotencyKey`, so that each order gets one payment, however often
     * the customer clicks. Without it, each call creates a payment, although retries within a call do not.
     *
     * @throws ApiError, ConnectionError
     */
    create(request: CheckoutRequest, options?: CreateOptions): Promise<Payment>;
  };
  readonly payments: {
    /**
     * Reads the status of a payment.
     *
     * @throws ApiError (404: unknown, or of another account), ConnectionError
     */
    retrieve(query: PaymentQuery | string, options?: CallOptions): Promise<PaymentStatus>;
    /**
     * Reads a payment with all its data. `expand` names additional parts, such as `deposits,releases`.
     *
     * @throws ApiError (404: unknown, or of another account), ConnectionError
     */
    get(
      paymentId: string,
      query?: Pick<PaymentListFilter, 'expand'>,
      options?: CallOptions,
    ): Promise<MerchantPayment>;
    /**
     * Lists payments of the account, newest first. `before` is the `next` of the previous page.
     * @throws ApiError, ConnectionError
     */
    list(filter?: PaymentListFilter, options?: CallOptions): Promise<MerchantPaymentPage>;
    /**
     * Iterates over all matching payments, newest first, page after page: `for await (const payment of …)`.
     * @throws ApiError, ConnectionError
     */
    iterate(
      filter?: Omit<PaymentListFilter, 'before'>,
      options?: CallOptions,
    ): AsyncIterable<MerchantPayment>;
    /**
     * Cancels a payment that has received less than 0.01 USDC.
     * @throws ApiError (409: its state does not allow it), ConnectionError
     */
    cancel(paymentId: string, options?: CallOptions): Promise<MerchantPayment>;
  };
  readonly refunds: {
    /**
     * Opens a refund. Pass the number of the return as `idempotencyKey`, so that each return gets one refund, however
     * often the call is repeated.
     *
     * @throws ApiError (409: less is refundable, or the key was used with other parameters), ConnectionError
     */
    create(paymentId: string, request?: RefundRequest, options?: CreateOptions): Promise<Refund>;
    /**
     * Returns a payment's refunds and the amount that can still be refunded.
     *
     * @throws ApiError, ConnectionError
     */
    list(paymentId: string, options?: CallOptions): Promise<RefundList>;
    /**
     * Reads a refund.
     *
     * @throws ApiError (404: unknown, or of another account), ConnectionError
     */
    get(refundId: string, options?: CallOptions): Promise<Refund>;
    /**
     * Confirms the address that the customer entered. `destination` is the address that was shown for confirmation.
     * @throws ApiError (409: the address has changed), ConnectionError
     */
    confirm(refundId: string, destination: string, options?: CallOptions): Promise<Refund>;
    /**
     * Submits the hash of a transfer whose amount differs from the refund's.
     *
     * @throws ApiError, ConnectionError
     */
    submitTransaction(refundId: string, transaction: string, options?: CallOptions): Promise<Refund>;
    /**
     * Cancels an unpaid refund.
     *
     * @throws ApiError (409: it is paid or canceled), ConnectionError
     */
    cancel(refundId: string, options?: CallOptions): Promise<Refund>;
  };
  readonly events: {
    /**
     * Reads events after a number, or from the oldest. `followEvents` reads them in a loop.
     *
     * @throws ApiError (410: events after that number were deleted), ConnectionError
     */
    list(
      query?: { readonly after?: number; readonly limit?: number },
      options?: CallOptions,
    ): Promise<MerchantEventPage>;
  };
  readonly audit: {
    /**
     * Reads a page of the audit log, newest first. The key needs the scope `audit`. `created_from` and `created_before`
     * are times in ISO 8601.
     *
     * @throws ApiError, ConnectionError
     */
    list(
      query?: {
        readonly limit?: number;
        readonly before?: number;
        readonly created_from?: string;
        readonly created_before?: string;
      },
      options?: CallOptions,
    ): Promise<AuditLog>;
  };
  readonly merchantCheckouts: {
    /**
     * Creates a checkout with reference, metadata, line items, return URLs and an expiry. `address` and `callback`
     * default to the account's settings.
     *
     * @throws ApiError, ConnectionError
     */
    create(request: MerchantCheckoutRequest, options?: CreateOptions): Promise<MerchantCheckout>;
  };
  readonly directPayments: {
    /**
     * Creates a payment in USDC from the customer's wallet. `address` and `callback` default to the account's settings.
     * @throws ApiError, ConnectionError
     */
    create(request: DirectPaymentRequest, options?: CreateOptions): Promise<DirectPayment>;
  };
  readonly journal: {
    /**
     * Reads the double-entry journal of a month, such as `2026-11`, as CSV.
     *
     * @throws ApiError, ConnectionError
     */
    csv(month: string, options?: CallOptions): Promise<string>;
  };
  readonly settlement: {
    /**
     * Reads the contracts from which deposit addresses are computed. Keep the result with the shop's code instead of
     * reading it each time.
     *
     * @throws ApiError, ConnectionError
     */
    retrieve(options?: CallOptions): Promise<SettlementPublication>;
  };
}

/**
 * Creates a client for an account. The client keeps no connection, so it need not be closed.
 *
 * @throws ArgumentError for an incomplete key or an insecure base URL; TypeError in a browser
 */
export function createClient(options: ClientOptions): Client {
  const context: RequestContext = {
    baseUrl: checkBaseUrl(options.baseUrl, options.allowInsecureHttp === true),
    apiKey: checkApiKey(options.apiKey),
    fetch: options.fetch ?? ((url, init) => globalThis.fetch(url, init)),
    timeoutMs: options.timeoutMs ?? 30_000,
    maximumRetries: options.maximumRetries ?? 2,
    maximumPauseMs: options.maximumPauseMs ?? 10_000,
    wait: options.wait ?? ((ms) => new Promise((resolve) => setTimeout(resolve, ms))),
    random: options.random ?? Math.random,
  };
  const paymentPath = (paymentId: string) => `/merchant/v1/payments/${segment('paymentId', paymentId)}`;
  const refundPath = (refundId: string) => `/merchant/v1/refunds/${segment('refundId', refundId)}`;
  const refundsOf = (paymentId: string) => `${paymentPath(paymentId)}/refunds`;
  const get = (path: string, options: CallOptions | undefined) =>
    sendRequest(context, { method: 'GET', path, options });
  const listPayments = async (filter: PaymentListFilter, options: CallOptions | undefined) =>
    expectList<MerchantPaymentPage>(
      await get(withQuery('/merchant/v1/payments', filter), options),
      'payments',
    );
  const paymentOf = (answer: unknown) =>
    expectFields<MerchantPayment>(answer, ['payment_id', 'status', 'forward_status']);
  const refundOf = (answer: unknown) =>
    expectFields<Refund>(answer, ['refund_id', 'payment_id', 'status', 'amount']);
  /** Sends a change without retries, because the service would respond to a second attempt with a conflict. */
  function change(path: string, options: CallOptions | undefined, body?: object): Promise<unknown> {
    const headers = { 'content-type': 'application/json' };
    const sent = body === undefined ? {} : { headers, body: JSON.stringify(body) };
    const once = { ...options, maximumRetries: 0 };
    return sendRequest(context, { method: 'POST', path, ...sent, options: once });
  }
  const post = async (path: string, request: object, { idempotencyKey, ...options }: CreateOptions) =>
    sendRequest(context, {
      method: 'POST',
      path,
      headers: {
        'content-type': 'application/json',
        'idempotency-key':
          idempotencyKey === undefined ? createIdempotencyKey() : checkIdempotencyKey(idempotencyKey),
      },
      body: JSON.stringify(request),
      options,
    });
  return {
    checkouts: {
      async create(request, options = {}) {
        const answer = await post('/api/v1/wallet', request, options);
        return expectFields<Payment>(answer, ['payment_id', 'ipn_token', 'checkout_url']);
      },
    },
    payments: {
      async retrieve(query, options) {
        const answer = await get(`/api/v1/payment-status?${queryOf(query)}`, options);
        return expectFields<PaymentStatus>(answer, ['payment_id', 'status', 'forward_status']);
      },
      get: async (paymentId, query = {}, options) =>
        paymentOf(await get(withQuery(paymentPath(paymentId), query), options)),
      list: async (filter = {}, options) => listPayments(filter, options),
      async *iterate(filter = {}, options) {
        let before: string | null | undefined;
        do {
          const page = await listPayments({ ...filter, ...(before == null ? {} : { before }) }, options);
          yield* page.payments;
          before = page.next;
        } while (before !== null);
      },
      async cancel(paymentId, options) {
        const path = `${paymentPath(paymentId)}/cancel`;
        return paymentOf(await change(path, options));
      },
    },
    refunds: {
      create: async (paymentId, request = {}, options = {}) =>
        refundOf(await post(refundsOf(paymentId), request, options)),
      list: async (paymentId, options) =>
        expectList<RefundList>(await get(refundsOf(paymentId), options), 'refunds'),
      get: async (refundId, options) => refundOf(await get(refundPath(refundId), options)),
      confirm: async (refundId, destination, options) =>
        refundOf(await change(`${refundPath(refundId)}/confirm`, options, { destination })),
      submitTransaction: async (refundId, transaction, options) =>
        refundOf(await change(`${refundPath(refundId)}/transaction`, options, { transaction })),
      cancel: async (refundId, options) => refundOf(await change(`${refundPath(refundId)}/cancel`, options)),
    },
    events: {
      async list({ after, limit = EVENTS_OF_A_PAGE } = {}, options) {
        const path = withQuery('/merchant/v1/events', { after, limit });
        return expectList<MerchantEventPage>(await get(path, options), 'events');
      },
    },
    audit: {
      list: async (query = {}, options) =>
        expectList<AuditLog>(await get(withQuery('/merchant/v1/audit', query), options), 'entries'),
    },
    merchantCheckouts: {
      async create(request, options = {}) {
        const answer = await post('/merchant/v1/checkouts', request, options);
        return expectFields<MerchantCheckout>(answer, ['payment_id', 'ipn_token', 'checkout_url']);
      },
    },
    directPayments: {
      async create(request, options = {}) {
        const answer = await post('/merchant/v1/direct-payments', request, options);
        return expectFields<DirectPayment>(answer, [
          'payment_id',
          'ipn_token',
          'checkout_url',
          'usdc_amount',
        ]);
      },
    },
    journal: {
      async csv(month, options) {
        const path = withQuery('/merchant/v1/journal.csv', { month });
        return (await sendRequest(context, { method: 'GET', path, accept: 'text/csv', options })) as string;
      },
    },
    settlement: {
      async retrieve(options) {
        return (await get('/.well-known/card-checkout.json', options)) as SettlementPublication;
      },
    },
  };
}

function queryOf(query: PaymentQuery | string): string {
  if (typeof query === 'object' && query !== null && 'ipnToken' in query)
    return `ipn_token=${segment('ipnToken', query.ipnToken)}`;
  return `payment_id=${segment('paymentId', typeof query === 'string' ? query : query?.paymentId)}`;
}

/** Encodes an id for a URL. Throws ArgumentError for a missing id, which would be sent as `undefined`. */
function segment(argument: string, value: unknown): string {
  if (typeof value !== 'string' || value === '')
    throw new ArgumentError(argument, 'must be a text that is not empty');
  return encodeURIComponent(value);
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

/** Throws ConnectionError if fields are missing, because the response is then not from the service. */
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
  // Checked here, because the runtime's error for an invalid header would quote the key.
  if (typeof apiKey !== 'string' || !/^service_live_[\w-]+$/.test(apiKey))
    throw new ArgumentError(
      'apiKey',
      'must be the whole key, which begins with service_live_, and nothing else',
    );
  return apiKey;
}

function checkIdempotencyKey(key: string): string {
  if (typeof key === 'string' && /^[\x21-\x7e]{1,255}$/.test(key)) return key;
  throw new ArgumentError('idempotencyKey', 'must be 1 to 255 visible ASCII characters');
}

function checkBaseUrl(baseUrl: string, isHttpAllowed: boolean): string {
  let url: URL;
  try {
    url = new URL(baseUrl);
  } catch {
    throw new ArgumentError('baseUrl', 'must be the root of the service, such as https://pay.example.com');
  }
  const isAllowed = isHttpAllowed || /^(localhost|127(\.\d+){3}|\[::1\])$/.test(url.hostname);
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isAllowed)) {
    throw new ArgumentError(
      'baseUrl',
      'must begin with https://, or set allowInsecureHttp: the API key is readable on the way',
    );
  }
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
}

/** Returns a unique key. Node 18 has Web Crypto only as a module, whose import would break browser builds. */
function createIdempotencyKey(): string {
  const random =
    globalThis.crypto?.getRandomValues(new Uint8Array(16)) ??
    Uint8Array.from({ length: 16 }, () => Math.floor(Math.random() * 256));
  return `sdk-${bytesToHex(random)}`;
}
