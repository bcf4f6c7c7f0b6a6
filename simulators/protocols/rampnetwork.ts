/**
 * The other side of src/providers/rampnetwork.ts: quotes in the asset's smallest units, and a widget at `/widget` that
 * opens by an address the partner signed. The simulator always refuses an unsigned one.
 */
import { createPublicKey, sign, verify } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { parsePayoutAddress } from '../../src/domain/payout-address.ts';
import { secp256k1KeyOf } from '../development-keys.ts';
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

const ASSET = 'MATIC_USDC';
/** Maximum age of a signed address. */
const SIGNATURE_LIFETIME_MS = 60 * 60_000;
const MAXIMUM_PURCHASES = 1_000;
const statusOfEvent: Readonly<Record<OrderEvent, string>> = {
  accepted: 'FIAT_RECEIVED',
  declined: 'PAYMENT_FAILED',
  delivered: 'RELEASED',
  failed: 'CANCELLED',
};

/** One on-ramp's webhook addresses by purchase, in memory. A restart empties it and ends their webhooks. */
export function createRampNetworkProtocol(): SimulatedProtocol {
  const webhookUrls = new LRUCache<string, string>({ max: MAXIMUM_PURCHASES });

  return {
    refusal: { status: 400, body: { message: 'Not available.' } },

    registerRoutes(server, simulator) {
      server.post('/rampnetwork/api/api/host-api/v3/onramp/quote/all', async (request, reply) => {
        const { hostApiKey } = request.query as { hostApiKey?: string };
        if (!isSame(hostApiKey, simulator.values['API_KEY']))
          return reply.code(401).send({ message: 'hostApiKey is not known' });
        try {
          return reply.send(await quote(simulator, request.body));
        } catch (error) {
          if (!(error instanceof InvalidRequestError)) throw error;
          return reply.code(400).send({ message: error.message });
        }
      });

      server.get('/rampnetwork/api/api/host-api/v3/assets', (request, reply) => {
        readParameters(request.query, ['currencyCode'], ['hostApiKey', 'userIp']);
        const usdc = {
          name: 'USD Coin',
          decimals: 6,
          enabled: true,
          minPurchaseAmount: 6,
          maxPurchaseAmount: 10_000,
        };
        const address = simulator.mode().tokenContract ?? simulator.usdc;
        return reply.send({
          assets: [
            {
              ...usdc,
              chain: 'MATIC',
              symbol: 'USDCE',
              address: '0x2791Bca1f2de4661ED88A30C99A7a9449Aa84174',
            },
            { ...usdc, chain: 'MATIC', symbol: 'USDC', address },
          ],
        });
      });
      server.get('/rampnetwork/widget/', async (request, reply) => {
        try {
          const { order, webhookUrl } = await openWidget(simulator, request.url, request.query);
          if (webhookUrl !== undefined) webhookUrls.set(order.id, webhookUrl);
          return simulator.showOrder(reply, order);
        } catch (error) {
          if (!(error instanceof InvalidRequestError)) throw error;
          return simulator.refuseCustomer(reply, 400, error.message);
        }
      });
    },

    webhookOf(simulator, order, event, atMs) {
      const url = webhookUrls.get(order.id);
      if (url === undefined) return null;
      // Keys in order, so that the bytes match the signature.
      const body = JSON.stringify({
        purchase: {
          asset: { address: simulator.mode().tokenContract ?? simulator.usdc },
          finalTxHash: order.transactionHash,
          id: order.id,
          receiverAddress: order.walletAddress,
          status: simulator.mode().status ?? statusOfEvent[event],
          updatedAt: new Date(atMs).toISOString(),
        },
        type: event === 'delivered' ? 'RELEASED' : 'CREATED',
      });
      const signature = sign('sha256', Buffer.from(body), secp256k1KeyOf(simulator.derive('webhook')));
      return { url, headers: { 'x-body-signature': signature.toString('base64') }, body };
    },
  };
}

async function quote(simulator: SimulatorContext, body: unknown): Promise<unknown> {
  const { cryptoAssetSymbol, fiatCurrency, fiatValue, ...others } = (body ?? {}) as Record<string, unknown>;
  if (Object.keys(others).length > 0) throw new InvalidRequestError('there are unknown parameters');
  if (cryptoAssetSymbol !== ASSET) throw new InvalidRequestError('cryptoAssetSymbol is not sold here');
  if (typeof fiatValue !== 'number' || typeof fiatCurrency !== 'string')
    throw new InvalidRequestError('fiatValue and fiatCurrency must be there');
  const { amountCents, currency } = readCharge(fiatValue.toFixed(2), fiatCurrency);
  const units = await simulator.quoteUnits(amountCents, currency);
  if (units === 0n) throw new InvalidRequestError('the amount is below the minimum');
  return {
    asset: { symbol: 'USDC', chain: 'MATIC', decimals: 6 },
    CARD_PAYMENT: { cryptoAmount: units.toString(), fiatValue },
  };
}

/** The signature is the last parameter, the time the last but one; both follow the parameters that they cover. */
function requireSigned(simulator: SimulatorContext, url: string): void {
  const [, signed, time, signature] = /\?(.+&timestamp=(\d+))&signature=([^&]+)$/.exec(url) ?? [];
  if (signed === undefined || signature === undefined)
    throw new InvalidRequestError('the address is not signed');
  const key = createPublicKey(simulator.values['SIGNING_KEY'] ?? '');
  if (!verify(null, Buffer.from(signed), key, Buffer.from(decodeURIComponent(signature), 'base64')))
    throw new InvalidRequestError('the signature is not that of the address');
  if (simulator.nowMs() - Number(time) > SIGNATURE_LIFETIME_MS)
    throw new InvalidRequestError('the address is old');
}

async function openWidget(
  simulator: SimulatorContext,
  url: string,
  parameters: unknown,
): Promise<{ order: Order; webhookUrl: string | undefined }> {
  requireSigned(simulator, url);
  const query = readParameters(
    parameters,
    [
      'hostApiKey',
      'outAsset',
      'inAsset',
      'inAssetValue',
      'userAddress',
      'timestamp',
      'signature',
      'enabledCryptoAssets',
    ],
    [
      'enabledFlows',
      'defaultFlow',
      'finalUrl',
      'webhookStatusUrl',
      'userEmailAddress',
      'hostAppName',
      'paymentMethodType',
      'selectedCountryCode',
    ],
  );
  if (!isSame(query.hostApiKey, simulator.values['API_KEY']))
    throw new InvalidRequestError('hostApiKey is unknown');
  if (query.outAsset !== ASSET || query.enabledCryptoAssets !== ASSET)
    throw new InvalidRequestError('outAsset is not sold here');
  if (query.paymentMethodType !== undefined && query.paymentMethodType !== 'CARD_PAYMENT')
    throw new InvalidRequestError('paymentMethodType is unknown');
  // Minor units, without a point.
  if (!/^\d{1,9}$/.test(query.inAssetValue)) throw new InvalidRequestError('inAssetValue is malformed');
  const walletAddress = parsePayoutAddress(query.userAddress);
  if (walletAddress === null) throw new InvalidRequestError('userAddress is malformed');
  const charge = readCharge((Number(query.inAssetValue) / 100).toFixed(2), query.inAsset);
  const quotedUnits = await simulator.quoteUnits(charge.amountCents, charge.currency);
  if (quotedUnits === 0n) throw new InvalidRequestError('the amount is below the minimum');
  const webhookUrl = query.webhookStatusUrl;
  if (webhookUrl !== undefined && !URL.canParse(webhookUrl))
    throw new InvalidRequestError('webhookStatusUrl is malformed');
  const order = simulator.openOrder({
    ...charge,
    walletAddress,
    quotedUnits,
    // The provider has no id of the shop's; this value is for readers of the store.
    externalId: webhookUrl === undefined ? '' : (new URL(webhookUrl).searchParams.get('payment_id') ?? ''),
    email: query.userEmailAddress ?? null,
    returnUrl: readReturnUrl(query.finalUrl ?? ''),
  });
  return { order, webhookUrl };
}
