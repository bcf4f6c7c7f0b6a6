import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { createIpnTokens, type IpnTokens } from '../../payment/ipn-token.ts';
import type { PaymentId } from '../../payment/payment.ts';
import { createPaymentIdGenerator } from '../../payment/payment-id.ts';

export interface GradedOrder {
  readonly paymentId: PaymentId;
  readonly ipnToken: string;
  readonly amount: string;
  readonly currency: string;
  status: 'unpaid' | 'paid';
  statusReads: number;
}

/** Fields that features add to an event of the payment itself. */
export type EventFields = Readonly<Record<string, null>>;

/** Simulated service whose checkouts cannot be paid. It returns their status and the account's events. */
export interface StandInService {
  readonly baseUrl: string;
  readonly orders: GradedOrder[];
  /** Orders in the event log. An event's number is its index plus one. */
  readonly events: GradedOrder[];
  readonly eventFields: EventFields;
  eventReads: number;
  stop(): Promise<void>;
}

/** Listens on loopback only; port 0 means any free port. Accepts any key, because there is nothing to protect. */
export async function startStandInService(port: number, eventFields: EventFields): Promise<StandInService> {
  const tokens = createIpnTokens(randomBytes(32).toString('hex'));
  const server = createServer((request, response) => {
    void answer(request, service, tokens)
      .catch(() => ({ status: 400, body: { error: 'The request is invalid.' } }))
      .then(({ status, body }) => {
        response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
      });
  });
  await once(server.listen(port, '127.0.0.1'), 'listening');
  const service: StandInService = {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    orders: [],
    events: [],
    eventFields,
    eventReads: 0,
    async stop() {
      server.closeAllConnections();
      await server[Symbol.asyncDispose]();
    },
  };
  return service;
}

interface Reply {
  readonly status: number;
  readonly body: unknown;
}

async function answer(request: IncomingMessage, service: StandInService, tokens: IpnTokens): Promise<Reply> {
  const { orders } = service;
  const url = new URL(request.url ?? '/', 'http://stand-in');
  if (request.headers['x-api-key'] === undefined && request.headers.authorization === undefined) {
    return {
      status: 401,
      body: {
        error:
          'The API key is missing, invalid or revoked. Send one key, as X-API-Key or as Authorization: Bearer.',
      },
    };
  }
  if (url.pathname === '/api/v1/wallet') {
    const parameters = (
      request.method === 'POST' ? await json(request) : Object.fromEntries(url.searchParams)
    ) as Readonly<Record<string, unknown>>;
    const paymentId = createPaymentIdGenerator(Date.now)();
    const order: GradedOrder = {
      paymentId,
      ipnToken: tokens.create(paymentId),
      amount: String(parameters['amount'] ?? ''),
      currency: String(parameters['currency'] ?? 'USD'),
      status: 'unpaid',
      statusReads: 0,
    };
    orders.push(order);
    return { status: 200, body: presentOrder(order, String(parameters['callback'] ?? '')) };
  }
  if (url.pathname === '/merchant/v1/events') return readEvents(service, url.searchParams);
  if (url.pathname === '/api/v1/payment-status') {
    const token = url.searchParams.get('ipn_token');
    const id = token === null ? url.searchParams.get('payment_id') : tokens.verify(token);
    const order = orders.find(({ paymentId }) => paymentId === id);
    if (order === undefined) return { status: 404, body: { error: 'Payment not found.' } };
    order.statusReads++;
    return { status: 200, body: presentStatus(order) };
  }
  return { status: 404, body: { error: 'Not found. Check the path and the id.' } };
}

/** Reads the event log. Refuses a cursor beyond the log, because it comes from another service. */
function readEvents(service: StandInService, query: URLSearchParams): Reply {
  service.eventReads++;
  const after = Number(query.get('after') ?? 0);
  if (after > service.events.length) {
    const error = `Events after ${after} are not available. Continue with after=0.`;
    return { status: 410, body: { error, code: 'cursor_expired' } };
  }
  const limit = Number(query.get('limit') ?? 20);
  const events = service.events
    .map((order, index) => ({
      number: index + 1,
      type: 'payment.paid',
      created_at: new Date().toISOString(),
      payment: presentStatus(order),
      ...service.eventFields,
    }))
    .filter(({ number }) => number > after)
    .slice(0, limit);
  const next = events.at(-1)?.number ?? after;
  return { status: 200, body: { events, next_after: next, has_more: next < service.events.length } };
}

const nowhere = `0x${'0'.repeat(40)}`;

function presentOrder({ paymentId, ipnToken, amount }: GradedOrder, callback: string): unknown {
  return {
    payment_id: paymentId,
    ipn_token: ipnToken,
    checkout_url: `https://grader.invalid/pay/${paymentId}`,
    short_code: 'graded',
    short_url: 'https://grader.invalid/s/graded',
    callback_url: callback,
    address_in: nowhere,
    polygon_address_in: nowhere,
    payment_type: 'card',
    provider: 'multi',
    amount,
    original_amount: null,
    customer_fee_amount: null,
    pass_fee_to_customer: false,
    fee_percent: 2.5,
    status: 'unpaid',
  };
}

function presentStatus({ paymentId, amount, currency, status }: GradedOrder): unknown {
  const isPaid = status === 'paid';
  const now = new Date().toISOString();
  return {
    payment_id: paymentId,
    status,
    forward_status: isPaid ? 'completed' : 'pending',
    amount,
    original_amount: null,
    customer_fee_amount: null,
    pass_fee_to_customer: false,
    currency,
    coin: 'polygon_usdc',
    value_coin: isPaid ? '20.000000' : '0.000000',
    forwarded_amount: isPaid ? '19.500000' : '0.000000',
    txid_in: isPaid ? `0x${'1'.repeat(64)}` : null,
    txid_out: isPaid ? `0x${'2'.repeat(64)}` : null,
    address_in: nowhere,
    paid_at: isPaid ? now : null,
    created_at: now,
  };
}
