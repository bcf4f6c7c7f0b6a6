/**
 * Counterpart of src/providers/adapters/banxa.ts: returns quotes and creates orders under the partner's reference. An
 * order's URL at `/widget` opens once. Klarna is one of its payment methods.
 */
import type { FastifyRequest } from 'fastify';
import { formatCents, formatUnits } from '../../src/payment/money.ts';
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
} from './simulated-protocol.ts';

const LINK_LIFETIME_MS = 60_000;
/** Message of error 5034: the coin is not sold in the customer's country. */
const COIN_RESTRICTION = 'Coin restriction';
const statusOfEvent: Readonly<Record<OrderEvent, string>> = {
  accepted: 'paymentReceived',
  declined: 'declined',
  delivered: 'complete',
  failed: 'cancelled',
};
const purchase = ['paymentMethodId', 'crypto', 'blockchain', 'fiat', 'fiatAmount'] as const;

type PartnerRequest = FastifyRequest<{ Params: { partner: string } }>;

export function createBanxaProtocol(): SimulatedProtocol {
  const links = createOneTimeLinks(LINK_LIFETIME_MS);

  return {
    invalidStatus: 422,
    refusal: (message, status) => ({ code: message === COIN_RESTRICTION ? 5034 : status, message }),

    registerRoutes(server, simulator) {
      const api = `/${simulator.provider}/api/:partner/v2`;
      server.get(`${api}/quotes/buy`, async (request: PartnerRequest) => {
        requirePartner(simulator, request);
        const query = readParameters(request.query, purchase);
        requireSold(simulator, query);
        const price = await simulator.price(query.fiatAmount, query.fiat);
        return {
          data: {
            ...query,
            fiatAmount: formatCents(price.amountCents),
            cryptoAmount: formatUnits(price.quotedUnits),
            processingFee: formatCents(price.feeCents),
            networkFee: '0.00',
          },
        };
      });
      server.post(`${api}/buy`, async (request: PartnerRequest) => {
        requirePartner(simulator, request);
        const body = readParameters(
          request.body,
          [...purchase, 'walletAddress', 'redirectUrl', 'externalCustomerId'],
          ['externalOrderId', 'email'],
        );
        requireSold(simulator, body);
        refuseUnless(!/^(CA|US-NY)$/.test(simulator.mode().customerRegion ?? ''), COIN_RESTRICTION);
        const order = await simulator.openOrder({
          amount: body.fiatAmount,
          currency: body.fiat,
          walletAddress: body.walletAddress,
          externalId: body.externalOrderId,
          email: body.email,
          returnUrl: body.redirectUrl,
        });
        const checkoutUrl = `${simulator.url()}/widget?order=${links.add({ orderId: order.id }, simulator)}`;
        return { data: { id: order.id, externalOrderId: order.externalId, checkoutUrl } };
      });
      server.get(`${api}/crypto/buy`, async (request: PartnerRequest) => {
        requirePartner(simulator, request);
        const unsupportedCountries = { US: ['NY'], CA: [] };
        const blockchains = [{ id: 'MATIC', address: simulator.tokenContract(), unsupportedCountries }];
        return [
          { id: 'BTC', description: 'Bitcoin', blockchains: [{ id: 'BTC', description: 'Bitcoin' }] },
          { id: 'USDC', description: 'USD Coin', blockchains },
        ];
      });
      server.get(`${api}/fiats/buy`, async (request: PartnerRequest) => {
        requirePartner(simulator, request);
        const limits = { name: 'A card', minimum: '20.00', maximum: '15000.00' };
        const methods = [
          { id: 'sepa-bank-transfer', name: 'SEPA', minimum: '50.00', maximum: '40000.00' },
          ...methodsOf(simulator).map((id) => ({ id, ...limits })),
        ];
        return ['USD', 'EUR', 'CAD', 'INR'].map((id) => ({ id, supportedPaymentMethods: methods }));
      });
      server.get<{ Querystring: { order?: unknown } }>(
        `/${simulator.provider}/widget`,
        async ({ query }, reply) => links.open(query.order, reply, simulator),
      );
    },

    webhookOf(simulator, order, event, atMs) {
      const body = JSON.stringify({
        order_id: order.id,
        status: simulator.mode().status ?? statusOfEvent[event],
        status_date: new Date(atMs).toISOString().slice(0, 19).replace('T', ' '),
        external_id: order.externalId,
        order_type: 'BUY',
        crypto_coin: 'USDC',
        transaction_hash: order.transactionHash,
      });
      const nonce = String(Math.floor(simulator.nowMs() / 1000));
      const { pathname } = new URL(simulator.webhookUrl ?? 'http://localhost/');
      const signature = hmac(simulator.values['WEBHOOK_SECRET'], `POST\n${pathname}\n${nonce}\n${body}`);
      return { headers: { authorization: `Bearer partner-key:${signature}:${nonce}` }, body };
    },
  };
}

function requirePartner({ values }: SimulatorContext, { headers, params }: PartnerRequest): void {
  const isPartner =
    isSame(headers['x-api-key'], values['API_KEY']) && isSame(params.partner, values['PARTNER']);
  refuseUnless(isPartner, 'Unauthorized', 401);
}

function methodsOf({ provider }: SimulatorContext): readonly string[] {
  return provider === 'klarna' ? ['klarna'] : ['debit-credit-card', 'apple-pay', 'google-pay'];
}

function requireSold(
  simulator: SimulatorContext,
  { crypto, blockchain, paymentMethodId }: Readonly<Record<(typeof purchase)[number], string>>,
): void {
  requireUsdcOnPolygon(crypto, blockchain, 'MATIC');
  refuseUnless(methodsOf(simulator).includes(paymentMethodId), 'this is not sold here');
}
