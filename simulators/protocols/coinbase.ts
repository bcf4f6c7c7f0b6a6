/**
 * The other side of src/providers/coinbase.ts: every call carries a token that is signed for it and used once. The
 * address of a session opens once, within five minutes, at `/widget`.
 */
import { createHmac, createPublicKey, randomBytes, verify } from 'node:crypto';
import { isIP } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import { formatUnits } from '../../src/domain/money.ts';
import { parsePayoutAddress } from '../../src/domain/payout-address.ts';
import { InvalidRequestError, readReturnUrl } from '../invalid-request.ts';
import type { Order } from '../order-store.ts';
import {
  type OrderEvent,
  readCharge,
  readParameters,
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

/** One on-ramp's memory; a restart empties it. */
interface Memory {
  /** Ids of used tokens. */
  readonly nonces: LRUCache<string, true>;
  readonly sessions: LRUCache<string, { readonly orderId: string; readonly expiresAtMs: number }>;
}

export function createCoinbaseProtocol(): SimulatedProtocol {
  const memory: Memory = {
    nonces: new LRUCache({ max: MAXIMUM_REMEMBERED }),
    sessions: new LRUCache({ max: MAXIMUM_REMEMBERED }),
  };
  return {
    refusal: { status: 400, body: { errorType: 'invalid_request', errorMessage: 'Not available.' } },

    registerRoutes(server, simulator) {
      registerQuotes(server, simulator, memory);
      registerSessions(server, simulator, memory);
      registerWidget(server, simulator, memory);
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
        contractAddress: simulator.mode().tokenContract ?? simulator.usdc,
        transactionId: order.id,
        txHash: order.transactionHash ?? '0x',
        walletAddress: order.walletAddress,
      });
      const time = Math.floor(simulator.nowMs() / 1000);
      const key = simulator.values['WEBHOOK_SECRET'] ?? '';
      const hmac = (text: string) => createHmac('sha256', key).update(text).digest('hex');
      const v0 = hmac(`${time}.${body}`);
      // The newer signature also covers the headers that it names.
      const names = 'content-type x-event-id';
      const eventId = order.id;
      const v1 = hmac(`${time}.${names}.application/json.${eventId}.${body}`);
      const old = simulator.mode().signsNextVersion === true ? '' : `v0=${v0},`;
      const signed = `t=${time},${old}h=${names},v1=${v1}`;
      return {
        headers: { 'x-hook0-signature': signed, 'content-type': 'application/json', 'x-event-id': eventId },
        body,
      };
    },
  };
}

/** Whether the token is signed by the partner's key for exactly this call, is recent, and was not used before. */
function isAuthorized(
  simulator: SimulatorContext,
  memory: Memory,
  authorization: string,
  target: string,
): boolean {
  const [header = '', claims = '', signature = '', ...rest] = authorization
    .replace(/^Bearer /, '')
    .split('.');
  const secret = Buffer.from(simulator.values['API_SECRET'] ?? '', 'base64');
  const x = secret.subarray(32).toString('base64url');
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
  const isSigned = verify(null, Buffer.from(`${header}.${claims}`), key, Buffer.from(signature, 'base64url'));
  if (!isSigned || rest.length > 0) return false;
  const read = (text: string) =>
    JSON.parse(Buffer.from(text, 'base64url').toString()) as Record<string, unknown>;
  const { alg, kid, typ, nonce } = read(header);
  const { sub, iss, iat, nbf, exp, uris } = read(claims);
  const nowSeconds = simulator.nowMs() / 1000;
  const isOfPartner =
    alg === 'EdDSA' && typ === 'JWT' && kid === simulator.values['API_KEY'] && sub === kid && iss === 'cdp';
  const isYoung =
    typeof iat === 'number' && iat <= nowSeconds && Number(nbf) <= nowSeconds && nowSeconds < Number(exp);
  const isBrief = Number(exp) - Number(nbf) <= LONGEST_TOKEN_SECONDS;
  const isForThis = Array.isArray(uris) && uris.length === 1 && uris[0] === target;
  if (!(isOfPartner && isYoung && isBrief && isForThis) || typeof nonce !== 'string') return false;
  if (nonce.length < 16 || memory.nonces.has(nonce)) return false;
  memory.nonces.set(nonce, true);
  return true;
}

async function answer(
  {
    simulator,
    memory,
    target,
  }: { readonly simulator: SimulatorContext; readonly memory: Memory; readonly target: string },
  request: FastifyRequest,
  reply: FastifyReply,
  work: () => Promise<unknown>,
): Promise<FastifyReply> {
  if (!isAuthorized(simulator, memory, request.headers.authorization ?? '', target))
    return reply.code(401).send({ errorType: 'unauthorized', errorMessage: 'The token is not valid.' });
  try {
    return await reply.send(await work());
  } catch (error) {
    if (!(error instanceof InvalidRequestError)) throw error;
    return reply.code(400).send({ errorType: 'invalid_request', errorMessage: error.message });
  }
}

function registerQuotes(server: FastifyInstance, simulator: SimulatorContext, memory: Memory): void {
  const host = 'api.developer.coinbase.com';
  const quote = '/onramp/v1/buy/quote';
  const options = '/onramp/v1/buy/options';
  const config = '/onramp/v1/buy/config';
  server.get(`/coinbase/developer${config}`, (request, reply) =>
    answer({ simulator, memory, target: `GET ${host}${config}` }, request, reply, async () => ({
      countries: ['US', 'DE', 'FR'].map((id) => ({ id, payment_methods: [{ id: 'CARD' }] })),
    })),
  );
  server.get(`/coinbase/developer${options}`, (request, reply) =>
    answer({ simulator, memory, target: `GET ${host}${options}` }, request, reply, async () => {
      readParameters(request.query, ['country'], ['subdivision', 'networks']);
      const contract = simulator.mode().tokenContract ?? simulator.usdc;
      const limits = [{ id: 'CARD', min: '5', max: '5000' }];
      return {
        payment_currencies: ['USD', 'EUR', 'CAD'].map((id) => ({ id, limits })),
        purchase_currencies: [
          { symbol: 'USDC', networks: [{ name: 'polygon', chain_id: '137', contract_address: contract }] },
        ],
      };
    }),
  );
  server.post(`/coinbase/developer${quote}`, (request, reply) =>
    answer({ simulator, memory, target: `POST ${host}${quote}` }, request, reply, async () => {
      const body = readParameters(
        request.body,
        [
          'purchaseCurrency',
          'purchaseNetwork',
          'paymentAmount',
          'paymentCurrency',
          'paymentMethod',
          'country',
        ],
        ['subdivision'],
      );
      if (body.purchaseCurrency !== 'USDC' || body.purchaseNetwork !== 'polygon')
        throw new InvalidRequestError('this is not sold here');
      if (body.country === 'US' && body.subdivision === undefined)
        throw new InvalidRequestError('subdivision is missing');
      const { amountCents, currency } = readCharge(body.paymentAmount, body.paymentCurrency);
      const units = await simulator.quoteUnits(amountCents, currency);
      if (units === 0n) throw new InvalidRequestError('the amount is below the minimum');
      return {
        payment_total: { value: body.paymentAmount, currency },
        purchase_amount: { value: formatUnits(units), currency: 'USDC' },
        quote_id: randomBytes(8).toString('hex'),
      };
    }),
  );
}

function registerSessions(server: FastifyInstance, simulator: SimulatorContext, memory: Memory): void {
  const path = '/platform/v2/onramp/sessions';
  const target = `POST api.cdp.coinbase.com${path}`;
  server.post(`/coinbase/platform${path}`, (request, reply) =>
    answer({ simulator, memory, target }, request, reply, async () => {
      const order = await openOrder(simulator, request.body);
      const token = randomBytes(18).toString('base64url');
      memory.sessions.set(token, { orderId: order.id, expiresAtMs: simulator.nowMs() + SESSION_LIFETIME_MS });
      const session = { onrampUrl: `${simulator.url()}/widget?sessionToken=${token}` };
      void reply.code(201);
      // With country and payment method the session comes with its quote.
      const { country, paymentMethod } = request.body as Readonly<Record<string, unknown>>;
      if (country === undefined || paymentMethod === undefined) return { session };
      const quote = {
        paymentTotal: (order.amountCents / 100).toFixed(2),
        paymentCurrency: order.currency,
        purchaseAmount: formatUnits(order.quotedUnits),
        purchaseCurrency: 'USDC',
        destinationNetwork: 'polygon',
      };
      return { session, quote };
    }),
  );
}

async function openOrder(simulator: SimulatorContext, body: unknown): Promise<Order> {
  const session = readParameters(
    body,
    ['destinationAddress', 'destinationNetwork', 'purchaseCurrency', 'paymentAmount', 'paymentCurrency'],
    ['redirectUrl', 'partnerUserRef', 'country', 'subdivision', 'paymentMethod', 'clientIp'],
  );
  if (session.purchaseCurrency !== 'USDC' || session.destinationNetwork !== 'polygon')
    throw new InvalidRequestError('this is not sold here');
  const walletAddress = parsePayoutAddress(session.destinationAddress);
  if (walletAddress === null) throw new InvalidRequestError('destinationAddress is malformed');
  if (session.country === 'US' && session.subdivision === undefined)
    throw new InvalidRequestError('subdivision is missing');
  if (simulator.mode().enforcesIp === true && isIP(session.clientIp ?? '') === 0)
    throw new InvalidRequestError('clientIp is missing');
  const reference = session.partnerUserRef ?? '';
  if (reference.length >= 50) throw new InvalidRequestError('partnerUserRef is too long');
  const charge = readCharge(session.paymentAmount, session.paymentCurrency);
  const quotedUnits = await simulator.quoteUnits(charge.amountCents, charge.currency);
  if (quotedUnits === 0n) throw new InvalidRequestError('the amount is below the minimum');
  return simulator.openOrder({
    ...charge,
    walletAddress,
    quotedUnits,
    externalId: reference,
    email: null,
    returnUrl: readReturnUrl(session.redirectUrl ?? ''),
  });
}

function registerWidget(server: FastifyInstance, simulator: SimulatorContext, { sessions }: Memory): void {
  server.get<{ Querystring: { sessionToken?: unknown } }>('/coinbase/widget', (request, reply) => {
    const token = String(request.query.sessionToken ?? '');
    const session = sessions.get(token);
    if (session === undefined || session.expiresAtMs <= simulator.nowMs())
      return simulator.refuseCustomer(reply, 410, 'This session was used already, or is over.');
    sessions.delete(token);
    const order = simulator.findOrder(session.orderId);
    if (order === null) return simulator.refuseCustomer(reply, 410, 'This session is over.');
    return simulator.showOrder(reply, order);
  });
}
