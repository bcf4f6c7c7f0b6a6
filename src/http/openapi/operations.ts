import type { ErrorName } from '../../domain/errors.ts';
import { createParameters, idempotencyKeyParameter, statusParameters } from '../api/create-parameters.ts';
import type { RequestParameter } from '../api/request-input.ts';

/** One operation as the document describes it. */
export interface Operation {
  readonly method: 'get' | 'post';
  readonly path: string;
  readonly id: string;
  readonly tag: 'Payments' | 'Service';
  readonly summary: string;
  readonly description: string;
  readonly needsKey: boolean;
  readonly query?: Readonly<Record<string, RequestParameter>>;
  readonly body?: Readonly<Record<string, RequestParameter>>;
  readonly headers?: Readonly<Record<string, RequestParameter>>;
  /** Name of the component that answers with 200. */
  readonly answer: 'Payment' | 'PaymentStatus' | 'SettlementProof' | 'Live' | 'Ready';
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
  'rate_limited',
  'internal',
] as const satisfies readonly ErrorName[];

const createErrors = [
  ...apiErrors,
  'feature_disabled',
  'provider_unknown',
  'currency_locked',
  'provider_inactive',
  'conversion_failed',
  'below_minimum',
  'provider_unavailable',
  'idempotency_conflict',
] as const satisfies readonly ErrorName[];

const idempotency = { 'Idempotency-Key': idempotencyKeyParameter };

/** Every operation that the document describes. */
export const operations: readonly Operation[] = [
  {
    method: 'post',
    path: '/api/v1/wallet',
    id: 'createCheckout',
    tag: 'Payments',
    summary: 'Create a checkout',
    description:
      'Store `payment_id` and `ipn_token` with your order, then send the customer to `checkout_url`. Unknown parameters are ignored.',
    needsKey: true,
    body: createParameters,
    headers: idempotency,
    answer: 'Payment',
    errors: [...createErrors, 'payload_too_large'],
  },
  {
    method: 'get',
    path: '/api/v1/wallet',
    id: 'createCheckoutByQuery',
    tag: 'Payments',
    summary: 'Create a checkout, with the parameters in the query',
    description: 'The same operation as with `POST`. Prefer `POST`, because URLs end up in logs.',
    needsKey: true,
    query: createParameters,
    headers: idempotency,
    answer: 'Payment',
    errors: createErrors,
  },
  {
    method: 'get',
    path: '/api/v1/payment-status',
    id: 'readPaymentStatus',
    tag: 'Payments',
    summary: "Read a payment's status",
    description:
      'Confirm every webhook with it before you fulfill the order. Read the status of open orders every few minutes during the first hour. One of the two parameters is required.',
    needsKey: true,
    query: statusParameters,
    answer: 'PaymentStatus',
    errors: [...apiErrors, 'payment_not_found'],
  },
  {
    method: 'get',
    path: '/.well-known/card-checkout.json',
    id: 'readSettlementProof',
    tag: 'Service',
    summary: 'Read the data that proves where the money of a payment can go',
    description:
      'With this data, the payout wallet, the fee and the id of the payment, you can compute the deposit address yourself.',
    needsKey: false,
    answer: 'SettlementProof',
    errors: transportErrors,
  },
  {
    method: 'get',
    path: '/health/live',
    id: 'readLiveness',
    tag: 'Service',
    summary: 'Check whether the process responds',
    description: 'Not rate limited.',
    needsKey: false,
    answer: 'Live',
    errors: transportErrors,
  },
  {
    method: 'get',
    path: '/health/ready',
    id: 'readReadiness',
    tag: 'Service',
    summary: 'Check whether the service accepts requests',
    description: 'Not rate limited.',
    needsKey: false,
    answer: 'Ready',
    errors: transportErrors,
    others: {
      503: {
        description: 'The service is shutting down and accepts no new customers.',
        example: 'The service is not ready: it is shutting down.',
      },
    },
  },
];
