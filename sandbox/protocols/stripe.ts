/**
 * Counterpart of src/providers/adapters/stripe.ts: returns quotes, and creates and returns sessions, for calls with the
 * secret key. Shows a session's page at `/widget`. Adds fees to the amount.
 */
import { randomBytes } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { formatCents, formatUnits } from '../../src/payment/money.ts';
import type { Order } from '../order-store.ts';
import {
  hmac,
  isSame,
  type OrderEvent,
  readParameters,
  refuseUnless,
  requireUsdcOnPolygon,
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
  refusal: (message, status) => ({
    error: { type: 'invalid_request_error', ...codeOf(message, status), message },
  }),

  registerRoutes(server, simulator) {
    const api = '/stripe/api/v1/crypto';
    const requireKey = ({ headers }: FastifyRequest) => {
      refuseUnless(
        isSame(headers.authorization, `Bearer ${simulator.values['API_KEY']}`),
        'Invalid API Key provided',
        401,
      );
    };
    server.get(`${api}/onramp_quotes`, async (request) => {
      requireKey(request);
      const query = readParameters(request.query, ['source_currency', 'source_amount', ...locks]);
      requireLocks(query);
      return quotesOf(await priceOf(simulator, query));
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
      type: simulator.mode().eventName ?? 'crypto.onramp_session_updated',
      created: Math.floor(atMs / 1000),
      data: { object: { ...sessionOf(simulator, order), status } },
    });
    const time = Math.floor(simulator.nowMs() / 1000);
    const signature = hmac(simulator.values['WEBHOOK_SECRET'], `${time}.${body}`);
    return { headers: { 'stripe-signature': `t=${time},v1=${signature},v0=old` }, body };
  },
};

/** Returns the error code of a refused request; none for a wrong key. */
function codeOf(message: string, status: number): { readonly code?: string } {
  if (status !== 400) return {};
  return { code: /^(crypto_onramp_|parameter_unknown$)/.test(message) ? message : 'parameter_invalid' };
}

/** Adds fees to an amount: 4 % of the total or, above 100.00, 12.71 per 200.00, as in one of Stripe's examples. */
async function priceOf(
  simulator: SimulatorContext,
  purchase: Readonly<Record<'source_amount' | 'source_currency', string>>,
) {
  const { amountCents, currency, valueUnits } = await simulator.price(
    purchase.source_amount,
    purchase.source_currency,
  );
  const feeCents = Math.round(amountCents > 100_00 ? (amountCents * 12_71) / 200_00 : amountCents / 24);
  return { amountCents, currency, valueUnits, feeCents, totalCents: amountCents + feeCents };
}

function quotesOf({ amountCents, currency, ...price }: Awaited<ReturnType<typeof priceOf>>) {
  const { valueUnits, feeCents, totalCents } = price;
  const networkFeeCents = Math.min(feeCents, 1);
  const polygon = {
    destination_currency: 'usdc',
    destination_network: 'polygon',
    destination_amount: formatUnits(valueUnits),
    fees: {
      network_fee_monetary: formatCents(networkFeeCents),
      transaction_fee_monetary: formatCents(feeCents - networkFeeCents),
    },
    source_total_amount: formatCents(totalCents),
  };
  return {
    object: 'crypto.onramp.quotes',
    destination_network_quotes: { bitcoin: [], ethereum: [], polygon: [polygon], solana: [] },
    source_currency: currency.toLowerCase(),
    source_amount: formatCents(amountCents),
  };
}

function requireLocks(given: Readonly<Record<(typeof locks)[number], string>>): void {
  requireUsdcOnPolygon(given['destination_currencies[]'], given['destination_networks[]']);
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
    ['metadata[payment_id]', 'customer_ip_address', 'customer_information[email]'],
  );
  requireLocks(form);
  refuseUnless(form.lock_wallet_address === 'true', 'this shop locks the address');
  if (simulator.mode().enforcesIp === true)
    refuseUnless(form.customer_ip_address, 'customer_ip_address is missing');
  const { customerRegion = 'US', refusesEmail } = simulator.mode();
  const isServed = customerRegion.startsWith('US') && !/-(NY|HI)$/.test(customerRegion);
  refuseUnless(isServed, 'crypto_onramp_unsupported_country');
  const hasRefused = refusesEmail === true && form['customer_information[email]'] !== undefined;
  refuseUnless(!hasRefused, 'parameter_unknown');
  const { totalCents, valueUnits } = await priceOf(simulator, form);
  return simulator.openOrder({
    amount: formatCents(totalCents),
    currency: form.source_currency,
    quotedUnits: valueUnits,
    email: form['customer_information[email]'],
    walletAddress: form['wallet_addresses[polygon]'],
    id: `cos_${randomBytes(16).toString('hex')}`,
    externalId: form['metadata[payment_id]'],
    // The page has no return link, so the customer must return without one.
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
      // Null until the customer has chosen a wallet. The session's wallets are listed by network.
      wallet_address: null,
      wallet_addresses: {
        ethereum: null,
        polygon: order.walletAddress,
        destination_tags: { stellar: null },
      },
      lock_wallet_address: true,
      destination_currencies: ['usdc'],
      destination_networks: ['polygon'],
    },
  };
}
