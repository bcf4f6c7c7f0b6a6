/**
 * The other side of src/providers/moonpay.ts: quotes at `/api/v3/currencies/…/buy_quote`, and a widget at `/widget`
 * that opens only by an address whose query carries our secret key's signature. PayPal is a payment method there.
 */
import { createHash, createHmac } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { formatUnits, parseUnits } from '../../src/domain/money.ts';
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

const ASSET = 'usdc_polygon';
const MINIMUM = 20;
const statusOfEvent: Readonly<Record<OrderEvent, string>> = {
  accepted: 'pending',
  declined: 'failed',
  delivered: 'completed',
  failed: 'failed',
};
/** How often one address leads to a new order after an earlier one was paid or has expired. */
const MAXIMUM_ORDERS_OF_ADDRESS = 50;

export const moonpayProtocol: SimulatedProtocol = {
  refusal: { status: 400, body: { type: 'BadRequestError', message: 'Not available.' } },

  registerRoutes(server, simulator) {
    server.get<{ Params: { code: string } }>(
      `/${simulator.provider}/api/v3/currencies/:code/buy_quote`,
      async (request, reply) => {
        const refuse = (status: number, type: string, message: string) =>
          reply.code(status).send({ message, type });
        try {
          const query = readParameters(
            request.query,
            ['apiKey', 'baseCurrencyCode', 'baseCurrencyAmount'],
            ['paymentMethod', 'areFeesIncluded'],
          );
          if (!isSame(query.apiKey, simulator.values['API_KEY']))
            return refuse(401, 'UnauthorizedError', 'Invalid API key');
          if (request.params.code !== ASSET) return refuse(404, 'NotFoundError', 'Currency not found');
          requireMethod(simulator, query.paymentMethod);
          const { amountCents, currency } = readCharge(query.baseCurrencyAmount, query.baseCurrencyCode);
          const units = await simulator.quoteUnits(amountCents, currency);
          if (units === 0n) return refuse(400, 'BadRequestError', 'The amount is below the minimum');
          return reply.send({
            baseCurrencyAmount: amountCents / 100,
            quoteCurrencyAmount: Number(formatUnits(units)),
            totalAmount: amountCents / 100,
            baseCurrency: { code: currency.toLowerCase(), minBuyAmount: MINIMUM },
          });
        } catch (error) {
          if (error instanceof InvalidRequestError) return refuse(400, 'BadRequestError', error.message);
          throw error;
        }
      },
    );

    server.get(`/${simulator.provider}/api/v3/currencies`, async (request, reply) => {
      const { apiKey } = request.query as { apiKey?: string };
      if (!isSame(apiKey, simulator.values['API_KEY']))
        return reply.code(401).send({ message: 'Invalid API key', type: 'UnauthorizedError' });
      const { tokenContract = simulator.usdc } = simulator.mode();
      const metadata = { contractAddress: tokenContract, networkCode: 'polygon', chainId: '137' };
      return reply.send([
        { code: 'btc', type: 'crypto', isSuspended: false, notAllowedCountries: [], metadata: {} },
        { code: ASSET, type: 'crypto', isSuspended: false, notAllowedCountries: ['IN'], metadata },
      ]);
    });
    server.get<{ Params: { code: string } }>(
      `/${simulator.provider}/api/v3/currencies/:code/limits`,
      async (request, reply) => {
        const query = readParameters(
          request.query,
          ['apiKey', 'baseCurrencyCode', 'areFeesIncluded', 'paymentMethod'],
          [],
        );
        return reply.send({
          paymentMethod: query.paymentMethod,
          baseCurrency: { code: query.baseCurrencyCode, minBuyAmount: MINIMUM, maxBuyAmount: 10_000 },
        });
      },
    );

    server.get(`/${simulator.provider}/widget`, async (request, reply) => {
      try {
        return simulator.showOrder(reply, await openWidget(simulator, request));
      } catch (error) {
        if (error instanceof InvalidRequestError) return simulator.refuseCustomer(reply, 400, error.message);
        throw error;
      }
    });
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
        currency: {
          code: ASSET,
          metadata: { contractAddress: simulator.mode().tokenContract ?? simulator.usdc },
        },
        updatedAt: new Date(atMs).toISOString(),
      },
    });
    const time = Math.floor(simulator.nowMs() / 1000);
    const signature = createHmac('sha256', simulator.values['WEBHOOK_KEY'] ?? '').update(`${time}.${body}`);
    return { headers: { 'moonpay-signature-v2': `t=${time},s=${signature.digest('hex')}` }, body };
  },
};

/** PayPal for customers who come by way of PayPal, a card for all others. */
function requireMethod({ provider }: SimulatorContext, given: string | undefined): void {
  if (given !== (provider === 'paypal' ? 'paypal' : 'credit_debit_card'))
    throw new InvalidRequestError('paymentMethod is not known');
}

/** Where IP matching is enforced, the URL has to name the address from which it is opened. */
function requireVisitor(simulator: SimulatorContext, allowed: string | undefined, ip: string): void {
  if (simulator.mode().enforcesIp !== true) return;
  const expected = createHmac('sha256', simulator.values['SECRET_KEY'] ?? '').update(ip);
  if (allowed === undefined || !isSame(allowed, expected.digest('base64')))
    throw new InvalidRequestError('the address is not that of the customer');
}

/** The signature is the last parameter and covers everything before it. */
async function openWidget(simulator: SimulatorContext, request: FastifyRequest): Promise<Order> {
  const { url, query: parameters } = request;
  const [, signed, signature] = /^[^?]*(\?.+)&signature=([^&]+)$/.exec(url) ?? [];
  const expected = createHmac('sha256', simulator.values['SECRET_KEY'] ?? '').update(signed ?? '');
  if (signature === undefined || !isSame(decodeURIComponent(signature), expected.digest('base64')))
    throw new InvalidRequestError('the signature is not that of the address');
  const query = readParameters(
    parameters,
    ['apiKey', 'currencyCode', 'walletAddress', 'baseCurrencyCode', 'baseCurrencyAmount', 'signature'],
    ['lockAmount', 'paymentMethod', 'externalTransactionId', 'redirectURL', 'email', 'allowedIpAddress'],
  );
  requireVisitor(simulator, query.allowedIpAddress, request.ip);
  if (!isSame(query.apiKey, simulator.values['API_KEY'])) throw new InvalidRequestError('apiKey is unknown');
  if (query.currencyCode !== ASSET) throw new InvalidRequestError('currencyCode is not sold here');
  requireMethod(simulator, query.paymentMethod);
  const walletAddress = parsePayoutAddress(query.walletAddress);
  if (walletAddress === null) throw new InvalidRequestError('walletAddress is malformed');
  const charge = readCharge(query.baseCurrencyAmount, query.baseCurrencyCode);
  const quotedUnits = await simulator.quoteUnits(charge.amountCents, charge.currency);
  if (quotedUnits < (parseUnits('0.01') ?? 1n))
    throw new InvalidRequestError('the amount is below the minimum');
  const order = {
    ...charge,
    walletAddress,
    quotedUnits,
    externalId: query.externalTransactionId ?? '',
    email: query.email ?? null,
    returnUrl: readReturnUrl(query.redirectURL ?? ''),
  };
  // The same address leads to the same purchase until that is paid or has ended.
  const name = createHash('sha256').update(url).digest('base64url').slice(0, 20);
  for (let count = 1; count <= MAXIMUM_ORDERS_OF_ADDRESS; count++) {
    const id = `${simulator.provider}_${name}${count}`;
    const earlier = simulator.findOrder(id);
    if (earlier === null) return simulator.openOrder({ ...order, id });
    if (earlier.state === 'open' && earlier.expiresAtMs > simulator.nowMs()) return earlier;
  }
  throw new InvalidRequestError('this address was used too often');
}
