/**
 * The other side of src/providers/banxa.ts: quotes and orders below the partner's reference, and the one-time address
 * of an order at `/widget`. Here Klarna is a payment method.
 */
import { createHmac, randomBytes } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import { formatUnits } from '../../src/domain/money.ts';
import { parsePayoutAddress } from '../../src/domain/payout-address.ts';
import { InvalidRequestError, readReturnUrl } from '../invalid-request.ts';
import type { Order } from '../order-store.ts';
import {
  isSame,
  type OrderEvent,
  readCharge,
  readParameters,
  type SimulatedProtocol,
  type SimulatorContext,
} from './simulated-protocol.ts';

const MAXIMUM_ADDRESSES = 1_000;
const statusOfEvent: Readonly<Record<OrderEvent, string>> = {
  accepted: 'paymentReceived',
  declined: 'declined',
  delivered: 'complete',
  failed: 'cancelled',
};
const purchase = ['paymentMethodId', 'crypto', 'blockchain', 'fiat', 'fiatAmount'] as const;

type PartnerRequest = FastifyRequest<{ Params: { partner: string } }>;

/** One on-ramp's unopened addresses in memory; a restart empties it. */
export function createBanxaProtocol(): SimulatedProtocol {
  const orderIds = new LRUCache<string, string>({ max: MAXIMUM_ADDRESSES });

  function addressOf(simulator: SimulatorContext, order: Order): string {
    const token = randomBytes(18).toString('base64url');
    orderIds.set(token, order.id);
    return `${simulator.url()}/widget?order=${token}`;
  }

  return {
    refusal: { status: 422, body: { code: 422, message: 'The order cannot be created.' } },

    registerRoutes(server, simulator) {
      server.get(`/${simulator.provider}/api/:partner/v2/quotes/buy`, (request: PartnerRequest, reply) =>
        answer(simulator, request, reply, async () => {
          const query = readParameters(request.query, purchase, []);
          const { units } = await priceOf(simulator, query);
          return { ...query, cryptoAmount: formatUnits(units), processingFee: '0.00', networkFee: '0.00' };
        }),
      );
      server.post(`/${simulator.provider}/api/:partner/v2/buy`, (request: PartnerRequest, reply) =>
        answer(simulator, request, reply, async () => {
          const order = await openOrder(simulator, request.body);
          return {
            id: order.id,
            externalOrderId: order.externalId,
            checkoutUrl: addressOf(simulator, order),
          };
        }),
      );
      server.get(`/${simulator.provider}/api/:partner/v2/crypto/buy`, (request: PartnerRequest, reply) =>
        answer(simulator, request, reply, async () => [
          { id: 'BTC', description: 'Bitcoin', blockchains: [{ id: 'BTC', description: 'Bitcoin' }] },
          {
            id: 'USDC',
            description: 'USD Coin',
            blockchains: [{ id: 'MATIC', address: simulator.mode().tokenContract ?? simulator.usdc }],
          },
        ]),
      );
      server.get<{ Querystring: { order?: unknown } }>(`/${simulator.provider}/widget`, (request, reply) => {
        const token = String(request.query.order ?? '');
        const order = simulator.findOrder(orderIds.get(token) ?? '');
        if (order === null) return simulator.refuseCustomer(reply, 410, 'This address was used already.');
        orderIds.delete(token);
        return simulator.showOrder(reply, order);
      });
    },

    webhookOf(simulator, order, event, atMs) {
      const at = new Date(atMs).toISOString().slice(0, 19).replace('T', ' ');
      const body = JSON.stringify({
        order_id: order.id,
        status: simulator.mode().status ?? statusOfEvent[event],
        status_date: at,
        external_id: order.externalId,
        order_type: 'BUY',
        crypto_coin: 'USDC',
        transaction_hash: order.transactionHash,
      });
      const nonce = String(Math.floor(simulator.nowMs() / 1000));
      const { pathname } = new URL(simulator.webhookUrl ?? 'http://localhost/');
      const signature = createHmac('sha256', simulator.values['WEBHOOK_SECRET'] ?? '')
        .update(`POST\n${pathname}\n${nonce}\n${body}`)
        .digest('hex');
      return { headers: { authorization: `Bearer partner-key:${signature}:${nonce}` }, body };
    },
  };
}

async function answer(
  simulator: SimulatorContext,
  request: PartnerRequest,
  reply: FastifyReply,
  work: () => Promise<unknown>,
): Promise<FastifyReply> {
  const key = request.headers['x-api-key'];
  const isPartner =
    isSame(typeof key === 'string' ? key : undefined, simulator.values['API_KEY']) &&
    isSame(request.params.partner, simulator.values['PARTNER']);
  if (!isPartner) return reply.code(401).send({ code: 401, message: 'Unauthorized' });
  try {
    return await reply.send(await work());
  } catch (error) {
    if (!(error instanceof InvalidRequestError)) throw error;
    return reply.code(422).send({ code: 422, message: error.message });
  }
}

async function priceOf(
  simulator: SimulatorContext,
  query: Readonly<Record<(typeof purchase)[number], string>>,
) {
  const method = simulator.provider === 'klarna' ? 'klarna' : 'debit-credit-card';
  const isSold = query.crypto === 'USDC' && query.blockchain === 'MATIC' && query.paymentMethodId === method;
  if (!isSold) throw new InvalidRequestError('this is not sold here');
  const charge = readCharge(query.fiatAmount, query.fiat);
  const units = await simulator.quoteUnits(charge.amountCents, charge.currency);
  if (units === 0n) throw new InvalidRequestError('the amount is below the minimum');
  return { ...charge, units };
}

async function openOrder(simulator: SimulatorContext, body: unknown): Promise<Order> {
  const order = readParameters(
    body,
    [...purchase, 'walletAddress', 'redirectUrl', 'externalCustomerId'],
    ['externalOrderId', 'email'],
  );
  const { units, ...charge } = await priceOf(simulator, order);
  const walletAddress = parsePayoutAddress(order.walletAddress);
  if (walletAddress === null) throw new InvalidRequestError('walletAddress is malformed');
  return simulator.openOrder({
    ...charge,
    walletAddress,
    quotedUnits: units,
    externalId: order.externalOrderId ?? '',
    email: order.email ?? null,
    returnUrl: readReturnUrl(order.redirectUrl),
  });
}
