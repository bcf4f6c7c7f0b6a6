import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ServiceError } from '../../domain/errors.ts';
import { createPayoutAddressParser } from '../../domain/payout-address-cache.ts';
import { createPayment } from '../../payments/create-payment.ts';
import type { ApiRouteContext } from './api-context.ts';
import { accountOf, admit } from './authenticate.ts';
import { createParameterNames } from './create-parameters.ts';
import { readIdempotencyKey } from './idempotency-key.ts';
import { readJsonObject } from './json-body.ts';
import { type CreateParameters, type ParameterSource, parseCreateRequest } from './parse-create-request.ts';
import { parseQuery, type QueryParameters } from './parse-query.ts';
import { createdPaymentSchema } from './payment-schemas.ts';
import { presentCreatedPayment } from './present-payment.ts';

/** `POST /api/v1/wallet` (JSON) and `GET /api/v1/wallet` (query): create a checkout. They share one rate limit. */
export function registerWalletRoutes(server: FastifyInstance, context: ApiRouteContext): void {
  const options = {
    onRequest: admit(context, context.limits.create),
    schema: { response: { 200: createdPaymentSchema } },
  };

  const parsing = { callbacks: context.callbacks, parsePayoutAddress: createPayoutAddressParser() };

  async function create(request: FastifyRequest, parameters: CreateParameters, source: ParameterSource) {
    const idempotencyKey = readIdempotencyKey(request.headers);
    const parsed = await parseCreateRequest(parsing, parameters, source, idempotencyKey);
    const payment = await createPayment(context.create, accountOf(request), parsed);
    return presentCreatedPayment(context, payment);
  }

  server.post('/wallet', options, async (request) => {
    if (hasParameters(parseQuery(request.raw.url ?? ''))) throw inBoth();
    return create(request, readJsonObject(request), 'json');
  });

  server.get('/wallet', options, async (request) => {
    if (hasBody(request)) throw inBoth();
    return create(request, parseQuery(request.raw.url ?? ''), 'query');
  });
}

function hasParameters(query: QueryParameters): boolean {
  return createParameterNames.some((name) => name in query);
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
