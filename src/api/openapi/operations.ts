import { type DescribedError, type ErrorName, errorTable } from '../../payment/errors.ts';
import { EXAMPLE_ID, type RequestParameters } from '../json-schema.ts';
import {
  auditParameters,
  dayParameters,
  eventParameters,
  journalParameters,
  listParameters,
  paymentParameters,
  required,
} from '../merchant/merchant-parameters.ts';
import { createParameters, idempotencyKeyParameter, statusParameters } from '../parse-create-request.ts';

export interface Operation {
  readonly method: 'get' | 'post';
  readonly path: string;
  readonly id: string;
  readonly tag: 'Payments' | 'Merchant' | 'Service';
  readonly summary: string;
  readonly description: string;
  readonly needsKey: boolean;
  readonly inPath: RequestParameters;
  readonly query?: RequestParameters;
  readonly body?: string;
  readonly headers?: RequestParameters;
  /** Name of the schema of the successful answer. */
  readonly answer: string;
  /** Whether the operation sends an ETag, and 304 for an unchanged answer. */
  readonly hasTag: boolean;
  readonly errors: readonly DescribedError[];
  readonly others?: Readonly<Record<number, { readonly description: string; readonly example: string }>>;
}

/** Errors that occur before a request reaches its operation. */
const transportErrors: readonly ErrorName[] = [
  'invalid_request',
  'https_required',
  'request_timeout',
  'headers_too_large',
];

const createErrors: readonly ErrorName[] = [
  'feature_disabled',
  'callback_host_refused',
  'provider_unknown',
  'currency_locked',
  'provider_inactive',
  'conversion_failed',
  'below_minimum',
  'above_maximum',
  'provider_unavailable',
];

const pathParameters = {
  payment_id: required({ type: 'string', format: 'uuid' }, "The payment's id, a UUID.", EXAMPLE_ID),
};

export const idempotency = { 'Idempotency-Key': idempotencyKeyParameter };

/** Completes an operation. Its path and method determine the tag, path parameters and common errors. */
export function operation(
  route: `${Operation['method']} /${string}`,
  own: Pick<Operation, 'id' | 'summary' | 'description' | 'answer'> &
    Partial<Omit<Operation, 'errors'>> & { readonly errors?: readonly (ErrorName | DescribedError)[] },
): Operation {
  const [method, path] = route.split(' ') as [Operation['method'], string];
  const tag = path.startsWith('/api/') ? 'Payments' : path.startsWith('/merchant/') ? 'Merchant' : 'Service';
  const { needsKey = tag !== 'Service', errors = [] } = own;
  const inPath = Object.entries(pathParameters).filter(([name]) => path.includes(`{${name}}`));
  const common: readonly (ErrorName | false)[] = [
    ...transportErrors.filter((name) => name !== 'https_required' || !path.startsWith('/health/')),
    needsKey && 'unauthorized',
    needsKey && 'scope_missing',
    tag !== 'Service' && 'rate_limited',
    tag !== 'Service' && 'internal',
    path.includes('{payment_id}') && 'payment_not_found',
    method === 'post' && 'payload_too_large',
    own.headers !== undefined && 'idempotency_conflict',
  ];
  return {
    ...own,
    method,
    path,
    tag,
    needsKey,
    inPath: { ...Object.fromEntries(inPath), ...own.inPath },
    hasTag: method === 'get' && tag === 'Merchant' && own.answer !== 'JournalCsv',
    errors: [...common.filter((name) => name !== false), ...errors].map((error) =>
      typeof error === 'string' ? { name: error, ...errorTable[error] } : error,
    ),
  };
}

/** Operations of the core, without those of the features. */
export const operations: readonly Operation[] = [
  operation('post /api/v1/wallet', {
    id: 'createCheckout',
    summary: 'Create a checkout',
    description:
      'Store `payment_id` and `ipn_token` with your order, then send the customer to `checkout_url`. Unknown parameters are ignored.',
    body: 'CreateCheckout',
    headers: idempotency,
    answer: 'Payment',
    errors: createErrors,
  }),
  operation('get /api/v1/wallet', {
    id: 'createCheckoutByQuery',
    summary: 'Create a checkout, with the parameters in the query',
    description: 'The same operation as with `POST`. Prefer `POST`, because URLs end up in logs.',
    query: createParameters,
    headers: idempotency,
    answer: 'Payment',
    errors: createErrors,
  }),
  operation('get /api/v1/payment-status', {
    id: 'readPaymentStatus',
    summary: "Read a payment's status",
    description:
      'Confirm every webhook with it before you fulfill the order. ' +
      'Read the status of open orders every few minutes during the first hour. One of the two parameters is required.',
    query: statusParameters,
    answer: 'PaymentStatus',
    errors: ['payment_not_found'],
  }),
  operation('get /merchant/v1/payments', {
    id: 'listPayments',
    summary: 'List payments',
    description: 'The payments of your account, newest first. An unknown parameter is an error.',
    query: listParameters,
    answer: 'MerchantPaymentList',
  }),
  operation('get /merchant/v1/payments/{payment_id}', {
    id: 'readPayment',
    summary: 'Read a payment',
    description: 'A payment of your account, with the parts that you ask for.',
    query: paymentParameters,
    answer: 'MerchantPayment',
  }),
  operation('post /merchant/v1/payments/{payment_id}/cancel', {
    id: 'cancelPayment',
    summary: 'Cancel a payment',
    description:
      'Cancels a payment for which nothing has arrived, or less than 0.01 USDC, and for which no customer is at a provider. ' +
      'Any other payment is refused with 409.',
    answer: 'MerchantPayment',
    errors: ['payment_state_conflict'],
  }),
  operation('get /merchant/v1/events', {
    id: 'listEvents',
    summary: 'Follow events',
    description:
      'What happened to the payments of your account, in order and without loss. ' +
      'Store `next_after` with your own data, and send it as `after` next time. Events are kept for 30 days. `payment` is the payment as it is now.',
    query: eventParameters,
    answer: 'MerchantEvents',
    errors: ['cursor_expired'],
  }),
  operation('get /merchant/v1/audit', {
    id: 'readAuditLog',
    summary: 'Read the audit log',
    description:
      'Who did what in your account, newest first. The key needs the scope `audit`, which no key has by default.',
    query: auditParameters,
    answer: 'AuditLog',
  }),
  operation('get /merchant/v1/days', {
    id: 'listDays',
    summary: 'Read sums by day',
    description:
      "How many payments were created and paid on each of the last days, in your account's time zone.",
    query: dayParameters,
    answer: 'MerchantDays',
  }),
  operation('get /merchant/v1/journal.csv', {
    id: 'readJournal',
    summary: 'Read the journal of a month',
    description:
      'The double-entry journal of the payments that were paid in a month, and of those created in it that have money and are not paid. ' +
      'In each payment, debits equal credits.',
    query: journalParameters,
    answer: 'JournalCsv',
  }),
  operation('post /merchant/v1/checkouts', {
    id: 'createMerchantCheckout',
    summary: 'Create a checkout for an order of a platform',
    description:
      'What `POST /api/v1/wallet` creates, with a reference, metadata, line items, return addresses and a deadline. ' +
      'These appear in the answers and events of `/merchant/v1` alone. An unknown parameter is an error. All creates share a rate limit.',
    body: 'CreateMerchantCheckout',
    headers: idempotency,
    answer: 'MerchantCheckout',
    errors: createErrors,
  }),
  operation('post /merchant/v1/direct-payments', {
    id: 'createDirectPayment',
    summary: 'Create a direct payment',
    description:
      "A payment in USDC from the customer's wallet, without a card. Send the customer to `checkout_url`. " +
      'An unknown parameter is an error. Creates of checkouts and direct payments share a rate limit.',
    body: 'CreateDirectPayment',
    headers: idempotency,
    answer: 'DirectPayment',
    errors: ['feature_disabled', 'callback_host_refused', 'conversion_failed'],
  }),
  operation('get /.well-known/card-checkout.json', {
    id: 'readSettlementProof',
    summary: 'Read the data that proves where the money of a payment can go',
    description:
      'With this data, the payout wallet, the fee and the id of the payment, you can compute the deposit address yourself.',
    answer: 'SettlementProof',
  }),
  operation('get /health/live', {
    id: 'readLiveness',
    summary: 'Check whether the process responds',
    description: 'Not rate limited. Answered over plain HTTP to every peer.',
    answer: 'Live',
  }),
  operation('get /health/ready', {
    id: 'readReadiness',
    summary: 'Check whether the service accepts requests',
    description: 'Not rate limited. Answered over plain HTTP to every peer.',
    answer: 'Ready',
    others: {
      503: {
        description: 'The service is shutting down and accepts no new customers, or cannot open more files.',
        example: 'The service is not ready: it is shutting down.',
      },
    },
  }),
];
