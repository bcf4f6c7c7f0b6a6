import type { FastifyInstance, FastifyRequest } from 'fastify';
import { checkoutUrl } from '../payment/checkout-url.ts';
import { createPayment } from '../payment/create-payment.ts';
import { invalidField, ServiceError } from '../payment/errors.ts';
import { formatCents, formatOptionalCents, formatUnits } from '../payment/money.ts';
import type { Payment } from '../payment/payment.ts';
import { SETTLEMENT_COIN } from '../payment/payment-events.ts';
import { shortCodeOf } from '../payment/payment-id.ts';
import { readStatus } from '../payment/read-status.ts';
import {
  type Admit,
  type ApiContext,
  accountOf,
  registerKeyRoutes,
  requireCallbackHost,
} from './authenticate.ts';
import type { ValueOf } from './json-schema.ts';
import {
  type CreateParameters,
  createParameters,
  type ParameterSource,
  parseCreateRequest,
  readIdempotencyKey,
  type StatusParameterName,
} from './parse-create-request.ts';
import type { createdPaymentSchema, paymentStatusSchema } from './payment-schemas.ts';
import { type QueryParameters, queryOf, readJsonObject } from './request-input.ts';

export function registerApi(server: FastifyInstance, context: ApiContext): void {
  registerKeyRoutes(server, '/api/v1', context, (routes, admit) => {
    registerWalletRoutes(routes, context, admit);
    registerStatusRoute(routes, context, admit);
  });
}

/** Registers `POST` (JSON) and `GET /api/v1/wallet` (query), which create a checkout and share one rate limit. */
function registerWalletRoutes(server: FastifyInstance, context: ApiContext, admit: Admit): void {
  const options = admit(context.limits.create, 'create');

  async function create(request: FastifyRequest, parameters: CreateParameters, source: ParameterSource) {
    const idempotencyKey = readIdempotencyKey(request.headers);
    const requested = await parseCreateRequest(context, parameters, source, idempotencyKey);
    requireCallbackHost(request, requested.callbackUrl);
    const payment = await createPayment(context.create, accountOf(request), requested);
    return presentCreatedPayment(context, payment);
  }

  server.post('/wallet', options, async (request) => {
    const query = queryOf(request);
    if (Object.keys(createParameters).some((name) => name in query)) throw inBoth();
    return create(request, readJsonObject(request, 'amount'), 'json');
  });

  server.get('/wallet', options, async (request) => {
    if (hasBody(request)) throw inBoth();
    return create(request, queryOf(request), 'query');
  });
}

function hasBody({ headers }: FastifyRequest): boolean {
  const length = headers['content-length'];
  return (length !== undefined && length !== '0') || headers['transfer-encoding'] !== undefined;
}

function inBoth(): ServiceError {
  return new ServiceError(
    'invalid_request',
    'Parameters must be sent either as a JSON body with POST or in the query with GET.',
  );
}

/** Registers `GET /api/v1/payment-status`, which reads one payment of the account by its token or id. */
function registerStatusRoute(server: FastifyInstance, context: ApiContext, admit: Admit): void {
  const options = admit(context.limits.status, 'read');

  server.get('/payment-status', options, async (request) => {
    const query = queryOf(request);
    const ipnToken = readName(query, 'ipn_token');
    // A token takes precedence, so even an invalid id is ignored.
    const paymentId = ipnToken === null ? readName(query, 'payment_id') : null;
    if (ipnToken === null && paymentId === null) {
      throw new ServiceError('invalid_request', 'Either ipn_token or payment_id is required.');
    }
    const payment = await readStatus(context, accountOf(request).id, { ipnToken, paymentId });
    return presentPaymentStatus(payment);
  });
}

function readName(query: QueryParameters, name: StatusParameterName): string | null {
  const value = query[name];
  if (value === '') throw invalidField(name, 'must not be empty');
  return value ?? null;
}

export type PresentContext = Pick<ApiContext, 'tokens' | 'baseUrl'>;

export const isoTime = (timeMs: number) => new Date(timeMs).toISOString();
export const isoTimeOrNull = (timeMs: number | null) => (timeMs === null ? null : isoTime(timeMs));

const presentCharge = (payment: Payment) => ({
  amount: formatCents(payment.amountCents),
  original_amount: formatOptionalCents(payment.originalAmountCents),
  customer_fee_amount: formatOptionalCents(payment.customerFeeCents),
  pass_fee_to_customer: payment.passFeeToCustomer,
});

/** Presents a created payment. `status` is always the initial one, because a repeated request gets the same answer. */
function presentCreatedPayment(
  { tokens, baseUrl }: PresentContext,
  payment: Payment,
): ValueOf<typeof createdPaymentSchema> {
  const shortCode = shortCodeOf(payment.id);
  return {
    payment_id: payment.id,
    ipn_token: tokens.create(payment.id, payment.tokenFingerprint),
    checkout_url: checkoutUrl(baseUrl, payment),
    short_code: shortCode,
    short_url: `${baseUrl}/s/${shortCode}`,
    // Payments created through the API always have a callback.
    callback_url: payment.callbackUrl ?? '',
    address_in: payment.depositAddress,
    polygon_address_in: payment.depositAddress,
    payment_type: 'card',
    provider: payment.provider,
    ...presentCharge(payment),
    fee_percent: payment.feeBasisPoints / 100,
    status: 'unpaid',
  };
}

export function presentPaymentStatus(payment: Payment): ValueOf<typeof paymentStatusSchema> {
  return {
    payment_id: payment.id,
    status: payment.status,
    forward_status: payment.forwardStatus,
    ...presentCharge(payment),
    currency: payment.currency,
    coin: SETTLEMENT_COIN,
    value_coin: formatUnits(payment.receivedUnits),
    forwarded_amount: formatUnits(payment.forwardedUnits),
    txid_in: payment.txidIn,
    txid_out: payment.txidOut,
    address_in: payment.depositAddress,
    paid_at: isoTimeOrNull(payment.paidAtMs),
    created_at: isoTime(payment.createdAtMs),
  };
}
