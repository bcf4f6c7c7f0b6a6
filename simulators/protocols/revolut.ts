/**
 * The other side of src/providers/revolut.ts: configuration, quotes for a country, and the address of the widget. The
 * address carries the purchase in minor units and opens only unchanged.
 */
import { createHmac, randomBytes } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { formatUnits } from '../../src/domain/money.ts';
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

/** An id of the simulator's own: the real one stands in the configuration, too. */
const ASSET = 'USDC-POLYGON';
const fiat = [
  { currency: 'USD', min_limit: 7, max_limit: 10_000 },
  { currency: 'EUR', min_limit: 6, max_limit: 10_000 },
  { currency: 'CAD', min_limit: 9, max_limit: 10_000 },
];
const countries = ['AT', 'CA', 'DE', 'FR', 'GB', 'IE', 'NL', 'US'];
const eventNames: Readonly<Record<OrderEvent, string>> = {
  accepted: 'ORDER_PROCESSING',
  declined: 'ORDER_FAILED',
  delivered: 'ORDER_COMPLETED',
  failed: 'ORDER_FAILED',
};
const purchase = ['fiat', 'amount', 'crypto', 'payment', 'region'] as const;

export const revolutProtocol: SimulatedProtocol = {
  refusal: { status: 400, body: { code: 'not_available', message: 'Not available.' } },

  registerRoutes(server, simulator) {
    const api = '/revolut/api/partners/api/2.0';
    server.get(`${api}/config`, (request, reply) =>
      answer(simulator, request, reply, async () => ({
        version: '1',
        countries,
        fiat,
        crypto: [
          { id: 'USDC-ETH', currency: 'USDC', blockchain: 'ETHEREUM', smartContractAddress: null },
          {
            id: ASSET,
            currency: 'USDC',
            blockchain: 'POLYGON',
            smartContractAddress: simulator.mode().tokenContract ?? simulator.usdc,
          },
        ],
        payment_methods: ['card', 'revolut'],
      })),
    );
    server.get(`${api}/quote`, (request, reply) =>
      answer(simulator, request, reply, async () => {
        const query = readParameters(request.query, purchase, ['feePercentage', 'walletAddress']);
        const { units, currency } = await priceOf(simulator, query);
        const nothing = { amount: 0, currency };
        return {
          service_fee: nothing,
          network_fee: nothing,
          partner_fee: nothing,
          crypto: { amount: Number(formatUnits(units)), currencyId: ASSET },
        };
      }),
    );
    server.get(`${api}/buy`, (request, reply) =>
      answer(simulator, request, reply, async () => ({
        ramp_redirect_url: await redirectUrl(simulator, request.query),
      })),
    );
    server.get('/revolut/widget', (request, reply) => openWidget(simulator, request, reply));
  },

  webhookOf(simulator, order, event, atMs) {
    const body = JSON.stringify({
      order_id: order.externalId,
      wallet: order.walletAddress,
      event: simulator.mode().status ?? eventNames[event],
    });
    // The time of the event, also in a repetition.
    const signature = createHmac('sha256', simulator.values['WEBHOOK_SECRET'] ?? '').update(
      `v1.${atMs}.${body}`,
    );
    const headers = {
      'revolut-request-timestamp': String(atMs),
      'revolut-signature': `v1=${signature.digest('hex')}`,
    };
    return { headers, body };
  },
};

async function answer(
  simulator: SimulatorContext,
  request: FastifyRequest,
  reply: FastifyReply,
  work: () => Promise<unknown>,
): Promise<FastifyReply> {
  const key = request.headers['x-api-key'];
  if (!isSame(typeof key === 'string' ? key : undefined, simulator.values['API_KEY']))
    return reply.code(401).send({ code: 'unauthorised', message: 'The API key is not valid' });
  try {
    return await reply.send(await work());
  } catch (error) {
    if (!(error instanceof InvalidRequestError)) throw error;
    return reply.code(400).send({ code: 'invalid_parameter', message: error.message });
  }
}

async function priceOf(
  simulator: SimulatorContext,
  query: Readonly<Record<(typeof purchase)[number], string>>,
) {
  if (query.crypto !== ASSET || query.payment !== 'card')
    throw new InvalidRequestError('this is not sold here');
  if (!countries.includes(query.region)) throw new InvalidRequestError('region is not served');
  const charge = readCharge(query.amount, query.fiat);
  const limits = fiat.find(({ currency }) => currency === charge.currency);
  if (limits === undefined) throw new InvalidRequestError('fiat is not taken');
  const units = await simulator.quoteUnits(charge.amountCents, charge.currency);
  if (charge.amountCents < limits.min_limit * 100 || units === 0n)
    throw new InvalidRequestError('the amount is below the minimum');
  return { ...charge, units };
}

function checksumOf(simulator: SimulatorContext, query: URLSearchParams): string {
  return createHmac('sha256', simulator.derive('address')).update(query.toString()).digest('base64url');
}

async function redirectUrl(simulator: SimulatorContext, parameters: unknown): Promise<string> {
  const query = readParameters(
    parameters,
    [...purchase, 'wallet', 'orderId'],
    ['partnerRedirectUrl', 'feePercentage'],
  );
  const charge = await priceOf(simulator, query);
  if (parsePayoutAddress(query.wallet) === null) throw new InvalidRequestError('wallet is malformed');
  if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(query.orderId))
    throw new InvalidRequestError('orderId is no UUID');
  const address = new URLSearchParams({
    amount: String(charge.amountCents),
    fiatCurrency: charge.currency,
    walletAddress: query.wallet,
    ...(simulator.mode().isUnlocked === true
      ? {}
      : { disableWalletAddress: 'true', disableFiatAmount: 'true', disableCryptoCurrency: 'true' }),
    orderId: query.orderId,
    partnerRedirectUrl: readReturnUrl(query.partnerRedirectUrl ?? ''),
    session: randomBytes(8).toString('hex'),
  });
  address.append('checksum', checksumOf(simulator, address));
  return `${simulator.url()}/widget?${address}`;
}

async function openWidget(
  simulator: SimulatorContext,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const address = new URLSearchParams(request.url.split('?')[1] ?? '');
  const given = address.getAll('checksum');
  address.delete('checksum');
  if (given.length !== 1 || !isSame(given[0], checksumOf(simulator, address)))
    return simulator.refuseCustomer(reply, 400, 'This address is not the one that was made for the partner.');
  return simulator.showOrder(reply, await openOrder(simulator, address));
}

/** Opened a second time it leads to the same purchase. */
async function openOrder(simulator: SimulatorContext, address: URLSearchParams): Promise<Order> {
  const id = `revolut_${checksumOf(simulator, address).slice(0, 24)}`;
  const earlier = simulator.findOrder(id);
  if (earlier !== null) return earlier;
  const value = (name: string) => address.get(name) ?? '';
  const charge = readCharge((Number(value('amount')) / 100).toFixed(2), value('fiatCurrency'));
  const walletAddress = parsePayoutAddress(value('walletAddress'));
  if (walletAddress === null) throw new Error('a wallet was checked when the address was made');
  return simulator.openOrder({
    ...charge,
    id,
    walletAddress,
    quotedUnits: await simulator.quoteUnits(charge.amountCents, charge.currency),
    externalId: value('orderId'),
    email: null,
    returnUrl: value('partnerRedirectUrl'),
  });
}
