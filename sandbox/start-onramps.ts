import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import formbody from '@fastify/formbody';
import { type FastifyInstance, type FastifyReply, fastify } from 'fastify';
import type { Address } from '../src/payment/address.ts';
import { isCurrency, parseAmountCents, usdUnits } from '../src/payment/money.ts';
import {
  assumedDeliveryUnits,
  type ProviderId,
  providerCatalog,
  providerIds,
} from '../src/payment/provider-catalog.ts';
import type { ProviderFault } from '../src/payment/test-payments.ts';
import type { ProviderValues } from '../src/providers/adapters/define-provider.ts';
import type { JsonRpcClient } from '../src/settlement/chain/json-rpc.ts';
import { startDeliveryWorker } from './delivery-worker.ts';
import { type DevelopmentKey, deriveHex } from './development-keys.ts';
import { createFixedRates } from './fixed-rates.ts';
import { registerPageRoutes, sendMessagePage } from './onramp-pages.ts';
import { type Order, type OrderStore, openOrderStore, SESSION_LIFETIME_MS } from './order-store.ts';
import {
  acceptOrder,
  isTwin,
  OrderNotPayableError,
  openedOrder,
  orderIdOf,
  type PaidOrder,
  type PayOrderRequest,
  payOrder,
} from './pay-order.ts';
import { createBanxaProtocol } from './protocols/banxa.ts';
import { createCoinbaseProtocol } from './protocols/coinbase.ts';
import { cryptocomProtocol } from './protocols/cryptocom.ts';
import { moonpayProtocol } from './protocols/moonpay.ts';
import { createRampNetworkProtocol } from './protocols/rampnetwork.ts';
import { revolutProtocol } from './protocols/revolut.ts';
import {
  RefusedRequestError,
  readReturnUrl,
  readWallet,
  refuseUnless,
  type SimulatedProtocol,
  type SimulatorContext,
  type SimulatorMode,
} from './protocols/simulated-protocol.ts';
import { stripeProtocol } from './protocols/stripe.ts';
import { createTransakProtocol } from './protocols/transak.ts';
import { createWertProtocol } from './protocols/wert.ts';
import { type OnrampKeys, providerValuesOf } from './provider-values.ts';
import type { SandboxLog } from './sandbox-log.ts';
import { createWebhookSender, type WebhookSender } from './webhook-sender.ts';

interface OnrampOptions {
  readonly directory: string;
  readonly rpc: JsonRpcClient;
  readonly usdc: Address;
  /** Token that a provider delivers during the fault `wrong-token`. */
  readonly otherToken: Address;
  /** Key of the treasury, which no other sender may use. */
  readonly minter: DevelopmentKey;
  /** Key of each provider, from which the shop's credentials are derived. */
  readonly keys: OnrampKeys;
  /** Credentials of the shop that replace the derived ones. */
  readonly credentials?: ReadonlyMap<ProviderId, ProviderValues> | undefined;
  /** Returns the shop's webhook URL for a provider. Null or absent without webhooks. */
  readonly webhookUrl?: ((provider: ProviderId) => string) | null;
  /** 0 for any free port. */
  readonly port: number;
  readonly log: SandboxLog;
  readonly nowMs?: () => number;
  readonly slowDeliveryMs?: number | undefined;
  /** Delay of a slow provider's API, longer than any adapter's timeout. */
  readonly slowAnswerMs?: number | undefined;
}

/** Simulated on-ramps, at `{baseUrl}/moonpay`, `{baseUrl}/wert` and so on. */
export interface Onramps {
  /** Without a trailing slash. */
  readonly baseUrl: string;
  readonly port: number;
  setFault(provider: ProviderId, fault: ProviderFault): void;
  setMode(provider: ProviderId, mode: SimulatorMode): void;
  /** Pays an order, and resolves when the transfer is sent. Throws `OrderNotPayableError`. */
  payOrder(request: PayOrderRequest): Promise<PaidOrder>;
  /** Accepts the card, but delivers later. Throws `OrderNotPayableError`. */
  payOrderLate(request: PayOrderRequest): Promise<void>;
  /** Declines the card, and leaves the order open. Throws `OrderNotPayableError`. */
  declineOrder(request: PayOrderRequest): Promise<void>;
  findOrder(orderOrUrl: string): Order | null;
  stop(): Promise<void>;
}

const DELIVERY_INTERVAL_MS = 500;
const SLOW_DELIVERY_MS = 20_000;
const SLOW_ANSWER_MS = 15_000;
const MAXIMUM_BODY_BYTES = 16 * 1024;

interface Parts {
  readonly options: OnrampOptions;
  readonly protocols: Readonly<Record<ProviderId, SimulatedProtocol>>;
  readonly store: OrderStore;
  readonly nowMs: () => number;
  readonly baseUrl: () => string;
  readonly faultOf: (provider: ProviderId) => ProviderFault;
  readonly modeOf: (provider: ProviderId) => SimulatorMode;
}

/** Creates a sender of webhooks about orders, in each provider's format. Returns null without a webhook URL. */
function startWebhooks(parts: Parts): WebhookSender | null {
  const { options, protocols, nowMs, faultOf } = parts;
  const { webhookUrl = null, log } = options;
  if (webhookUrl === null) return null;
  return createWebhookSender({
    nowMs,
    log,
    faultOf,
    webhookUrl: (provider) => webhookUrl(webhookProviderOf(provider)),
    webhookOf: ({ order, event, atMs }, isForged) =>
      protocols[order.provider].webhookOf(
        simulatorContext(parts, order.provider, isForged),
        order,
        event,
        atMs,
      ),
  });
}

/** Keys of a forger who knows none of the providers' secrets. */
const guessedKeys = Object.fromEntries(providerIds.map((id) => [id, `a guess at ${id}`])) as OnrampKeys;

/** Returns the provider whose webhook URL is used. For a payment method, returns the provider of its sessions. */
function webhookProviderOf(provider: ProviderId): ProviderId {
  return provider === 'paypal' ? 'moonpay' : provider === 'klarna' ? 'banxa' : provider;
}

function simulatorContext(
  { options, store, nowMs, baseUrl, modeOf }: Parts,
  provider: ProviderId,
  isImpostor = false,
): SimulatorContext {
  const keys = isImpostor ? guessedKeys : options.keys;
  // Separate from the service's rates, which faults affect.
  const rates = createFixedRates();
  const price = async (amount: string, code: string) => {
    const currency = code.toUpperCase();
    refuseUnless(isCurrency(currency), 'the currency is not supported');
    const amountCents = parseAmountCents(amount);
    refuseUnless(amountCents !== null, 'the amount is malformed');
    const valueUnits = usdUnits(amountCents, await rates.usdRate(currency));
    const quotedUnits = assumedDeliveryUnits(provider, valueUnits);
    refuseUnless(quotedUnits > 0n, 'the amount is below the minimum');
    const feeCents = Number((BigInt(amountCents) * (valueUnits - quotedUnits)) / valueUnits);
    return { amountCents, currency, quotedUnits, valueUnits, feeCents };
  };
  const findOrder = (id: unknown) => {
    const order = store.findOrder(String(id));
    return order?.provider === provider ? order : null;
  };
  return {
    provider,
    nowMs,
    isImpostor,
    mode: () => modeOf(provider),
    tokenContract: () => modeOf(provider).tokenContract ?? options.usdc,
    values: {
      ...providerValuesOf(provider, keys),
      ...(isImpostor ? {} : options.credentials?.get(provider)),
    },
    derive: (purpose) => deriveHex(keys[provider], purpose),
    webhookUrl: options.webhookUrl?.(webhookProviderOf(provider)) ?? null,
    url: () => `${baseUrl()}/${provider}`,
    price,
    findOrder,
    async openOrder({ id = newOrderId(provider), amount, currency, walletAddress, returnUrl, ...purchase }) {
      const createdAtMs = nowMs();
      const priced = await price(amount, currency);
      store.createOrder({
        ...priced,
        quotedUnits: purchase.quotedUnits ?? priced.quotedUnits,
        id,
        provider,
        walletAddress: readWallet(walletAddress),
        returnUrl: returnUrl === null ? '' : readReturnUrl(returnUrl),
        externalId: purchase.externalId ?? '',
        email: purchase.email ?? null,
        createdAtMs,
        expiresAtMs: createdAtMs + SESSION_LIFETIME_MS,
      });
      return findOrder(id) as Order;
    },
    showOrder: (reply, order) => reply.redirect(`/${provider}/pay/${order.id}`, 303),
  };
}

function newOrderId(provider: ProviderId): string {
  return `${provider}_${randomBytes(16).toString('base64url')}`;
}

/** Starts all on-ramps on one loopback port, and resumes the deliveries of an earlier run. */
export async function startOnramps(options: OnrampOptions): Promise<Onramps> {
  const { rpc, log, minter, usdc, otherToken, nowMs = Date.now } = options;
  const store = openOrderStore(join(options.directory, 'onramps.sqlite'));
  let baseUrl = '';
  const faults = new Map<ProviderId, ProviderFault>();
  const faultOf = (provider: ProviderId) => faults.get(provider) ?? 'up';
  const modes = new Map<ProviderId, SimulatorMode>();
  const modeOf = (provider: ProviderId) => modes.get(provider) ?? {};
  const protocols = createSimulatedProtocols();
  const parts = { options, protocols, store, nowMs, baseUrl: () => baseUrl, faultOf, modeOf };
  const webhooks = startWebhooks(parts);
  const worker = startDeliveryWorker(
    {
      store,
      rpc,
      log,
      nowMs,
      treasury: { ...minter, usdc, otherToken },
      orderEnded(order, event) {
        if (!isTwin(order.id)) webhooks?.orderChanged(order, event);
      },
    },
    DELIVERY_INTERVAL_MS,
  );
  const slowDeliveryMs = options.slowDeliveryMs ?? SLOW_DELIVERY_MS;
  const paying = { store, worker, nowMs, faultOf, slowDeliveryMs };
  const server = fastify({
    bodyLimit: MAXIMUM_BODY_BYTES,
    forceCloseConnections: true,
    exposeHeadRoutes: false,
  });
  const closing = addFaults(server, parts);
  addRefusals(server, protocols);
  await server.register(formbody);
  for (const provider of providerIds) {
    protocols[provider].registerRoutes(server, simulatorContext(parts, provider));
    registerPageRoutes(server, {
      ...paying,
      provider,
      orderAccepted(order) {
        webhooks?.orderChanged(order, 'accepted');
        // The background rounds repeat the work and report any failure.
        void worker.deliverNow().catch(() => undefined);
      },
      orderDeclined: (order) => webhooks?.orderChanged(order, 'declined'),
    });
  }

  async function stop(): Promise<void> {
    closing.abort();
    await server.close();
    await worker.stop();
    await webhooks?.stop();
    store.close();
  }

  try {
    baseUrl = await server.listen({ host: '127.0.0.1', port: options.port });
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    baseUrl,
    port: Number(new URL(baseUrl).port),
    setFault: (provider, fault) => void faults.set(provider, fault),
    setMode: (provider, mode) => void modes.set(provider, mode),
    async payOrder(request) {
      const { order, ...paid } = await payOrder(paying, request);
      webhooks?.orderChanged(order, 'accepted');
      return paid;
    },
    async payOrderLate(request) {
      const order = await openedOrder(store, request);
      if (!acceptOrder(paying, order, { isLate: true }))
        throw new OrderNotPayableError('the order cannot be paid any more');
      webhooks?.orderChanged(order, 'accepted');
    },
    async declineOrder(request) {
      webhooks?.orderChanged(await openedOrder(store, request), 'declined');
    },
    findOrder: (order) => store.findOrder(orderIdOf(order)),
    stop,
  };
}

const pages: ReadonlySet<string> = new Set(['pay', 'widget']);

/** Returns the provider of a path, and whether the path is a customer page instead of an API for the shop. */
function readPath(url: string): { readonly provider: ProviderId; readonly isPage: boolean } {
  const [, name = '', part = ''] = url.split(/[/?]/);
  return { provider: name as ProviderId, isPage: pages.has(part) };
}

/** Sends refusals: to API callers in the provider's format, to customers as a page. */
function addRefusals(server: FastifyInstance, protocols: Parts['protocols']): void {
  server.setErrorHandler((error, request, reply) => {
    if (!(error instanceof RefusedRequestError)) throw error;
    const { provider, isPage } = readPath(request.url);
    const { name } = providerCatalog[provider];
    return isPage
      ? sendMessagePage(reply, error.status ?? 400, `${name} (simulated) refuses this`, error.message)
      : sendRefusal(reply, protocols[provider], error.message, error.status);
  });
}

function sendRefusal(
  reply: FastifyReply,
  { invalidStatus = 400, refusal }: SimulatedProtocol,
  message: string,
  status: number | null = null,
): FastifyReply {
  return reply.code(status ?? invalidStatus).send(refusal(message, status ?? invalidStatus));
}

/**
 * Answers for providers that are down, refuse everything or return an HTML page. Also delays the answers of slow
 * providers, and changes the shape of answers.
 */
function addFaults(
  server: FastifyInstance,
  { options: { slowAnswerMs = SLOW_ANSWER_MS }, protocols, faultOf, modeOf }: Parts,
): AbortController {
  const closing = new AbortController();
  server.addHook('onRequest', async (request, reply) => {
    const { provider, isPage } = readPath(request.url);
    const fault = faultOf(provider);
    if (isPage) {
      if (fault === 'down')
        await sendMessagePage(reply, 503, 'Out of service', 'This simulated on-ramp is down.');
      return;
    }
    const { pageStatus } = modeOf(provider);
    if (pageStatus !== undefined) {
      await reply.code(pageStatus).type('text/html').send('<!doctype html><title>Sorry</title>');
    } else if (fault === 'down') {
      await reply.code(503).type('application/json').send('{}');
    } else if (fault === 'slow') {
      await delay(slowAnswerMs, undefined, { signal: closing.signal });
    } else if (fault === 'refuse') {
      await sendRefusal(reply, protocols[provider], 'Not available.');
    }
  });
  server.addHook('onSend', async (request, reply, payload) => {
    const { provider, isPage } = readPath(request.url);
    const { changedShape } = modeOf(provider);
    if (changedShape === undefined || isPage || typeof payload !== 'string') return payload;
    reply.removeHeader('content-length');
    return JSON.stringify(reshape(JSON.parse(payload), changedShape));
  });
  return closing;
}

/** Changes an answer to what a later version of the API might return. */
function reshape(value: unknown, shape: NonNullable<SimulatorMode['changedShape']>): unknown {
  if (Array.isArray(value)) return value.map((each) => reshape(each, shape));
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(
      Object.entries(value).map(([name, each]) => [
        shape === 'renamed' ? `new_${name}` : name,
        reshape(each, shape),
      ]),
    );
  if (shape === 'null') return null;
  if (shape === 'renamed') return value;
  return { value };
}

/** Creates the protocol of each provider. A payment method has its own URL here, so that it can have its own faults. */
function createSimulatedProtocols(): Readonly<Record<ProviderId, SimulatedProtocol>> {
  return {
    moonpay: moonpayProtocol,
    wert: createWertProtocol(),
    revolut: revolutProtocol,
    cryptocom: cryptocomProtocol,
    rampnetwork: createRampNetworkProtocol(),
    transak: createTransakProtocol(),
    coinbase: createCoinbaseProtocol(),
    paypal: moonpayProtocol,
    stripe: stripeProtocol,
    banxa: createBanxaProtocol(),
    klarna: createBanxaProtocol(),
  };
}
