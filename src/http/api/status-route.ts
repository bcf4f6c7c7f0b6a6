import type { FastifyInstance } from 'fastify';
import { invalidField, ServiceError } from '../../domain/errors.ts';
import { readStatus } from '../../payments/read-status.ts';
import type { ApiRouteContext } from './api-context.ts';
import { accountOf, admit } from './authenticate.ts';
import { parseQuery, type QueryParameters } from './parse-query.ts';
import { paymentStatusSchema } from './payment-schemas.ts';
import { presentPaymentStatus } from './present-payment.ts';
import type { StatusParameterName } from './status-parameters.ts';

/** `GET /api/v1/payment-status`: read one payment of the account, by its token or its id. */
export function registerStatusRoute(server: FastifyInstance, context: ApiRouteContext): void {
  const options = {
    onRequest: admit(context, context.limits.status),
    schema: { response: { 200: paymentStatusSchema } },
  };

  server.get('/payment-status', options, async (request) => {
    const query = parseQuery(request.raw.url ?? '');
    const ipnToken = readName(query, 'ipn_token');
    // With a token the id is not looked at, whatever it is.
    const paymentId = ipnToken === null ? readName(query, 'payment_id') : null;
    if (ipnToken === null && paymentId === null) {
      throw new ServiceError('invalid_request', 'Either ipn_token or payment_id is required.');
    }
    const payment = await readStatus(context.status, accountOf(request).id, { ipnToken, paymentId });
    return presentPaymentStatus(payment);
  });
}

function readName(query: QueryParameters, name: StatusParameterName): string | null {
  const value = query[name];
  if (value === '') throw invalidField(name, 'must not be empty');
  return value ?? null;
}
