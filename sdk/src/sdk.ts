/** Entry point of the package. */
import { constructEvent, constructEventAsync, SIGNATURE_HEADER, sign } from './webhooks.ts';

export type { Client, ClientOptions, CreateOptions, PaymentQuery } from './client.ts';
export { createClient } from './client.ts';
export type { WebhookRefusal } from './errors.ts';
export {
  ApiError,
  ArgumentError,
  CardCheckoutError,
  ConnectionError,
  DepositAddressError,
  WebhookError,
} from './errors.ts';
export type { EventCursor, FollowEventsOptions } from './follow-events.ts';
export { EventGapError, followEvents } from './follow-events.ts';
export type { Fulfilment, FulfilmentStore, FulfilOnceOptions } from './fulfil-once.ts';
export { createMemoryStore, fulfilOnce, WrongAmountError } from './fulfil-once.ts';
export type { OpenOrder, ReconcileOptions } from './reconcile.ts';
export { pollIntervalMs, reconcile } from './reconcile.ts';
export type { CallOptions, Fetch } from './send-request.ts';
export type { DepositPayment, DepositProof, DepositTerms } from './verify-deposit-address.ts';
export { verifyDepositAddress } from './verify-deposit-address.ts';
export type { FindToken, RawBody, SignatureHeader, VerificationOptions } from './webhooks.ts';
export type {
  AuditLog,
  CheckoutRequest,
  Currency,
  DirectPayment,
  DirectPaymentRequest,
  MerchantCheckout,
  MerchantCheckoutRequest,
  MerchantEvent,
  MerchantEventPage,
  MerchantEventType,
  MerchantPayment,
  MerchantPaymentPage,
  Payment,
  PaymentForwardedEvent,
  PaymentListFilter,
  PaymentPaidEvent,
  PaymentStatus,
  Provider,
  Refund,
  RefundList,
  RefundRequest,
  SettlementPublication,
  WebhookEvent,
} from './wire.ts';

/** Functions for webhooks. `sign` creates a signature for tests. */
export const webhooks = {
  constructEvent,
  constructEventAsync,
  sign,
  signatureHeader: SIGNATURE_HEADER,
} as const;
