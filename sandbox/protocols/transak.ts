/**
 * Counterpart of src/providers/adapters/transak.ts: returns quotes, issues an access token that invalidates the
 * previous one, and creates sessions for calls with it. Opens a session's widget at `/widget` once, within
 * `SESSION_LIFETIME_MS`, and only for customers from the referrer's domain.
 */
import { randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { isIP } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { LRUCache } from 'lru-cache';
import { formatUnits } from '../../src/payment/money.ts';
import {
  hmac,
  isSame,
  type OrderEvent,
  readParameters,
  refuseUnless,
  type SimulatedProtocol,
  type SimulatorContext,
  takeNumber,
  totalCentsOf,
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
interface Session {
  readonly orderId: string;
  readonly referrerDomain: string;
  readonly expiresAtMs: number;
}

/** State of one on-ramp, in memory. A restart empties it, which invalidates the token and all sessions. */
interface Memory {
  accessToken: { readonly value: string; readonly expiresAtMs: number } | null;
  readonly sessions: LRUCache<string, Session>;
}

export function createTransakProtocol(): SimulatedProtocol {
  const memory: Memory = { accessToken: null, sessions: new LRUCache({ max: MAXIMUM_SESSIONS }) };
  return {
    refusal: (message, statusCode) => ({ error: { statusCode, message } }),

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
        eventID: `ORDER_${statusOfEvent[event]}`,
        createdAt: new Date(atMs).toISOString(),
      };
      const signed = `${encode({ alg: 'HS256', typ: 'JWT' })}.${encode(payload)}`;
      const token = simulator.isImpostor ? 'a guess' : memory.accessToken?.value;
      const data = `${signed}.${hmac(token, signed, 'base64url')}`;
      return { headers: {}, body: JSON.stringify({ data }) };
    },
  };
}

function registerTokens(server: FastifyInstance, simulator: SimulatorContext, memory: Memory): void {
  server.post('/transak/api/partners/api/v2/refresh-token', async ({ headers, body }) => {
    const { apiKey } = (body ?? {}) as { apiKey?: unknown };
    const isPartner =
      isSame(headers['api-secret'], simulator.values['API_SECRET']) &&
      isSame(headers['x-api-key'], simulator.values['API_KEY']) &&
      isSame(apiKey, simulator.values['API_KEY']);
    refuseUnless(isPartner, 'Invalid API secret', 401);
    requireUserIp(simulator, headers);
    const expiresAtMs = simulator.nowMs() + TOKEN_LIFETIME_MS;
    const value = `token.${randomBytes(24).toString('base64url')}`;
    memory.accessToken = { value, expiresAtMs };
    return { data: { accessToken: value, expiresAt: Math.floor(expiresAtMs / 1000) } };
  });
}

function registerSessions(server: FastifyInstance, simulator: SimulatorContext, memory: Memory): void {
  server.post('/transak/gateway/api/v2/auth/session', async ({ headers, body }) => {
    const { accessToken, sessions } = memory;
    refuseUnless(isSame(headers['x-api-key'], simulator.values['API_KEY']), 'x-api-key is missing', 401);
    requireUserIp(simulator, headers);
    const isCurrent =
      accessToken !== null &&
      accessToken.expiresAtMs > simulator.nowMs() &&
      isSame(headers['access-token'], accessToken.value);
    refuseUnless(isCurrent, 'Invalid access token', 401);
    const id = randomBytes(18).toString('base64url');
    sessions.set(id, await openSession(simulator, body));
    const widgetUrl = `${simulator.url()}/widget?apiKey=${simulator.values['API_KEY']}&sessionId=${id}`;
    return { data: { widgetUrl } };
  });
}

function registerWidget(server: FastifyInstance, simulator: SimulatorContext, { sessions }: Memory): void {
  server.get<{ Querystring: { sessionId?: unknown } }>('/transak/widget', async (request, reply) => {
    const id = String(request.query.sessionId);
    const session = sessions.get(id);
    const isOpen = session !== undefined && session.expiresAtMs > simulator.nowMs();
    refuseUnless(isOpen, 'This session was used already, or is over.', 410);
    const domain = URL.parse(request.headers.referer ?? '')?.hostname;
    refuseUnless(
      domain === session.referrerDomain,
      `You come from "${domain}", which is not the partner's domain.`,
      403,
    );
    sessions.delete(id);
    const order = simulator.findOrder(session.orderId);
    refuseUnless(order, 'This session is over.', 410);
    return simulator.showOrder(reply, order);
  });
}

function registerQuotes(server: FastifyInstance, simulator: SimulatorContext): void {
  server.get('/transak/api/api/v1/pricing/public/quotes', async (request) => {
    const query = readParameters(
      request.query,
      ['partnerApiKey', 'fiatCurrency', 'cryptoCurrency', 'isBuyOrSell', 'network', 'fiatAmount'],
      ['paymentMethod', 'quoteCountryCode'],
    );
    refuseUnless(isSame(query.partnerApiKey, simulator.values['API_KEY']), 'Invalid API key', 401);
    requireUserIp(simulator, request.headers);
    const isSold =
      query.cryptoCurrency === 'USDC' && query.network === 'polygon' && query.isBuyOrSell === 'BUY';
    refuseUnless(isSold, 'this is not sold here');
    requireCardCurrency(query.fiatCurrency, query.paymentMethod);
    const price = await simulator.price(query.fiatAmount, query.fiatCurrency);
    const cryptoAmount = Number(formatUnits(price.quotedUnits));
    const feeUnits = price.valueUnits - price.quotedUnits;
    const feeCents = Number((BigInt(price.amountCents) * feeUnits) / price.valueUnits);
    // The fee is part of the total.
    return {
      response: {
        fiatAmount: totalCentsOf(simulator, price) / 100,
        cryptoAmount,
        totalFee: feeCents / 100,
      },
    };
  });
}

/** Requires the end user's IP address, which every call has to carry since 2026-07-15. */
function requireUserIp(simulator: SimulatorContext, headers: IncomingHttpHeaders): void {
  if (simulator.mode().enforcesIp === true)
    refuseUnless(isIP(String(headers['x-user-ip'])) !== 0, 'x-user-ip is missing');
}

const cardMethods = ['credit_debit_card', 'apple_pay', 'google_pay'];

/** Refuses cards, also those in a wallet, for INR, which is paid by UPI. */
function requireCardCurrency(currency: string, paymentMethod: string | undefined): void {
  if (paymentMethod === undefined) return;
  refuseUnless(cardMethods.includes(paymentMethod), 'paymentMethod is not known');
  refuseUnless(currency !== 'INR', 'cards are not taken for INR');
}

/** Validates the parameters of a widget and creates its order. */
async function openSession(simulator: SimulatorContext, body: unknown): Promise<Session> {
  const { widgetParams, ...others } = (body ?? {}) as Record<string, unknown>;
  readParameters(others, []);
  const [fiatAmount, { disableWalletAddressForm, ...texts }] = takeNumber(widgetParams, 'fiatAmount') as [
    number,
    { readonly disableWalletAddressForm?: unknown },
  ];
  const params = readParameters(
    texts,
    ['apiKey', 'referrerDomain', 'fiatCurrency', 'cryptoCurrencyCode', 'network', 'walletAddress'],
    ['partnerOrderId', 'partnerCustomerId', 'redirectURL', 'paymentMethod', 'email'],
  );
  refuseUnless(isSame(params.apiKey, simulator.values['API_KEY']), 'apiKey is unknown');
  const isSold = params.cryptoCurrencyCode === 'USDC' && params.network === 'polygon';
  refuseUnless(isSold, 'this is not sold here');
  refuseUnless(
    disableWalletAddressForm === true,
    'disableWalletAddressForm must be true: this shop locks the address',
  );
  requireCardCurrency(params.fiatCurrency, params.paymentMethod);
  const order = await simulator.openOrder({
    amount: fiatAmount.toFixed(2),
    currency: params.fiatCurrency,
    walletAddress: params.walletAddress,
    externalId: params.partnerOrderId,
    email: params.email,
    returnUrl: params.redirectURL,
  });
  return {
    orderId: order.id,
    referrerDomain: params.referrerDomain,
    expiresAtMs: simulator.nowMs() + SESSION_LIFETIME_MS,
  };
}
