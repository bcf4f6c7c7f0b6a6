/**
 * Counterpart of src/providers/adapters/coinbase.ts: returns quotes and creates sessions. Each call needs a new token
 * that is signed for this call. A session's URL at `/widget` works once, within `SESSION_LIFETIME_MS`.
 */
import { createPublicKey, randomBytes, verify } from 'node:crypto';
import { isIP } from 'node:net';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import { formatUnits } from '../../src/payment/money.ts';
import type { Order } from '../order-store.ts';
import {
  createOneTimeLinks,
  hmac,
  type OrderEvent,
  readParameters,
  refuseUnless,
  requireUsdcOnPolygon,
  type SimulatedProtocol,
  type SimulatorContext,
} from './simulated-protocol.ts';

const SESSION_LIFETIME_MS = 5 * 60_000;
const LONGEST_TOKEN_SECONDS = 120;
const MAXIMUM_REMEMBERED = 1_000;
const statusOfEvent: Readonly<Record<OrderEvent, string>> = {
  accepted: 'ONRAMP_TRANSACTION_STATUS_IN_PROGRESS',
  declined: 'ONRAMP_TRANSACTION_STATUS_FAILED',
  delivered: 'ONRAMP_TRANSACTION_STATUS_SUCCESS',
  failed: 'ONRAMP_TRANSACTION_STATUS_FAILED',
};
const typeOfEvent: Readonly<Record<OrderEvent, string>> = {
  accepted: 'onramp.transaction.updated',
  declined: 'onramp.transaction.failed',
  delivered: 'onramp.transaction.success',
  failed: 'onramp.transaction.failed',
};

/** State of one on-ramp in memory. A restart clears it. */
interface Memory {
  /** Nonces of accepted tokens. Each token is valid once. */
  readonly nonces: LRUCache<string, true>;
  readonly links: ReturnType<typeof createOneTimeLinks>;
}

export function createCoinbaseProtocol(): SimulatedProtocol {
  const memory: Memory = {
    nonces: new LRUCache({ max: MAXIMUM_REMEMBERED }),
    links: createOneTimeLinks(SESSION_LIFETIME_MS),
  };
  return {
    refusal: (message, status) => ({
      errorType: status === 401 ? 'unauthorized' : 'invalid_request',
      errorMessage: message,
    }),

    registerRoutes(server, simulator) {
      registerQuotes(server, simulator, memory);
      registerSessions(server, simulator, memory);
      server.get<{ Querystring: { sessionToken?: unknown } }>('/coinbase/widget', async ({ query }, reply) =>
        memory.links.open(query.sessionToken, reply, simulator),
      );
    },
    webhookOf(simulator, order, event, atMs) {
      const at = new Date(atMs).toISOString();
      const isOver = event === 'delivered' || event === 'failed';
      const body = JSON.stringify({
        completedAt: isOver ? at : '0001-01-01T00:00:00Z',
        createdAt: new Date(order.createdAtMs).toISOString(),
        updatedAt: at,
        eventType: typeOfEvent[event],
        partnerUserRef: order.externalId,
        purchaseCurrency: 'USDC',
        purchaseNetwork: 'polygon',
        status: simulator.mode().status ?? statusOfEvent[event],
        contractAddress: simulator.tokenContract(),
        transactionId: order.id,
        txHash: order.transactionHash ?? '0x',
        walletAddress: order.walletAddress,
      });
      const time = Math.floor(simulator.nowMs() / 1000);
      const key = simulator.values['WEBHOOK_SECRET'];
      // The newer signature also covers the headers that it names.
      const names = 'content-type x-event-id';
      const v1 = hmac(key, `${time}.${names}.application/json.${order.id}.${body}`);
      const old = simulator.mode().signsNextVersion === true ? '' : `v0=${hmac(key, `${time}.${body}`)},`;
      const signed = `t=${time},${old}h=${names},v1=${v1}`;
      return {
        headers: { 'x-hook0-signature': signed, 'content-type': 'application/json', 'x-event-id': order.id },
        body,
      };
    },
  };
}

/** Requires a recent, unused token that the partner's key signed for exactly this call. */
function requireAuthorized(
  { values, nowMs }: SimulatorContext,
  { nonces }: Memory,
  authorization: string | undefined,
  target: string,
): void {
  const require = (isRight: boolean) => refuseUnless(isRight, 'The token is not valid.', 401);
  const parts = (authorization ?? '').replace(/^Bearer /, '').split('.');
  const [header = '', claims = '', signature = ''] = parts;
  const x = Buffer.from(values['API_SECRET'] ?? '', 'base64')
    .subarray(32)
    .toString('base64url');
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
  const signed = Buffer.from(`${header}.${claims}`);
  require(parts.length === 3 && verify(null, signed, key, Buffer.from(signature, 'base64url')));
  const read = (text: string) =>
    JSON.parse(Buffer.from(text, 'base64url').toString()) as Record<string, unknown>;
  const { alg, kid, typ, nonce } = read(header);
  const { sub, iss, iat, nbf, exp, uris } = read(claims);
  require(alg === 'EdDSA' && typ === 'JWT' && kid === values['API_KEY'] && sub === kid && iss === 'cdp');
  const nowSeconds = nowMs() / 1000;
  require(Number(iat) <= nowSeconds && Number(nbf) <= nowSeconds && nowSeconds < Number(exp));
  require(Number(exp) - Number(nbf) <= LONGEST_TOKEN_SECONDS);
  require(Array.isArray(uris) && uris.length === 1 && uris[0] === target);
  require(typeof nonce === 'string' && nonce.length >= 16 && !nonces.has(nonce));
  nonces.set(nonce as string, true);
}

function registerQuotes(server: FastifyInstance, simulator: SimulatorContext, memory: Memory): void {
  const path = '/onramp/v1/buy';
  const requireToken = ({ headers }: FastifyRequest, target: string) =>
    requireAuthorized(
      simulator,
      memory,
      headers.authorization,
      target.replace('/', 'api.developer.coinbase.com/'),
    );
  server.get(`/coinbase/developer${path}/config`, async (request) => {
    requireToken(request, `GET ${path}/config`);
    return { countries: ['US', 'DE', 'FR'].map((id) => ({ id, payment_methods: [{ id: 'CARD' }] })) };
  });
  server.get(`/coinbase/developer${path}/options`, async (request) => {
    requireToken(request, `GET ${path}/options`);
    readParameters(request.query, ['country'], ['subdivision', 'networks']);
    const limits = [{ id: 'CARD', min: '5', max: '5000' }];
    const polygon = { name: 'polygon', chain_id: '137', contract_address: simulator.tokenContract() };
    return {
      payment_currencies: ['USD', 'EUR', 'CAD'].map((id) => ({ id, limits })),
      purchase_currencies: [{ symbol: 'USDC', networks: [polygon] }],
    };
  });
  server.post(`/coinbase/developer${path}/quote`, async (request) => {
    requireToken(request, `POST ${path}/quote`);
    const body = readParameters(
      request.body,
      ['purchaseCurrency', 'purchaseNetwork', 'paymentAmount', 'paymentCurrency', 'paymentMethod', 'country'],
      ['subdivision'],
    );
    requireUsdcOnPolygon(body.purchaseCurrency, body.purchaseNetwork);
    requireSubdivision(body);
    const { quotedUnits, currency } = await simulator.price(body.paymentAmount, body.paymentCurrency);
    return {
      payment_total: { value: body.paymentAmount, currency },
      purchase_amount: { value: formatUnits(quotedUnits), currency: 'USDC' },
      quote_id: randomBytes(8).toString('hex'),
    };
  });
}

function requireSubdivision(place: { readonly country?: string; readonly subdivision?: string }): void {
  refuseUnless(place.country !== 'US' || place.subdivision !== undefined, 'subdivision is missing');
}

function registerSessions(server: FastifyInstance, simulator: SimulatorContext, memory: Memory): void {
  const path = '/platform/v2/onramp/sessions';
  server.post(`/coinbase/platform${path}`, async (request, reply) => {
    requireAuthorized(simulator, memory, request.headers.authorization, `POST api.cdp.coinbase.com${path}`);
    const order = await openOrder(simulator, request.body);
    const token = memory.links.add({ orderId: order.id }, simulator);
    const session = { onrampUrl: `${simulator.url()}/widget?sessionToken=${token}` };
    void reply.code(201);
    // Only a session with a country and a payment method includes a quote.
    const { country, paymentMethod } = request.body as Readonly<Record<string, unknown>>;
    if (country === undefined || paymentMethod === undefined) return { session };
    const paid = { paymentTotal: (order.amountCents / 100).toFixed(2), paymentCurrency: order.currency };
    const bought = { purchaseAmount: formatUnits(order.quotedUnits), purchaseCurrency: 'USDC' };
    return { session, quote: { ...paid, ...bought, destinationNetwork: 'polygon' } };
  });
}

async function openOrder(simulator: SimulatorContext, body: unknown): Promise<Order> {
  const session = readParameters(
    body,
    ['destinationAddress', 'destinationNetwork', 'purchaseCurrency', 'paymentAmount', 'paymentCurrency'],
    ['redirectUrl', 'partnerUserRef', 'country', 'subdivision', 'paymentMethod', 'clientIp'],
  );
  requireUsdcOnPolygon(session.purchaseCurrency, session.destinationNetwork);
  requireSubdivision(session);
  if (simulator.mode().enforcesIp === true)
    refuseUnless(isIP(session.clientIp ?? '') !== 0, 'clientIp is missing');
  refuseUnless((session.partnerUserRef ?? '').length < 50, 'partnerUserRef is too long');
  return simulator.openOrder({
    amount: session.paymentAmount,
    currency: session.paymentCurrency,
    walletAddress: session.destinationAddress,
    externalId: session.partnerUserRef,
    returnUrl: session.redirectUrl,
  });
}
