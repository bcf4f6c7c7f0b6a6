import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ServiceError } from '../../domain/errors.ts';
import { createPayoutAddressParser } from '../../domain/payout-address-cache.ts';
import { createPayment } from '../../payments/create-payment.ts';
import type { ApiRouteContext } from './api-context.ts';
import { accountOf, admit } from './authenticate.ts';
import { createParameterNames } from './create-parameters.ts';
import { readIdempotencyKey } from './idempotency-key.ts';
import { readJsonObject, withNumberAsWritten } from './json-body.ts';
import { type CreateParameters, type ParameterSource, parseCreateRequest } from './parse-create-request.ts';
import { noParameters, parseQuery, type QueryParameters } from './parse-query.ts';
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
    const parsed = parseCreateRequest(parsing, parameters, source, idempotencyKey);
    const wanted = parsed instanceof Promise ? await parsed : parsed;
    const payment = await createPayment(context.create, accountOf(request), wanted);
    return presentCreatedPayment(context, payment);
  }

  // Not `async`: what these throw is answered as well, and each promise that is only handed on costs a microsecond.
  server.post('/wallet', options, (request) => {
    if (hasParameters(parseQuery(request.raw.url ?? ''))) throw inBoth();
    const body = withNumberAsWritten(request, readJsonObject(request), 'amount');
    return create(request, body, 'json');
  });

  server.get('/wallet', options, (request) => {
    if (hasBody(request)) throw inBoth();
    return create(request, parseQuery(request.raw.url ?? ''), 'query');
  });
}

function hasParameters(query: QueryParameters): boolean {
  return query !== noParameters && createParameterNames.some((name) => name in query);
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
