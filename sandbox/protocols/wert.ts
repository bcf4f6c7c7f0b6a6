/**
 * Counterpart of src/providers/adapters/wert.ts: converts amounts, creates sessions, shows a session's page at
 * `/widget/{partner}/widget`, and lists orders by the partner's id.
 */
import { randomBytes } from 'node:crypto';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import { formatUnits } from '../../src/payment/money.ts';
import type { Order } from '../order-store.ts';
import {
  isSame,
  type OrderEvent,
  type Purchase,
  readParameters,
  readWallet,
  refuseUnless,
  requireUsdcOnPolygon,
  type SimulatedProtocol,
  type SimulatorContext,
  takeNumber,
} from './simulated-protocol.ts';

const MAXIMUM_REMEMBERED = 1_000;
const typeOfEvent: Readonly<Record<OrderEvent, string>> = {
  accepted: 'transfer_started',
  declined: 'order_failed',
  delivered: 'order_complete',
  failed: 'order_failed',
};

/** State of one on-ramp in memory. A restart clears it, which ends all unopened sessions. */
interface Memory {
  readonly sessions: LRUCache<string, Pick<Purchase, 'amount' | 'currency' | 'walletAddress'>>;
  /** Order ids by the partner's id for the purchase. */
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
    refusal: (message) => ({ status: 'error', message }),

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

function registerConversion(server: FastifyInstance, simulator: SimulatorContext): void {
  server.post('/wert/api/api/v3/partners/convert', async ({ headers, body }) => {
    const isPartner = isSame(headers['x-partner-id'], simulator.values['PARTNER_ID']);
    refuseUnless(isPartner, 'The partner is not known', 401);
    const [amount, texts] = takeNumber(body, 'amount');
    const { from, to, network } = readParameters(texts, ['from', 'to', 'network']);
    requireUsdcOnPolygon(to, network);
    const price = await simulator.price(amount.toFixed(2), from);
    const fiat = { currency: from, currency_amount: price.amountCents / 100 };
    const coin = { commodity: 'USDC', commodity_amount: Number(formatUnits(price.quotedUnits)) };
    return { status: 'success', body: { ...fiat, ...coin, fee_percent: 0, currency_miner_fee: 0 } };
  });
}

function registerPartnerApi(server: FastifyInstance, simulator: SimulatorContext, memory: Memory): void {
  const requireKey = ({ headers }: FastifyRequest) =>
    refuseUnless(isSame(headers['x-api-key'], simulator.values['API_KEY']), 'API key is not valid', 401);

  server.post('/wert/partner/api/external/hpp/create-session', async (request) => {
    requireKey(request);
    const id = `wert_${randomBytes(16).toString('base64url')}`;
    memory.sessions.set(id, await readSession(simulator, request.body));
    return { requestId: randomBytes(8).toString('hex'), sessionId: id };
  });
  server.get<{ Querystring: { search_by?: unknown } }>(
    '/wert/partner/api/external/orders',
    async (request) => {
      requireKey(request);
      const ids = memory.orders.get(String(request.query.search_by)) ?? [];
      const orders = ids.map((id) => simulator.findOrder(id)).filter((order) => order !== null);
      return { data: orders.map((order) => ({ id: order.id, status: statusOf(order, memory) })) };
    },
  );
}

function statusOf(order: Order, { declined }: Memory): string {
  if (order.state === 'open') return declined.has(order.id) ? 'failed' : 'created';
  if (order.state === 'delivered') return 'success';
  return order.state === 'failed' ? 'failed' : 'progress';
}

async function readSession(simulator: SimulatorContext, body: unknown) {
  const [amount, texts] = takeNumber(body, 'currency_amount');
  const session = readParameters(
    texts,
    ['flow_type', 'wallet_address', 'currency', 'commodity', 'network'],
    ['phone'],
  );
  refuseUnless(
    session.flow_type === 'simple_full_restrict',
    'flow_type must be simple_full_restrict: this shop locks the session',
  );
  requireUsdcOnPolygon(session.commodity, session.network);
  const purchase = { amount: amount.toFixed(2), currency: session.currency };
  await simulator.price(purchase.amount, purchase.currency);
  return { ...purchase, walletAddress: readWallet(session.wallet_address) };
}

function registerWidget(server: FastifyInstance, simulator: SimulatorContext, memory: Memory): void {
  server.get<{ Params: { partner: string } }>('/wert/widget/:partner/widget', async (request, reply) => {
    const query = readParameters(request.query, ['session_id'], ['click_id', 'redirect_url', 'email']);
    const id = query.session_id;
    const isPartner = isSame(request.params.partner, simulator.values['PARTNER_ID']);
    refuseUnless(isPartner, 'the partner is not known');
    const earlier = simulator.findOrder(id);
    if (earlier !== null) return simulator.showOrder(reply, earlier);
    const session = memory.sessions.get(id);
    refuseUnless(session, 'There is no such session.', 404);
    const order = await simulator.openOrder({
      ...session,
      id,
      externalId: query.click_id,
      email: query.email,
      returnUrl: query.redirect_url ?? null,
    });
    memory.sessions.delete(id);
    memory.orders.set(order.externalId, [...(memory.orders.get(order.externalId) ?? []), order.id]);
    return simulator.showOrder(reply, order);
  });
}
