/**
 * The other side of src/providers/stripe.ts: quotes and sessions for a secret key, a session that can be read again,
 * and its page at `/widget`.
 */
import { createHmac, randomBytes } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { formatUnits } from '../../src/domain/money.ts';
import { parsePayoutAddress } from '../../src/domain/payout-address.ts';
import { InvalidRequestError } from '../invalid-request.ts';
import type { Order } from '../order-store.ts';
import {
  isSame,
  type OrderEvent,
  readCharge,
  readParameters,
  type SimulatedProtocol,
  type SimulatorContext,
} from './simulated-protocol.ts';

const statusOfEvent: Readonly<Record<OrderEvent, string>> = {
  accepted: 'fulfillment_processing',
  declined: 'rejected',
  delivered: 'fulfillment_complete',
  failed: 'rejected',
};
const locks = {
  'destination_currencies[]': 'usdc',
  'destination_networks[]': 'polygon',
} as const;

export const stripeProtocol: SimulatedProtocol = {
  refusal: {
    status: 400,
    body: {
      error: { type: 'invalid_request_error', code: 'crypto_onramp_disabled', message: 'Not available.' },
    },
  },

  registerRoutes(server, simulator) {
    const api = '/stripe/api/v1/crypto';
    server.get(`${api}/onramp/quotes`, (request, reply) =>
      answer(simulator, request, reply, () => quote(simulator, request.query)),
    );
    server.post(`${api}/onramp_sessions`, (request, reply) =>
      answer(simulator, request, reply, async () =>
        sessionOf(simulator, await openSession(simulator, request.body)),
      ),
    );
    server.get<{ Params: { id: string } }>(`${api}/onramp_sessions/:id`, (request, reply) =>
      answer(simulator, request, reply, async () => {
        const order = simulator.findOrder(request.params.id);
        if (order?.provider !== 'stripe') throw new InvalidRequestError('there is no such session');
        return sessionOf(simulator, order);
      }),
    );
    server.get<{ Querystring: { session?: unknown } }>('/stripe/widget', (request, reply) => {
      const order = simulator.findOrder(String(request.query.session ?? ''));
      if (order?.provider !== 'stripe')
        return simulator.refuseCustomer(reply, 404, 'There is no such session.');
      return simulator.showOrder(reply, order);
    });
  },

  webhookOf(simulator, order, event, atMs) {
    const object = {
      ...sessionOf(simulator, order),
      status: simulator.mode().status ?? statusOfEvent[event],
    };
    const body = JSON.stringify({
      id: `evt_${randomBytes(12).toString('hex')}`,
      type: 'crypto.onramp_session.updated',
      created: Math.floor(atMs / 1000),
      data: { object },
    });
    const time = Math.floor(simulator.nowMs() / 1000);
    const signature = createHmac('sha256', simulator.values['WEBHOOK_SECRET'] ?? '').update(
      `${time}.${body}`,
    );
    return { headers: { 'stripe-signature': `t=${time},v1=${signature.digest('hex')},v0=old` }, body };
  },
};

/** Answers only the right key, with refusals in Stripe's form. */
async function answer(
  simulator: SimulatorContext,
  request: FastifyRequest,
  reply: FastifyReply,
  work: () => Promise<unknown>,
): Promise<FastifyReply> {
  const refuse = (status: number, message: string) =>
    reply.code(status).send({ error: { type: 'invalid_request_error', message } });
  if (!isSame(request.headers.authorization, `Bearer ${simulator.values['API_KEY']}`))
    return refuse(401, 'Invalid API Key provided');
  try {
    return await reply.send(await work());
  } catch (error) {
    if (error instanceof InvalidRequestError) return refuse(400, error.message);
    throw error;
  }
}

function requireLocks(given: Readonly<Record<keyof typeof locks, string>>): void {
  for (const [name, value] of Object.entries(locks)) {
    if (given[name as keyof typeof locks] !== value)
      throw new InvalidRequestError(`${name} is not sold here`);
  }
}

async function quote(simulator: SimulatorContext, parameters: unknown): Promise<unknown> {
  const query = readParameters(
    parameters,
    ['source_currency', 'source_amount', 'destination_currencies[]', 'destination_networks[]'],
    [],
  );
  requireLocks(query);
  const { amountCents, currency } = readCharge(query.source_amount, query.source_currency);
  const units = await simulator.quoteUnits(amountCents, currency);
  if (units === 0n) throw new InvalidRequestError('the amount is below the minimum');
  return {
    object: 'crypto.onramp.quotes',
    destination_network_quotes: {
      polygon: [
        {
          destination_currency: 'usdc',
          destination_network: 'polygon',
          destination_amount: formatUnits(units),
        },
      ],
    },
  };
}

async function openSession(simulator: SimulatorContext, body: unknown): Promise<Order> {
  const form = readParameters(
    body,
    [
      'source_currency',
      'source_amount',
      'destination_currency',
      'destination_network',
      'destination_currencies[]',
      'destination_networks[]',
      'wallet_addresses[polygon]',
      'lock_wallet_address',
    ],
    ['metadata[payment_id]', 'customer_ip_address'],
  );
  requireLocks(form);
  if (form.lock_wallet_address !== 'true') throw new InvalidRequestError('this shop locks the address');
  if (simulator.mode().enforcesIp === true && form.customer_ip_address === undefined)
    throw new InvalidRequestError('customer_ip_address is missing');
  const walletAddress = parsePayoutAddress(form['wallet_addresses[polygon]']);
  if (walletAddress === null) throw new InvalidRequestError('wallet_addresses[polygon] is malformed');
  const charge = readCharge(form.source_amount, form.source_currency);
  const quotedUnits = await simulator.quoteUnits(charge.amountCents, charge.currency);
  if (quotedUnits === 0n) throw new InvalidRequestError('the amount is below the minimum');
  return simulator.openOrder({
    ...charge,
    walletAddress,
    quotedUnits,
    id: `cos_${randomBytes(16).toString('hex')}`,
    externalId: form['metadata[payment_id]'] ?? '',
    email: null,
    // Its page has no return link: the customer returns by other means.
    returnUrl: '',
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
      // Null until the customer has chosen; the passed wallets are repeated by network.
      wallet_address: null,
      wallet_addresses:
        simulator.mode().echoesNull === true ? null : { polygon: order.walletAddress, ethereum: null },
      lock_wallet_address: simulator.mode().isUnlocked !== true,
      destination_currencies: ['usdc'],
      destination_networks: ['polygon'],
    },
  };
}
