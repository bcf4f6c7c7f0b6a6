/**
 * Counterpart of src/providers/adapters/moonpay.ts: returns quotes at `/api/v3/currencies/…/buy_quote`. Opens a widget
 * at `/widget` only through a URL whose query is signed with the secret key. PayPal is one of its payment methods.
 */
import { createHash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { formatUnits } from '../../src/payment/money.ts';
import type { Order } from '../order-store.ts';
import {
  hmac,
  isSame,
  type OrderEvent,
  RefusedRequestError,
  readParameters,
  refuseUnless,
  type SimulatedProtocol,
  type SimulatorContext,
} from './simulated-protocol.ts';

const ASSET = 'usdc_polygon';
const MINIMUM = 20;
const statusOfEvent: Readonly<Record<OrderEvent, string>> = {
  accepted: 'pending',
  declined: 'failed',
  delivered: 'completed',
  failed: 'failed',
};
const errorTypes: Readonly<Record<number, string>> = { 401: 'UnauthorizedError', 404: 'NotFoundError' };
/** Maximum orders per URL. Each is opened after the previous one was paid or expired. */
const MAXIMUM_ORDERS_OF_ADDRESS = 50;

export const moonpayProtocol: SimulatedProtocol = {
  refusal: (message, status) => ({ message, type: errorTypes[status] ?? 'BadRequestError' }),

  registerRoutes(server, simulator) {
    const api = `/${simulator.provider}/api/v3/currencies`;
    const requireKey = (key: unknown) =>
      refuseUnless(isSame(key, simulator.values['API_KEY']), 'Invalid API key', 401);

    server.get<{ Params: { code: string } }>(`${api}/:code/buy_quote`, async (request) => {
      const query = readParameters(
        request.query,
        ['apiKey', 'baseCurrencyCode', 'baseCurrencyAmount'],
        ['paymentMethod', 'areFeesIncluded'],
      );
      requireKey(query.apiKey);
      refuseUnless(request.params.code === ASSET, 'Currency not found', 404);
      requireMethod(simulator, query.paymentMethod);
      const price = await simulator.price(query.baseCurrencyAmount, query.baseCurrencyCode);
      return {
        baseCurrencyAmount: price.amountCents / 100,
        quoteCurrencyAmount: Number(formatUnits(price.quotedUnits)),
        totalAmount: price.amountCents / 100,
        baseCurrency: { code: price.currency.toLowerCase(), minBuyAmount: MINIMUM },
      };
    });
    server.get<{ Querystring: { apiKey?: unknown } }>(api, async (request) => {
      requireKey(request.query.apiKey);
      const crypto = { type: 'crypto', isSuspended: false };
      const metadata = {
        contractAddress: simulator.tokenContract(),
        networkCode: 'polygon',
        chainId: '137',
      };
      return [
        { ...crypto, code: 'btc', notAllowedCountries: [], metadata: {} },
        { ...crypto, code: ASSET, notAllowedCountries: ['IN'], notAllowedUSStates: ['NY'], metadata },
      ];
    });
    server.get(`${api}/:code/limits`, async (request) => {
      const query = readParameters(request.query, [
        'apiKey',
        'baseCurrencyCode',
        'areFeesIncluded',
        'paymentMethod',
      ]);
      return {
        paymentMethod: query.paymentMethod,
        baseCurrency: { code: query.baseCurrencyCode, minBuyAmount: MINIMUM, maxBuyAmount: 10_000 },
      };
    });
    server.get(`/${simulator.provider}/widget`, async (request, reply) =>
      simulator.showOrder(reply, await openWidget(simulator, request)),
    );
  },

  webhookOf(simulator, order, event, atMs) {
    const body = JSON.stringify({
      type: event === 'declined' || event === 'failed' ? 'transaction_failed' : 'transaction_updated',
      externalCustomerId: null,
      data: {
        id: order.id,
        status: simulator.mode().status ?? statusOfEvent[event],
        externalTransactionId: order.externalId,
        walletAddress: order.walletAddress,
        cryptoTransactionId: order.transactionHash,
        currency: { code: ASSET, metadata: { contractAddress: simulator.tokenContract() } },
        updatedAt: new Date(atMs).toISOString(),
      },
    });
    const time = Math.floor(simulator.nowMs() / 1000);
    const signature = hmac(simulator.values['WEBHOOK_KEY'], `${time}.${body}`);
    return { headers: { 'moonpay-signature-v2': `t=${time},s=${signature}` }, body };
  },
};

/** Requires PayPal as the method for the provider PayPal, otherwise a card or, in the widget, a wallet. */
function requireMethod(
  { provider }: SimulatorContext,
  given: string | undefined,
  wallets: readonly string[] = [],
): void {
  const known = provider === 'paypal' ? ['paypal'] : ['credit_debit_card', ...wallets];
  refuseUnless(known.includes(given ?? ''), 'paymentMethod is not known');
}

/** Opens a signed widget URL. Its last parameter is the signature, which covers everything before it. */
async function openWidget(simulator: SimulatorContext, request: FastifyRequest): Promise<Order> {
  const { url, query: parameters, ip } = request;
  const sign = (text: string) => hmac(simulator.values['SECRET_KEY'], text, 'base64');
  const [, signed = '', signature = ''] = /^[^?]*(\?.+)&signature=([^&]+)$/.exec(url) ?? [];
  refuseUnless(
    isSame(decodeURIComponent(signature), sign(signed)),
    'the signature is not that of the address',
  );
  const query = readParameters(
    parameters,
    ['apiKey', 'currencyCode', 'walletAddress', 'baseCurrencyCode', 'baseCurrencyAmount', 'signature'],
    [
      ...['lockAmount', 'paymentMethod', 'externalTransactionId', 'externalCustomerId', 'redirectURL'],
      ...['unsupportedRegionRedirectUrl', 'email', 'allowedIpAddress'],
    ],
  );
  // With IP matching, the URL must be bound to the IP address from which it is opened.
  if (simulator.mode().enforcesIp === true)
    refuseUnless(isSame(query.allowedIpAddress, sign(ip)), 'the address is not that of the customer');
  refuseUnless(isSame(query.apiKey, simulator.values['API_KEY']), 'apiKey is unknown');
  refuseUnless(query.currencyCode === ASSET, 'currencyCode is not sold here');
  requireMethod(simulator, query.paymentMethod, ['apple_pay', 'google_pay']);
  const purchase = {
    amount: query.baseCurrencyAmount,
    currency: query.baseCurrencyCode,
    walletAddress: query.walletAddress,
    externalId: query.externalTransactionId,
    email: query.email,
    returnUrl: query.redirectURL,
  };
  // A URL leads to the same order until that order is paid or expires.
  const name = createHash('sha256').update(url).digest('base64url').slice(0, 20);
  for (let count = 1; count <= MAXIMUM_ORDERS_OF_ADDRESS; count++) {
    const id = `${simulator.provider}_${name}${count}`;
    const earlier = simulator.findOrder(id);
    if (earlier === null) return simulator.openOrder({ ...purchase, id });
    if (earlier.state === 'open' && earlier.expiresAtMs > simulator.nowMs()) return earlier;
  }
  throw new RefusedRequestError('this address was used too often');
}
