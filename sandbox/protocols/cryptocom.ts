/**
 * Counterpart of src/providers/adapters/cryptocom.ts: creates payments and returns an empty list of payments for calls
 * with the secret key. Shows a payment's page at `/widget`. Sends no webhooks.
 */
import type { FastifyRequest } from 'fastify';
import {
  isSame,
  readParameters,
  refuseUnless,
  requireUsdcOnPolygon,
  type SimulatedProtocol,
  type SimulatorContext,
  takeNumber,
} from './simulated-protocol.ts';

const API = '/cryptocom/api/api/payments';

export const cryptocomProtocol: SimulatedProtocol = {
  refusal: (message, status) => ({
    error: { code: status === 401 ? 'unauthorized' : 'invalid_request', error_message: message },
  }),

  registerRoutes(server, simulator) {
    server.post(API, async (request) => {
      requireKey(simulator, request);
      const order = await openOrder(simulator, request.body);
      return {
        id: order.id,
        status: 'pending',
        amount: order.amountCents,
        // Without the on-ramp's beta, an account's answer lacks the wallet, the currency and the network.
        wallet_address: order.walletAddress,
        crypto_currency: 'USDC',
        network: 'polygon',
        expired_at: Math.floor(simulator.nowMs() / 1000) + 600,
        payment_url: `${simulator.url()}/widget?payment=${order.id}`,
      };
    });
    server.get(API, async (request) => {
      requireKey(simulator, request);
      return { items: [], meta: { total_count: 0 } };
    });
    server.get<{ Querystring: { payment?: unknown } }>('/cryptocom/widget', async (request, reply) => {
      const order = simulator.findOrder(request.query.payment);
      refuseUnless(order, 'There is no such payment.', 404);
      return simulator.showOrder(reply, order);
    });
  },
  webhookOf: () => null,
};

function requireKey({ values }: SimulatorContext, { headers }: FastifyRequest): void {
  refuseUnless(isSame(headers.authorization, `Bearer ${values['API_KEY']}`), 'Invalid key', 401);
}

async function openOrder(simulator: SimulatorContext, body: unknown) {
  const [amount, texts] = takeNumber(body, 'amount');
  const payment = readParameters(
    texts,
    ['currency', 'crypto_currency', 'network', 'wallet_address', 'return_url', 'cancel_url'],
    ['order_id', 'description'],
  );
  requireUsdcOnPolygon(payment.crypto_currency, payment.network);
  refuseUnless(Number.isSafeInteger(amount), 'amount must be in minor units');
  return simulator.openOrder({
    amount: (amount / 100).toFixed(2),
    currency: payment.currency,
    walletAddress: payment.wallet_address,
    externalId: payment.order_id,
    returnUrl: payment.return_url,
  });
}
