/**
 * Counterpart of src/providers/adapters/revolut.ts: returns its configuration, quotes for a country, and the widget's
 * URL. The URL contains the purchase in minor units, and opens only if it is unchanged.
 */
import { randomBytes } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { formatUnits } from '../../src/payment/money.ts';
import type { Order } from '../order-store.ts';
import {
  hmac,
  isSame,
  type OrderEvent,
  readParameters,
  readReturnUrl,
  readWallet,
  refuseUnless,
  type SimulatedProtocol,
  type SimulatorContext,
} from './simulated-protocol.ts';

/** Made-up asset id. The real service states the real id in its configuration. */
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
const paymentMethods = ['card', 'revolut', 'apple-pay', 'google-pay'];
const purchase = ['fiat', 'amount', 'crypto', 'payment', 'region'] as const;

export const revolutProtocol: SimulatedProtocol = {
  refusal: (message, status) => ({ code: status === 401 ? 'unauthorised' : 'invalid_parameter', message }),

  registerRoutes(server, simulator) {
    const api = '/revolut/api/partners/api/2.0';
    const requireKey = ({ headers }: FastifyRequest) =>
      refuseUnless(
        isSame(headers['x-api-key'], simulator.values['API_KEY']),
        'The API key is not valid',
        401,
      );
    server.get(`${api}/config`, async (request) => {
      requireKey(request);
      const usdc = { currency: 'USDC', blockchain: 'POLYGON' };
      return {
        version: '1',
        countries,
        fiat,
        crypto: [
          { id: 'USDC-ETH', currency: 'USDC', blockchain: 'ETHEREUM', smartContractAddress: null },
          { id: ASSET, ...usdc, smartContractAddress: simulator.tokenContract() },
        ],
        payment_methods: paymentMethods,
      };
    });
    server.get(`${api}/quote`, async (request) => {
      requireKey(request);
      const query = readParameters(request.query, purchase, ['feePercentage', 'walletAddress']);
      const { quotedUnits, currency } = await priceOf(simulator, query);
      const nothing = { amount: 0, currency };
      return {
        service_fee: nothing,
        network_fee: nothing,
        partner_fee: nothing,
        crypto: { amount: Number(formatUnits(quotedUnits)), currencyId: ASSET },
      };
    });
    server.get(`${api}/buy`, async (request) => {
      requireKey(request);
      return { ramp_redirect_url: await redirectUrl(simulator, request.query) };
    });
    server.get('/revolut/widget', async (request, reply) => {
      const address = new URLSearchParams(request.url.split('?')[1]);
      const given = address.getAll('checksum');
      address.delete('checksum');
      const isGenuine = given.length === 1 && isSame(given[0], checksumOf(simulator, address));
      refuseUnless(isGenuine, 'This address is not the one that was made for the partner.');
      return simulator.showOrder(reply, await openOrder(simulator, address));
    });
  },

  webhookOf(simulator, order, event, atMs) {
    const body = JSON.stringify({
      order_id: order.externalId,
      wallet: order.walletAddress,
      event: simulator.mode().status ?? eventNames[event],
    });
    // Signs the time of the event, even if the webhook is a repeat.
    const signature = hmac(simulator.values['WEBHOOK_SECRET'], `v1.${atMs}.${body}`);
    const headers = {
      'revolut-request-timestamp': String(atMs),
      'revolut-signature': `v1=${signature}`,
    };
    return { headers, body };
  },
};

async function priceOf(
  simulator: SimulatorContext,
  query: Readonly<Record<(typeof purchase)[number], string>>,
) {
  refuseUnless(query.crypto === ASSET && paymentMethods.includes(query.payment), 'this is not sold here');
  refuseUnless(countries.includes(query.region), 'region is not served');
  const price = await simulator.price(query.amount, query.fiat);
  const limits = fiat.find(({ currency }) => currency === price.currency);
  refuseUnless(limits, 'fiat is not taken');
  refuseUnless(price.amountCents >= limits.min_limit * 100, 'the amount is below the minimum');
  return price;
}

function checksumOf(simulator: SimulatorContext, query: URLSearchParams): string {
  return hmac(simulator.derive('address'), query.toString(), 'base64url');
}

async function redirectUrl(simulator: SimulatorContext, parameters: unknown): Promise<string> {
  const query = readParameters(
    parameters,
    [...purchase, 'wallet', 'orderId'],
    ['partnerRedirectUrl', 'feePercentage'],
  );
  const price = await priceOf(simulator, query);
  const isUuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(query.orderId);
  refuseUnless(isUuid, 'orderId is no UUID');
  const address = new URLSearchParams({
    amount: String(price.amountCents),
    fiatCurrency: price.currency,
    cryptoCurrency: ASSET,
    walletAddress: readWallet(query.wallet),
    disableWalletAddress: 'true',
    disableFiatAmount: 'true',
    disableCryptoCurrency: 'true',
    orderId: query.orderId,
    partnerRedirectUrl: readReturnUrl(query.partnerRedirectUrl),
    session: randomBytes(8).toString('hex'),
  });
  address.append('checksum', checksumOf(simulator, address));
  return `${simulator.url()}/widget?${address}`;
}

/** Opens the order of a URL. A URL that is opened again leads to the same order. */
async function openOrder(simulator: SimulatorContext, address: URLSearchParams): Promise<Order> {
  const id = `revolut_${checksumOf(simulator, address).slice(0, 24)}`;
  const value = (name: string) => address.get(name) ?? '';
  return (
    simulator.findOrder(id) ??
    simulator.openOrder({
      id,
      amount: (Number(value('amount')) / 100).toFixed(2),
      currency: value('fiatCurrency'),
      walletAddress: value('walletAddress'),
      externalId: value('orderId'),
      returnUrl: value('partnerRedirectUrl'),
    })
  );
}
