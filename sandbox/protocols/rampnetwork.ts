/**
 * Counterpart of src/providers/adapters/rampnetwork.ts: returns quotes in the asset's smallest units, and opens a
 * widget at `/widget` only through a URL that the partner signed.
 */
import { createPublicKey, sign, verify } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { secp256k1KeyOf } from '../development-keys.ts';
import {
  isSame,
  type OrderEvent,
  readParameters,
  refuseUnless,
  type SimulatedProtocol,
  type SimulatorContext,
  takeNumber,
} from './simulated-protocol.ts';

const ASSET = 'MATIC_USDC';
const SIGNATURE_LIFETIME_MS = 60 * 60_000;
const MAXIMUM_PURCHASES = 1_000;
const MINUTE_MS = 60_000;
/** Maximum requests per origin (docs.rampnetwork.com/rate-limiting). Exceeding the second limit blocks for an hour. */
const MAXIMUM_PER_MINUTE = 100;
const MAXIMUM_PER_QUARTER = 1_000;
const BLOCK_MS = 60 * MINUTE_MS;
const methods = ['CARD_PAYMENT', 'APPLE_PAY', 'GOOGLE_PAY'];
const statusOfEvent: Readonly<Record<OrderEvent, string>> = {
  accepted: 'FIAT_RECEIVED',
  declined: 'PAYMENT_FAILED',
  delivered: 'RELEASED',
  failed: 'CANCELLED',
};

/** Creates the protocol. It keeps webhook URLs in memory, so purchases from before a restart get no more webhooks. */
export function createRampNetworkProtocol(): SimulatedProtocol {
  const webhookUrls = new LRUCache<string, string>({ max: MAXIMUM_PURCHASES });
  const requireRate = createRateRule();

  return {
    refusal: (message) => ({ message }),

    registerRoutes(server, simulator) {
      const api = '/rampnetwork/api/api/host-api/v3';
      server.post<{ Querystring: { hostApiKey?: unknown } }>(
        `${api}/onramp/quote/all`,
        async ({ query, body }) => {
          requireRate(simulator.nowMs());
          refuseUnless(isSame(query.hostApiKey, simulator.values['API_KEY']), 'hostApiKey is not known', 401);
          const [fiatValue, texts] = takeNumber(body, 'fiatValue');
          const asked = readParameters(texts, ['cryptoAssetSymbol', 'fiatCurrency']);
          refuseUnless(asked.cryptoAssetSymbol === ASSET, 'cryptoAssetSymbol is not sold here');
          const { quotedUnits } = await simulator.price(fiatValue.toFixed(2), asked.fiatCurrency);
          const quotes = methods.map((name) => [name, { cryptoAmount: `${quotedUnits}`, fiatValue }]);
          return { asset: { symbol: 'USDC', chain: 'MATIC', decimals: 6 }, ...Object.fromEntries(quotes) };
        },
      );
      server.get(`${api}/assets`, async ({ query }) => {
        requireRate(simulator.nowMs());
        readParameters(query, ['currencyCode'], ['hostApiKey', 'userIp']);
        const limits = { minPurchaseAmount: 6, maxPurchaseAmount: 10_000 };
        const usdc = { name: 'USD Coin', chain: 'MATIC', decimals: 6, enabled: true, ...limits };
        const bridged = { ...usdc, symbol: 'USDCE', address: '0x2791Bca1f2de4661ED88A30C99A7a9449Aa84174' };
        return { assets: [bridged, { ...usdc, symbol: 'USDC', address: simulator.tokenContract() }] };
      });
      server.get('/rampnetwork/widget/', async (request, reply) => {
        const { order, webhookUrl } = await openWidget(simulator, request.url, request.query);
        if (webhookUrl !== undefined) webhookUrls.set(order.id, webhookUrl);
        return simulator.showOrder(reply, order);
      });
    },

    webhookOf(simulator, order, event, atMs) {
      const url = webhookUrls.get(order.id);
      if (url === undefined) return null;
      // The keys are sorted, because the signature covers the JSON in that form.
      const body = JSON.stringify({
        purchase: {
          asset: { address: simulator.tokenContract() },
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

/**
 * Creates a check that refuses requests beyond the limits with 429 (this status is unverified), without `Retry-After`.
 * Refused requests count as well. All callers share one origin, because they are on this machine.
 */
function createRateRule() {
  let requestsAtMs: number[] = [];
  let blockedUntilMs = 0;
  return (nowMs: number) => {
    requestsAtMs = [...requestsAtMs.filter((atMs) => atMs > nowMs - 15 * MINUTE_MS), nowMs];
    if (requestsAtMs.length > MAXIMUM_PER_QUARTER) {
      blockedUntilMs = nowMs + BLOCK_MS;
      requestsAtMs = [];
    }
    const ofMinute = requestsAtMs.filter((atMs) => atMs > nowMs - MINUTE_MS).length;
    refuseUnless(nowMs >= blockedUntilMs && ofMinute <= MAXIMUM_PER_MINUTE, 'Too many requests', 429);
  };
}

/** Requires a signed URL. Its last parameters are the time and the signature, which covers everything before itself. */
function requireSigned(simulator: SimulatorContext, url: string): void {
  const [, signed, time, signature] = /\?(.+&timestamp=(\d+))&signature=([^&]+)$/.exec(url) ?? [];
  refuseUnless(signed !== undefined && signature !== undefined, 'the address is not signed');
  const key = createPublicKey(simulator.values['SIGNING_KEY'] ?? '');
  const given = Buffer.from(decodeURIComponent(signature), 'base64');
  refuseUnless(verify(null, Buffer.from(signed), key, given), 'the signature is not that of the address');
  refuseUnless(simulator.nowMs() - Number(time) <= SIGNATURE_LIFETIME_MS, 'the address is old');
}

async function openWidget(simulator: SimulatorContext, url: string, parameters: unknown) {
  requireSigned(simulator, url);
  const query = readParameters(
    parameters,
    [
      ...(['hostApiKey', 'outAsset', 'inAsset', 'inAssetValue', 'userAddress', 'timestamp'] as const),
      ...(['signature', 'enabledCryptoAssets'] as const),
    ],
    [
      ...(['enabledFlows', 'defaultFlow', 'finalUrl', 'webhookStatusUrl', 'userEmailAddress'] as const),
      ...(['hostAppName', 'paymentMethodType', 'selectedCountryCode'] as const),
    ],
  );
  refuseUnless(isSame(query.hostApiKey, simulator.values['API_KEY']), 'hostApiKey is unknown');
  const isSold = query.outAsset === ASSET && query.enabledCryptoAssets === ASSET;
  refuseUnless(isSold, 'outAsset is not sold here');
  const { paymentMethodType = 'CARD_PAYMENT', webhookStatusUrl: webhookUrl } = query;
  refuseUnless(methods.includes(paymentMethodType), 'paymentMethodType is unknown');
  // The value is in minor units, without a decimal point.
  refuseUnless(/^\d{1,9}$/.test(query.inAssetValue), 'inAssetValue is malformed');
  const webhook = webhookUrl === undefined ? undefined : URL.parse(webhookUrl);
  refuseUnless(webhook !== null, 'webhookStatusUrl is malformed');
  const order = await simulator.openOrder({
    amount: (Number(query.inAssetValue) / 100).toFixed(2),
    currency: query.inAsset,
    walletAddress: query.userAddress,
    // The provider has no field for the shop's id. This value only helps people who read the store.
    externalId: webhook?.searchParams.get('payment_id') ?? undefined,
    email: query.userEmailAddress,
    returnUrl: query.finalUrl,
  });
  return { order, webhookUrl };
}
