/**
 * The other side of src/providers/transak.ts: an access token that ends the previous one, sessions created with it, and
 * a widget at `/widget` that opens once, within five minutes, and only from the referrer's domain.
 */
import { createHmac, randomBytes } from 'node:crypto';
import { isIP } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { LRUCache } from 'lru-cache';
import { type Currency, formatUnits } from '../../src/domain/money.ts';
import { parsePayoutAddress } from '../../src/domain/payout-address.ts';
import { InvalidRequestError, readReturnUrl } from '../invalid-request.ts';
import {
  isSame,
  type OrderEvent,
  readCharge,
  readParameters,
  type SimulatedProtocol,
  type SimulatorContext,
} from './simulated-protocol.ts';

const SESSION_LIFETIME_MS = 5 * 60_000;
const TOKEN_LIFETIME_MS = 7 * 24 * 60 * 60_000;
const MAXIMUM_SESSIONS = 1_000;
const statusOfEvent: Readonly<Record<OrderEvent, string>> = {
  accepted: 'PROCESSING',
  declined: 'FAILED',
  delivered: 'COMPLETED',
  failed: 'FAILED',
};
const eventIdOf: Readonly<Record<OrderEvent, string>> = {
  accepted: 'ORDER_PROCESSING',
  declined: 'ORDER_FAILED',
  delivered: 'ORDER_COMPLETED',
  failed: 'ORDER_FAILED',
};

interface Session {
  readonly orderId: string;
  readonly referrerDomain: string;
  readonly expiresAtMs: number;
}

/** One on-ramp's memory; a restart empties it, as if Transak had ended all tokens. */
interface Memory {
  accessToken: { readonly value: string; readonly expiresAtMs: number } | null;
  readonly sessions: LRUCache<string, Session>;
}

export function createTransakProtocol(): SimulatedProtocol {
  const memory: Memory = { accessToken: null, sessions: new LRUCache({ max: MAXIMUM_SESSIONS }) };
  return {
    refusal: { status: 400, body: { error: { statusCode: 400, message: 'Not available.' } } },

    registerRoutes(server, simulator) {
      registerQuotes(server, simulator);
      registerTokens(server, simulator, memory);
      registerSessions(server, simulator, memory);
      registerWidget(server, simulator, memory);
    },
    webhookOf(simulator, order, event, atMs) {
      const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
      const payload = {
        webhookData: {
          id: order.id,
          status: simulator.mode().status ?? statusOfEvent[event],
          partnerOrderId: order.externalId,
          walletAddress: order.walletAddress,
          transactionHash: order.transactionHash,
        },
        eventID: eventIdOf[event],
        createdAt: new Date(atMs).toISOString(),
      };
      const signed = `${encode({ alg: 'HS256', typ: 'JWT' })}.${encode(payload)}`;
      const signature = createHmac(
        'sha256',
        simulator.isImpostor ? 'a guess' : (memory.accessToken?.value ?? ''),
      ).update(signed);
      return { headers: {}, body: JSON.stringify({ data: `${signed}.${signature.digest('base64url')}` }) };
    },
  };
}

function refusal(statusCode: number, message: string) {
  return { error: { statusCode, message } };
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function registerTokens(server: FastifyInstance, simulator: SimulatorContext, memory: Memory): void {
  server.post('/transak/api/partners/api/v2/refresh-token', (request, reply) => {
    const { apiKey } = (request.body ?? {}) as { apiKey?: unknown };
    const isPartner =
      isSame(textOf(request.headers['api-secret']), simulator.values['API_SECRET']) &&
      isSame(textOf(request.headers['x-api-key']), simulator.values['API_KEY']) &&
      isSame(textOf(apiKey), simulator.values['API_KEY']);
    if (!isPartner) return reply.code(401).send(refusal(401, 'Invalid API secret'));
    const expiresAtMs = simulator.nowMs() + TOKEN_LIFETIME_MS;
    const value = `token.${randomBytes(24).toString('base64url')}`;
    memory.accessToken = { value, expiresAtMs };
    return reply.send({ data: { accessToken: value, expiresAt: Math.floor(expiresAtMs / 1000) } });
  });
}

function registerSessions(server: FastifyInstance, simulator: SimulatorContext, memory: Memory): void {
  server.post('/transak/gateway/api/v2/auth/session', async (request, reply) => {
    const { accessToken, sessions } = memory;
    const isCurrent =
      accessToken !== null &&
      accessToken.expiresAtMs > simulator.nowMs() &&
      isSame(textOf(request.headers['access-token']), accessToken.value);
    if (!isSame(textOf(request.headers['x-api-key']), simulator.values['API_KEY']))
      return reply.code(401).send(refusal(401, 'x-api-key is missing'));
    if (simulator.mode().enforcesIp === true && isIP(textOf(request.headers['x-user-ip']) ?? '') === 0)
      return reply.code(400).send(refusal(400, 'x-user-ip is missing'));
    if (!isCurrent) return reply.code(401).send(refusal(401, 'Invalid access token'));
    try {
      const session = await openSession(simulator, request.body);
      const id = randomBytes(18).toString('base64url');
      sessions.set(id, session);
      const widgetUrl = `${simulator.url()}/widget?apiKey=${simulator.values['API_KEY']}&sessionId=${id}`;
      return reply.send({ data: { widgetUrl } });
    } catch (error) {
      if (!(error instanceof InvalidRequestError)) throw error;
      return reply.code(400).send(refusal(400, error.message));
    }
  });
}

function registerWidget(server: FastifyInstance, simulator: SimulatorContext, { sessions }: Memory): void {
  server.get<{ Querystring: { sessionId?: unknown } }>('/transak/widget', (request, reply) => {
    const id = String(request.query.sessionId ?? '');
    const session = sessions.get(id);
    if (session === undefined || session.expiresAtMs <= simulator.nowMs())
      return simulator.refuseCustomer(reply, 410, 'This session was used already, or is over.');
    const referer = request.headers.referer ?? '';
    const domain = URL.canParse(referer) ? new URL(referer).hostname : '';
    if (domain !== session.referrerDomain)
      return simulator.refuseCustomer(
        reply,
        403,
        `You come from "${domain}", which is not the partner's domain.`,
      );
    sessions.delete(id);
    const order = simulator.findOrder(session.orderId);
    if (order === null) return simulator.refuseCustomer(reply, 410, 'This session is over.');
    return simulator.showOrder(reply, order);
  });
}

function registerQuotes(server: FastifyInstance, simulator: SimulatorContext): void {
  server.get('/transak/api/api/v1/pricing/public/quotes', async (request, reply) => {
    try {
      const query = readParameters(
        request.query,
        ['partnerApiKey', 'fiatCurrency', 'cryptoCurrency', 'isBuyOrSell', 'network', 'fiatAmount'],
        ['paymentMethod', 'quoteCountryCode'],
      );
      if (!isSame(query.partnerApiKey, simulator.values['API_KEY']))
        return reply.code(401).send({ ...refusal(401, 'Invalid API key') });
      if (query.cryptoCurrency !== 'USDC' || query.network !== 'polygon' || query.isBuyOrSell !== 'BUY')
        throw new InvalidRequestError('this is not sold here');
      const { amountCents, currency } = readCharge(query.fiatAmount, query.fiatCurrency);
      requireCardCurrency(currency, query.paymentMethod);
      const units = await simulator.quoteUnits(amountCents, currency);
      if (units === 0n) throw new InvalidRequestError('the amount is below the minimum');
      return reply.send({
        response: { fiatAmount: amountCents / 100, cryptoAmount: Number(formatUnits(units)) },
      });
    } catch (error) {
      if (!(error instanceof InvalidRequestError)) throw error;
      return reply.code(400).send(refusal(400, error.message));
    }
  });
}

/** INR is paid by UPI. */
function requireCardCurrency(currency: Currency, paymentMethod: string | undefined): void {
  if (currency === 'INR' && paymentMethod === 'credit_debit_card')
    throw new InvalidRequestError('cards are not taken for INR');
}

/** Validates the parameters of a widget, and creates its order. Throws `InvalidRequestError`. */
async function openSession(simulator: SimulatorContext, body: unknown): Promise<Session> {
  const { widgetParams, ...others } = (body ?? {}) as Record<string, unknown>;
  if (Object.keys(others).length > 0) throw new InvalidRequestError('there are unknown parameters');
  const { fiatAmount, disableWalletAddressForm, ...texts } = (widgetParams ?? {}) as Record<string, unknown>;
  const params = readParameters(
    texts,
    ['apiKey', 'referrerDomain', 'fiatCurrency', 'cryptoCurrencyCode', 'network', 'walletAddress'],
    ['partnerOrderId', 'redirectURL', 'paymentMethod', 'email'],
  );
  if (!isSame(params.apiKey, simulator.values['API_KEY'])) throw new InvalidRequestError('apiKey is unknown');
  if (params.cryptoCurrencyCode !== 'USDC' || params.network !== 'polygon')
    throw new InvalidRequestError('this is not sold here');
  if (disableWalletAddressForm !== true)
    throw new InvalidRequestError('disableWalletAddressForm must be true: this shop locks the address');
  if (typeof fiatAmount !== 'number') throw new InvalidRequestError('fiatAmount must be a number');
  const charge = readCharge(fiatAmount.toFixed(2), params.fiatCurrency);
  requireCardCurrency(charge.currency, params.paymentMethod);
  const walletAddress = parsePayoutAddress(params.walletAddress);
  if (walletAddress === null) throw new InvalidRequestError('walletAddress is malformed');
  const quotedUnits = await simulator.quoteUnits(charge.amountCents, charge.currency);
  if (quotedUnits === 0n) throw new InvalidRequestError('the amount is below the minimum');
  const order = simulator.openOrder({
    ...charge,
    walletAddress,
    quotedUnits,
    externalId: params.partnerOrderId ?? '',
    email: params.email ?? null,
    returnUrl: readReturnUrl(params.redirectURL ?? ''),
  });
  return {
    orderId: order.id,
    referrerDomain: params.referrerDomain,
    expiresAtMs: simulator.nowMs() + SESSION_LIFETIME_MS,
  };
}
