/**
 * The other side of src/providers/wert.ts: conversions, sessions whose page is at `/widget/{partner}/widget`, and the
 * partner's list of orders.
 */
import { randomBytes } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { LRUCache } from 'lru-cache';
import { formatUnits } from '../../src/domain/money.ts';
import { parsePayoutAddress } from '../../src/domain/payout-address.ts';
import { InvalidRequestError, readReturnUrl } from '../invalid-request.ts';
import type { Order } from '../order-store.ts';
import type { NewOrder } from '../pay-order.ts';
import {
  isSame,
  type OrderEvent,
  readCharge,
  readParameters,
  type SimulatedProtocol,
  type SimulatorContext,
} from './simulated-protocol.ts';

const MAXIMUM_REMEMBERED = 1_000;
const typeOfEvent: Readonly<Record<OrderEvent, string>> = {
  accepted: 'transfer_started',
  declined: 'order_failed',
  delivered: 'order_complete',
  failed: 'order_failed',
};

/** One on-ramp's memory. A restart empties it, and ends all unopened sessions. */
interface Memory {
  readonly sessions: LRUCache<string, Omit<NewOrder, 'provider' | 'externalId' | 'email' | 'returnUrl'>>;
  /** The orders by the partner's id. */
  readonly orders: LRUCache<string, readonly string[]>;
  readonly declined: LRUCache<string, true>;
}

export function createWertProtocol(): SimulatedProtocol {
  const memory: Memory = {
    sessions: new LRUCache({ max: MAXIMUM_REMEMBERED }),
    orders: new LRUCache({ max: MAXIMUM_REMEMBERED }),
    declined: new LRUCache({ max: MAXIMUM_REMEMBERED }),
  };
  return {
    refusal: { status: 400, body: { status: 'error', code: 'not_available', message: 'Not available.' } },

    registerRoutes(server, simulator) {
      registerConversion(server, simulator);
      registerPartnerApi(server, simulator, memory);
      registerWidget(server, simulator, memory);
    },
    webhookOf(simulator, order, event) {
      if (event === 'declined') memory.declined.set(order.id, true);
      const body = JSON.stringify({
        type: typeOfEvent[event],
        click_id: order.externalId,
        order: {
          id: order.id,
          base: 'USDC',
          quote: order.currency,
          address: order.walletAddress,
          transaction_id: order.transactionHash ?? '',
        },
      });
      return { url: `${simulator.webhookUrl}?token=${simulator.values['NOTICE_TOKEN']}`, headers: {}, body };
    },
  };
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function readAmount(value: unknown): string {
  if (typeof value !== 'number') throw new InvalidRequestError('the amount must be a number');
  return value.toFixed(2);
}

function registerConversion(server: FastifyInstance, simulator: SimulatorContext): void {
  server.post('/wert/api/api/v3/partners/convert', async (request, reply) => {
    if (!isSame(textOf(request.headers['x-partner-id']), simulator.values['PARTNER_ID']))
      return reply.code(401).send({ status: 'error', errorCode: 'partner_not_found' });
    try {
      const { amount, ...texts } = (request.body ?? {}) as Record<string, unknown>;
      const { from, to, network } = readParameters(texts, ['from', 'to', 'network'], []);
      if (to !== 'USDC' || network !== 'polygon') throw new InvalidRequestError('this is not sold here');
      const charge = readCharge(readAmount(amount), from);
      const units = await simulator.quoteUnits(charge.amountCents, charge.currency);
      if (units === 0n) throw new InvalidRequestError('the amount is below the minimum');
      return reply.send({
        status: 'success',
        body: {
          currency: from,
          currency_amount: charge.amountCents / 100,
          commodity: 'USDC',
          commodity_amount: Number(formatUnits(units)),
          fee_percent: 0,
          currency_miner_fee: 0,
        },
      });
    } catch (error) {
      if (!(error instanceof InvalidRequestError)) throw error;
      return reply.code(400).send({ status: 'error', message: error.message });
    }
  });
}

function registerPartnerApi(server: FastifyInstance, simulator: SimulatorContext, memory: Memory): void {
  const isPartner = (key: unknown) => isSame(textOf(key), simulator.values['API_KEY']);
  const refusal = { code: 'unauthorized', message: 'API key is not valid' };

  server.post('/wert/partner/api/external/hpp/create-session', async (request, reply) => {
    if (!isPartner(request.headers['x-api-key'])) return reply.code(401).send(refusal);
    try {
      const id = `wert_${randomBytes(16).toString('base64url')}`;
      memory.sessions.set(id, { ...(await readSession(simulator, request.body)), id });
      return reply.send({ requestId: randomBytes(8).toString('hex'), sessionId: id });
    } catch (error) {
      if (!(error instanceof InvalidRequestError)) throw error;
      return reply.code(400).send({ code: 'invalid_request', message: error.message });
    }
  });

  server.get<{ Querystring: { search_by?: unknown } }>(
    '/wert/partner/api/external/orders',
    (request, reply) => {
      if (!isPartner(request.headers['x-api-key'])) return reply.code(401).send(refusal);
      const ids = memory.orders.get(String(request.query.search_by ?? '')) ?? [];
      const orders = ids.map((id) => simulator.findOrder(id)).filter((order) => order !== null);
      const data = orders.map((order) => ({ id: order.id, status: statusOf(order, memory) }));
      return reply.send({ data });
    },
  );
}

function statusOf(order: Order, { declined }: Memory): string {
  if (order.state === 'open') return declined.has(order.id) ? 'failed' : 'created';
  if (order.state === 'delivered') return 'success';
  return order.state === 'failed' ? 'failed' : 'progress';
}

async function readSession(simulator: SimulatorContext, body: unknown) {
  const { currency_amount: amount, ...texts } = (body ?? {}) as Record<string, unknown>;
  const session = readParameters(
    texts,
    ['flow_type', 'wallet_address', 'currency', 'commodity', 'network'],
    ['phone'],
  );
  if (session.flow_type !== 'simple_full_restrict')
    throw new InvalidRequestError('flow_type must be simple_full_restrict: this shop locks the session');
  if (session.commodity !== 'USDC' || session.network !== 'polygon')
    throw new InvalidRequestError('this is not sold here');
  const walletAddress = parsePayoutAddress(session.wallet_address);
  if (walletAddress === null) throw new InvalidRequestError('wallet_address is malformed');
  const charge = readCharge(readAmount(amount), session.currency);
  const quotedUnits = await simulator.quoteUnits(charge.amountCents, charge.currency);
  if (quotedUnits === 0n) throw new InvalidRequestError('the amount is below the minimum');
  return { ...charge, walletAddress, quotedUnits };
}

function registerWidget(server: FastifyInstance, simulator: SimulatorContext, memory: Memory): void {
  server.get<{ Params: { partner: string } }>('/wert/widget/:partner/widget', (request, reply) => {
    try {
      const query = readParameters(request.query, ['session_id'], ['click_id', 'redirect_url', 'email']);
      if (!isSame(request.params.partner, simulator.values['PARTNER_ID']))
        throw new InvalidRequestError('the partner is not known');
      const earlier = simulator.findOrder(query.session_id);
      if (earlier?.provider === 'wert') return simulator.showOrder(reply, earlier);
      const session = memory.sessions.get(query.session_id);
      if (session === undefined) return simulator.refuseCustomer(reply, 404, 'There is no such session.');
      const order = simulator.openOrder({
        ...session,
        externalId: query.click_id ?? '',
        email: query.email ?? null,
        returnUrl: query.redirect_url === undefined ? '' : readReturnUrl(query.redirect_url),
      });
      memory.sessions.delete(query.session_id);
      memory.orders.set(order.externalId, [...(memory.orders.get(order.externalId) ?? []), order.id]);
      return simulator.showOrder(reply, order);
    } catch (error) {
      if (!(error instanceof InvalidRequestError)) throw error;
      return simulator.refuseCustomer(reply, 400, error.message);
    }
  });
}
