import type { ErrorName } from '../../src/domain/errors.ts';
import {
  createParameters,
  idempotencyKeyParameter,
  statusParameters,
} from '../../src/http/api/create-parameters.ts';
import type { RequestParameters } from '../../src/http/api/json-schema.ts';
import {
  dayParameters,
  eventParameters,
  journalParameters,
  listParameters,
  paymentParameters,
  required,
} from '../../src/http/merchant/merchant-parameters.ts';
import type { bodies, SchemaName } from './components.ts';

/** One operation as the document describes it. */
export interface Operation {
  readonly method: 'get' | 'post';
  readonly path: string;
  readonly id: string;
  readonly tag: 'Payments' | 'Merchant' | 'Service';
  readonly summary: string;
  readonly description: string;
  readonly needsKey: boolean;
  readonly inPath?: RequestParameters;
  readonly query?: RequestParameters;
  /** Name of the component that describes the JSON body. */
  readonly body?: keyof typeof bodies;
  readonly headers?: RequestParameters;
  /** Name of the component that answers with 200. */
  readonly answer: SchemaName;
  /** Whether it answers with an ETag, and with 304 to a caller that has the answer. */
  readonly hasTag?: true;
  /** Rows of the error table with which it may answer. */
  readonly errors: readonly ErrorName[];
  /** Other answers: a status and its description. */
  readonly others?: Readonly<Record<number, { readonly description: string; readonly example: string }>>;
}

/** Errors that any request may get before it reaches an operation. */
const transportErrors = [
  'invalid_request',
  'https_required',
  'request_timeout',
  'headers_too_large',
] as const satisfies readonly ErrorName[];

const apiErrors = [
  ...transportErrors,
  'unauthorized',
  'scope_missing',
  'rate_limited',
  'internal',
] as const satisfies readonly ErrorName[];

const createErrors = [
  ...apiErrors,
  'feature_disabled',
  'callback_host_refused',
  'provider_unknown',
  'currency_locked',
  'provider_inactive',
  'conversion_failed',
  'below_minimum',
  'above_maximum',
  'provider_unavailable',
  'idempotency_conflict',
] as const satisfies readonly ErrorName[];

const paymentInPath = {
  payment_id: required(
    { type: 'string', format: 'uuid' },
    "The payment's id.",
    '01a1fbd7-b7b3-7002-be38-5df3e4ebf9f4',
  ),
};

const refundInPath = {
  refund_id: required(
    { type: 'string', pattern: '^rfd_[0-9a-f]{20}$' },
    "The refund's id.",
    'rfd_5b484cd3e9340db05b48',
  ),
};

const idempotency = { 'Idempotency-Key': idempotencyKeyParameter };

/** An operation of the merchant's own interface, by the part of its path after `/merchant/v1`. */
function merchantOperation(
  method: Operation['method'],
  path: string,
  {
    errors = [],
    ...more
  }: Omit<Operation, 'method' | 'path' | 'tag' | 'needsKey' | 'inPath' | 'hasTag' | 'errors'> & {
    readonly errors?: readonly ErrorName[];
  },
): Operation {
  const isOfPayment = path.includes('{payment_id}');
  const isOfRefund = path.includes('{refund_id}');
  return {
    ...more,
    method,
    path: `/merchant/v1${path}`,
    tag: 'Merchant',
    needsKey: true,
    ...(isOfPayment ? { inPath: paymentInPath } : isOfRefund ? { inPath: refundInPath } : {}),
    ...(method === 'get' && more.answer !== 'JournalCsv' ? { hasTag: true } : {}),
    errors: [
      ...apiErrors,
      ...(isOfPayment ? (['payment_not_found'] as const) : []),
      ...(isOfRefund ? (['refund_not_found'] as const) : []),
      ...(method === 'post' ? (['payload_too_large'] as const) : []),
      ...(more.headers === undefined ? [] : (['idempotency_conflict'] as const)),
      ...errors,
    ],
  };
}

/** An operation of the checkout API, by the part of its path after `/api/v1`. */
function checkoutOperation(
  method: Operation['method'],
  path: string,
  more: Omit<Operation, 'method' | 'path' | 'tag' | 'needsKey'>,
): Operation {
  return { ...more, method, path: `/api/v1${path}`, tag: 'Payments', needsKey: true };
}

/** A public operation without a key. */
function serviceOperation(
  path: string,
  more: Omit<Operation, 'method' | 'path' | 'tag' | 'needsKey' | 'errors'>,
  errors: readonly ErrorName[] = transportErrors,
): Operation {
  return { ...more, method: 'get', path, tag: 'Service', needsKey: false, errors };
}

/** Checks of the health are answered over plain HTTP as well. */
function healthOperation(path: string, more: Parameters<typeof serviceOperation>[1]): Operation {
  return serviceOperation(
    path,
    more,
    transportErrors.filter((name) => name !== 'https_required'),
  );
}

const refundOperations = [
  merchantOperation('post', '/payments/{payment_id}/refunds', {
    id: 'createRefund',
    summary: 'Open a refund',
    description:
      'Opens a refund in USDC, which you transfer from your own wallet. Without `destination`, the response has a link with which the customer names an address. All refunds together never exceed what was received.',
    body: 'CreateRefund',
    headers: idempotency,
    answer: 'Refund',
    errors: ['refund_state_conflict'],
  }),
  merchantOperation('get', '/payments/{payment_id}/refunds', {
    id: 'listRefunds',
    summary: 'List the refunds of a payment',
    description: 'All refunds of the payment, and what can still be refunded.',
    answer: 'RefundList',
  }),
  merchantOperation('get', '/refunds/{refund_id}', {
    id: 'readRefund',
    summary: 'Read a refund',
    description: 'A refund of your account, as it is now.',
    answer: 'Refund',
  }),
  merchantOperation('post', '/refunds/{refund_id}/confirm', {
    id: 'confirmRefund',
    summary: "Confirm the customer's address",
    description:
      'Check with the customer that the address is theirs: the email address of a payment is not verified. From then on the transfer is looked for.',
    body: 'ConfirmRefund',
    answer: 'Refund',
    errors: ['refund_state_conflict'],
  }),
  merchantOperation('post', '/refunds/{refund_id}/transaction', {
    id: 'submitRefundTransaction',
    summary: 'Submit the transaction of a transfer',
    description:
      'Needed only for a transfer of another amount than the refund asks for. It is checked and booked when it is final.',
    body: 'RefundTransaction',
    answer: 'Refund',
    errors: ['refund_state_conflict'],
  }),
  merchantOperation('post', '/refunds/{refund_id}/cancel', {
    id: 'cancelRefund',
    summary: 'Cancel a refund',
    description: 'Cancels a refund that is not paid. A transfer that arrives later is not booked.',
    answer: 'Refund',
    errors: ['refund_state_conflict'],
  }),
];

/** Every operation that the document describes. */
export const operations: readonly Operation[] = [
  checkoutOperation('post', '/wallet', {
    id: 'createCheckout',
    summary: 'Create a checkout',
    description:
      'Store `payment_id` and `ipn_token` with your order, then send the customer to `checkout_url`. Unknown parameters are ignored.',
    body: 'CreateCheckout',
    headers: idempotency,
    answer: 'Payment',
    errors: [...createErrors, 'payload_too_large'],
  }),
  checkoutOperation('get', '/wallet', {
    id: 'createCheckoutByQuery',
    summary: 'Create a checkout, with the parameters in the query',
    description: 'The same operation as with `POST`. Prefer `POST`, because URLs end up in logs.',
    query: createParameters,
    headers: idempotency,
    answer: 'Payment',
    errors: createErrors,
  }),
  checkoutOperation('get', '/payment-status', {
    id: 'readPaymentStatus',
    summary: "Read a payment's status",
    description:
      'Confirm every webhook with it before you fulfill the order. Read the status of open orders every few minutes during the first hour. One of the two parameters is required.',
    query: statusParameters,
    answer: 'PaymentStatus',
    errors: [...apiErrors, 'payment_not_found'],
  }),
  merchantOperation('get', '/payments', {
    id: 'listPayments',
    summary: 'List payments',
    description: 'The payments of your account, newest first. An unknown parameter is an error.',
    query: listParameters,
    answer: 'MerchantPaymentList',
  }),
  merchantOperation('get', '/payments/{payment_id}', {
    id: 'readPayment',
    summary: 'Read a payment',
    description: 'A payment of your account, with the parts that you ask for.',
    query: paymentParameters,
    answer: 'MerchantPayment',
  }),
  merchantOperation('post', '/payments/{payment_id}/cancel', {
    id: 'cancelPayment',
    summary: 'Cancel a payment',
    description:
      'Cancels a payment for which nothing has arrived, or less than 0.01 USDC, and for which no customer is at a provider. Any other payment is refused with 409.',
    answer: 'MerchantPayment',
    errors: ['payment_state_conflict'],
  }),
  ...refundOperations,
  merchantOperation('get', '/events', {
    id: 'listEvents',
    summary: 'Follow events',
    description:
      'What happened to the payments of your account, in order and without loss. Store `next_after` with your own data, and send it as `after` next time. Events are kept for 30 days. `payment` is the payment as it is now.',
    query: eventParameters,
    answer: 'MerchantEvents',
    errors: ['cursor_expired'],
  }),
  merchantOperation('get', '/days', {
    id: 'listDays',
    summary: 'Read sums by day',
    description:
      "How many payments were created and paid on each of the last days, in your account's time zone.",
    query: dayParameters,
    answer: 'MerchantDays',
  }),
  merchantOperation('get', '/journal.csv', {
    id: 'readJournal',
    summary: 'Read the journal of a month',
    description:
      'The double-entry journal of the payments that were paid in a month, and of those created in it that have money and are not paid. In each payment, debits equal credits.',
    query: journalParameters,
    answer: 'JournalCsv',
  }),
  merchantOperation('post', '/direct-payments', {
    id: 'createDirectPayment',
    summary: 'Create a direct payment',
    description:
      "A payment in USDC from the customer's wallet, without a card. Send the customer to `checkout_url`. An unknown parameter is an error. Creates of checkouts and direct payments share a rate limit.",
    body: 'CreateDirectPayment',
    headers: idempotency,
    answer: 'DirectPayment',
    errors: ['feature_disabled', 'callback_host_refused', 'conversion_failed'],
  }),
  {
    method: 'post',
    path: '/merchant/v1/connect',
    id: 'connectShop',
    tag: 'Merchant',
    summary: 'Exchange the code of a connection for an API key',
    description:
      'The last step of connecting a shop: server to server, within 60 seconds, once. Requests count against the address.',
    needsKey: false,
    body: 'ConnectShop',
    answer: 'Connection',
    errors: [
      ...transportErrors,
      'connect_code_invalid',
      'too_many_keys',
      'payload_too_large',
      'rate_limited',
      'internal',
    ],
  },
  serviceOperation('/.well-known/card-checkout.json', {
    id: 'readSettlementProof',
    summary: 'Read the data that proves where the money of a payment can go',
    description:
      'With this data, the payout wallet, the fee and the id of the payment, you can compute the deposit address yourself.',
    answer: 'SettlementProof',
  }),
  healthOperation('/health/live', {
    id: 'readLiveness',
    summary: 'Check whether the process responds',
    description: 'Not rate limited. Answered over plain HTTP to every peer.',
    answer: 'Live',
  }),
  healthOperation('/health/ready', {
    id: 'readReadiness',
    summary: 'Check whether the service accepts requests',
    description: 'Not rate limited. Answered over plain HTTP to every peer.',
    answer: 'Ready',
    others: {
      503: {
        description:
          'The service is shutting down and accepts no new customers, cannot open more files, or has lost its database while another instance has not.',
        example: 'The service is not ready: it is shutting down.',
      },
    },
  }),
];
