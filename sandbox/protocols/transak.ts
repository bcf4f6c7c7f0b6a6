/**
 * Counterpart of src/providers/adapters/transak.ts: returns quotes, and issues access tokens, each of which invalidates
 * the previous one. Creates sessions for calls with the current token. Opens a session's widget at `/widget` once,
 * within `SESSION_LIFETIME_MS`, and only for customers from the referrer's domain.
 */
import { randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { isIP } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { formatUnits } from '../../src/payment/money.ts';
import {
  createOneTimeLinks,
  hmac,
  isSame,
  type OrderEvent,
  readParameters,
  refuseUnless,
  requireUsdcOnPolygon,
  type SimulatedProtocol,
  type SimulatorContext,
  takeNumber,
} from './simulated-protocol.ts';

const SESSION_LIFETIME_MS = 5 * 60_000;
const TOKEN_LIFETIME_MS = 7 * 24 * 60 * 60_000;
const statusOfEvent: Readonly<Record<OrderEvent, string>> = {
  accepted: 'PROCESSING',
  declined: 'FAILED',
  delivered: 'COMPLETED',
  failed: 'FAILED',
};
interface Session {
  readonly orderId: string;
  readonly referrerDomain: string;
}

/** State of one on-ramp in memory. A restart clears it, which invalidates the token and all sessions. */
interface Memory {
  accessToken: { readonly value: string; readonly expiresAtMs: number } | null;
  readonly links: ReturnType<typeof createOneTimeLinks<Session>>;
}

export function createTransakProtocol(): SimulatedProtocol {
  const memory: Memory = { accessToken: null, links: createOneTimeLinks(SESSION_LIFETIME_MS) };
  return {
    refusal: (message, statusCode) => ({ error: { statusCode, message } }),

    registerRoutes(server, simulator) {
      registerQuotes(server, simulator);
      registerCatalogs(server, simulator);
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
    const { accessToken, links } = memory;
    refuseUnless(isSame(headers['x-api-key'], simulator.values['API_KEY']), 'x-api-key is missing', 401);
    requireUserIp(simulator, headers);
    const isCurrent =
      accessToken !== null &&
      accessToken.expiresAtMs > simulator.nowMs() &&
      isSame(headers['access-token'], accessToken.value);
    refuseUnless(isCurrent, 'Invalid access token', 401);
    const id = links.add(await openSession(simulator, body), simulator);
    const widgetUrl = `${simulator.url()}/widget?apiKey=${simulator.values['API_KEY']}&sessionId=${id}`;
    return { data: { widgetUrl } };
  });
}

function registerWidget(server: FastifyInstance, simulator: SimulatorContext, { links }: Memory): void {
  server.get<{ Querystring: { sessionId?: unknown } }>(
    '/transak/widget',
    async ({ query, headers }, reply) => {
      const domain = URL.parse(headers.referer ?? '')?.hostname;
      const message = `You come from "${domain}", which is not the partner's domain.`;
      return links.open(query.sessionId, reply, simulator, ({ referrerDomain }) =>
        refuseUnless(domain === referrerDomain, message, 403),
      );
    },
  );
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
    requireUsdcOnPolygon(query.cryptoCurrency, query.network);
    refuseUnless(query.isBuyOrSell === 'BUY', 'this is not sold here');
    requireCardCurrency(query.fiatCurrency, query.paymentMethod);
    const price = await simulator.price(query.fiatAmount, query.fiatCurrency);
    return {
      response: {
        fiatCurrency: query.fiatCurrency,
        cryptoCurrency: query.cryptoCurrency,
        network: query.network,
        fiatAmount: price.amountCents / 100,
        cryptoAmount: Number(formatUnits(price.quotedUnits)),
        totalFee: price.feeCents / 100,
      },
    };
  });
}

/** Registers the catalogs, which need no credentials. */
function registerCatalogs(server: FastifyInstance, simulator: SimulatorContext): void {
  server.get('/transak/api/cryptocoverage/api/v1/public/crypto-currencies', async () => {
    const usdc = {
      symbol: 'USDC',
      isAllowed: true,
      kycCountriesNotSupported: ['IN'],
      regionsNotSupported: [],
    };
    const regionsNotSupported = [{ country: 'US', availability: 'partial', restrictedStates: ['NY'] }];
    const polygon = { network: { name: 'polygon' }, address: simulator.tokenContract(), regionsNotSupported };
    return {
      response: [
        { ...usdc, network: { name: 'ethereum' }, address: null },
        { ...usdc, ...polygon },
      ],
    };
  });
  server.get('/transak/api/fiat/public/v1/currencies/fiat-currencies', async () => {
    const optionsIn = (limitCurrency: string) =>
      cardMethods.map((id) => ({ id, isActive: true, limitCurrency, minAmount: 5, maxAmount: 3_000 }));
    return {
      response: ['USD', 'EUR', 'CAD'].map((symbol) => ({ symbol, paymentOptions: optionsIn(symbol) })),
    };
  });
}

/** Requires the customer's IP address if the mode enforces it, as Transak has done for all calls since 2026-07-15. */
function requireUserIp(simulator: SimulatorContext, headers: IncomingHttpHeaders): void {
  if (simulator.mode().enforcesIp === true)
    refuseUnless(isIP(String(headers['x-user-ip'])) !== 0, 'x-user-ip is missing');
}

const cardMethods = ['credit_debit_card', 'apple_pay', 'google_pay'];

/** Refuses cards, including those in a wallet, for INR, because INR is paid by UPI. */
function requireCardCurrency(currency: string, paymentMethod: string | undefined): void {
  if (paymentMethod === undefined) return;
  refuseUnless(cardMethods.includes(paymentMethod), 'paymentMethod is not known');
  refuseUnless(currency !== 'INR', 'cards are not taken for INR');
}

/** Validates a widget's parameters and creates its order. */
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
  requireUsdcOnPolygon(params.cryptoCurrencyCode, params.network);
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
  return { orderId: order.id, referrerDomain: params.referrerDomain };
}
