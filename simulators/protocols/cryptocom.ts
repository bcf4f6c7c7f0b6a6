/**
 * The other side of src/providers/cryptocom.ts: payments for a secret key, an empty list of them, and their page at
 * `/widget`. It sends no webhooks.
 */
import { parsePayoutAddress } from '../../src/domain/payout-address.ts';
import { InvalidRequestError, readReturnUrl } from '../invalid-request.ts';
import type { Order } from '../order-store.ts';
import {
  isSame,
  readCharge,
  readParameters,
  type SimulatedProtocol,
  type SimulatorContext,
} from './simulated-protocol.ts';

export const cryptocomProtocol: SimulatedProtocol = {
  refusal: { status: 400, body: { error: { code: 'not_available', error_message: 'Not available.' } } },

  registerRoutes(server, simulator) {
    server.post('/cryptocom/api/api/payments', async (request, reply) => {
      if (!isSame(request.headers.authorization, `Bearer ${simulator.values['API_KEY']}`))
        return reply.code(401).send({ error: { code: 'unauthorized', error_message: 'Invalid key' } });
      try {
        const order = await openOrder(simulator, request.body);
        return reply.send({
          id: order.id,
          status: 'pending',
          amount: order.amountCents,
          // An account without the on-ramp's beta repeats none of these.
          ...(simulator.mode().echoesNull === true
            ? {}
            : { wallet_address: order.walletAddress, crypto_currency: 'USDC', network: 'polygon' }),
          expired_at: Math.floor(simulator.nowMs() / 1000) + 600,
          payment_url: `${simulator.url()}/widget?payment=${order.id}`,
        });
      } catch (error) {
        if (!(error instanceof InvalidRequestError)) throw error;
        return reply.code(400).send({ error: { code: 'invalid_request', error_message: error.message } });
      }
    });
    server.get('/cryptocom/api/api/payments', (request, reply) => {
      if (!isSame(request.headers.authorization, `Bearer ${simulator.values['API_KEY']}`))
        return reply.code(401).send({ error: { code: 'unauthorized', error_message: 'Invalid key' } });
      return reply.send({ items: [], meta: { total_count: 0 } });
    });
    server.get<{ Querystring: { payment?: unknown } }>('/cryptocom/widget', (request, reply) => {
      const order = simulator.findOrder(String(request.query.payment ?? ''));
      if (order?.provider !== 'cryptocom')
        return simulator.refuseCustomer(reply, 404, 'There is no such payment.');
      return simulator.showOrder(reply, order);
    });
  },
  webhookOf: () => null,
};

async function openOrder(simulator: SimulatorContext, body: unknown): Promise<Order> {
  const { amount, ...texts } = (body ?? {}) as Record<string, unknown>;
  const payment = readParameters(
    texts,
    ['currency', 'crypto_currency', 'network', 'wallet_address', 'return_url', 'cancel_url'],
    ['order_id', 'description'],
  );
  if (payment.crypto_currency !== 'USDC' || payment.network !== 'polygon')
    throw new InvalidRequestError('this is not sold here');
  if (!Number.isSafeInteger(amount)) throw new InvalidRequestError('amount must be in minor units');
  const walletAddress = parsePayoutAddress(payment.wallet_address);
  if (walletAddress === null) throw new InvalidRequestError('wallet_address is malformed');
  const charge = readCharge((Number(amount) / 100).toFixed(2), payment.currency);
  const quotedUnits = await simulator.quoteUnits(charge.amountCents, charge.currency);
  if (quotedUnits === 0n) throw new InvalidRequestError('the amount is below the minimum');
  readReturnUrl(payment.cancel_url);
  return simulator.openOrder({
    ...charge,
    walletAddress,
    quotedUnits,
    externalId: payment.order_id ?? '',
    email: null,
    returnUrl: readReturnUrl(payment.return_url),
  });
}
