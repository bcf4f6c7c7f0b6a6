/**
 * Counterpart of src/providers/adapters/stripe.ts: quotes and sessions for a secret key, a session that can be read
 * again, and its page at `/widget`.
 */
import { randomBytes } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { formatUnits } from '../../src/payment/money.ts';
import type { Order } from '../order-store.ts';
import {
  hmac,
  isSame,
  type OrderEvent,
  readParameters,
  refuseUnless,
  type SimulatedProtocol,
  type SimulatorContext,
} from './simulated-protocol.ts';

const statusOfEvent: Readonly<Record<OrderEvent, string>> = {
  accepted: 'fulfillment_processing',
  declined: 'rejected',
  delivered: 'fulfillment_complete',
  failed: 'rejected',
};
const locks = ['destination_currencies[]', 'destination_networks[]'] as const;

export const stripeProtocol: SimulatedProtocol = {
  refusal: (message) => ({ error: { type: 'invalid_request_error', message } }),

  registerRoutes(server, simulator) {
    const api = '/stripe/api/v1/crypto';
    const requireKey = ({ headers }: FastifyRequest) =>
      refuseUnless(
        isSame(headers.authorization, `Bearer ${simulator.values['API_KEY']}`),
        'Invalid API Key provided',
        401,
      );
    server.get(`${api}/onramp/quotes`, async (request) => {
      requireKey(request);
      const query = readParameters(request.query, ['source_currency', 'source_amount', ...locks]);
      requireLocks(query);
      const { quotedUnits } = await simulator.price(query.source_amount, query.source_currency);
      return {
        object: 'crypto.onramp.quotes',
        destination_network_quotes: {
          polygon: [
            {
              destination_currency: 'usdc',
              destination_network: 'polygon',
              destination_amount: formatUnits(quotedUnits),
            },
          ],
        },
      };
    });
    server.post(`${api}/onramp_sessions`, async (request) => {
      requireKey(request);
      return sessionOf(simulator, await openSession(simulator, request.body));
    });
    server.get<{ Params: { id: string } }>(`${api}/onramp_sessions/:id`, async (request) => {
      requireKey(request);
      const order = simulator.findOrder(request.params.id);
      refuseUnless(order, 'there is no such session');
      return sessionOf(simulator, order);
    });
    server.get<{ Querystring: { session?: unknown } }>('/stripe/widget', async (request, reply) => {
      const order = simulator.findOrder(request.query.session);
      refuseUnless(order, 'There is no such session.', 404);
      return simulator.showOrder(reply, order);
    });
  },

  webhookOf(simulator, order, event, atMs) {
    const status = simulator.mode().status ?? statusOfEvent[event];
    const body = JSON.stringify({
      id: `evt_${randomBytes(12).toString('hex')}`,
      type: 'crypto.onramp_session.updated',
      created: Math.floor(atMs / 1000),
      data: { object: { ...sessionOf(simulator, order), status } },
    });
    const time = Math.floor(simulator.nowMs() / 1000);
    const signature = hmac(simulator.values['WEBHOOK_SECRET'], `${time}.${body}`);
    return { headers: { 'stripe-signature': `t=${time},v1=${signature},v0=old` }, body };
  },
};

function requireLocks(given: Readonly<Record<(typeof locks)[number], string>>): void {
  const isSold =
    given['destination_currencies[]'] === 'usdc' && given['destination_networks[]'] === 'polygon';
  refuseUnless(isSold, 'this is not sold here');
}

async function openSession(simulator: SimulatorContext, body: unknown): Promise<Order> {
  const form = readParameters(
    body,
    [
      'source_currency',
      'source_amount',
      'destination_currency',
      'destination_network',
      ...locks,
      'wallet_addresses[polygon]',
      'lock_wallet_address',
    ],
    ['metadata[payment_id]', 'customer_ip_address'],
  );
  requireLocks(form);
  refuseUnless(form.lock_wallet_address === 'true', 'this shop locks the address');
  if (simulator.mode().enforcesIp === true)
    refuseUnless(form.customer_ip_address, 'customer_ip_address is missing');
  return simulator.openOrder({
    amount: form.source_amount,
    currency: form.source_currency,
    walletAddress: form['wallet_addresses[polygon]'],
    id: `cos_${randomBytes(16).toString('hex')}`,
    externalId: form['metadata[payment_id]'],
    // The page has no return link: the customer returns by other means.
    returnUrl: null,
  });
}

function sessionOf(simulator: SimulatorContext, order: Order) {
  return {
    id: order.id,
    object: 'crypto.onramp_session',
    status: 'initialized',
    redirect_url: `${simulator.url()}/widget?session=${order.id}`,
    metadata: { payment_id: order.externalId },
    transaction_details: {
      // Null until the customer has chosen; the given wallets are repeated by network.
      wallet_address: null,
      wallet_addresses:
        simulator.mode().echoesNull === true ? null : { polygon: order.walletAddress, ethereum: null },
      lock_wallet_address: simulator.mode().isUnlocked !== true,
      destination_currencies: ['usdc'],
      destination_networks: ['polygon'],
    },
  };
}
