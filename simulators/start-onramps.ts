import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import formbody from '@fastify/formbody';
import { type FastifyInstance, type FastifyReply, fastify } from 'fastify';
import type { JsonRpcClient } from '../src/chain/json-rpc.ts';
import { usdUnits } from '../src/domain/money.ts';
import type { Address } from '../src/domain/payout-address.ts';
import {
  assumedDeliveryUnits,
  type ProviderId,
  providerCatalog,
  providerIds,
} from '../src/domain/provider-catalog.ts';
import type { ProviderValues } from '../src/providers/define-provider.ts';
import { type DeliveryWorker, startDeliveryWorker } from './delivery-worker.ts';
import { type DevelopmentKey, deriveHex } from './development-keys.ts';
import type { ProviderFault } from './fault.ts';
import { createFixedRates } from './fixed-rates.ts';
import { registerPageRoutes, renderWebhookPage, sendPage } from './onramp-pages.ts';
import { type Order, type OrderStore, openOrderStore } from './order-store.ts';
import {
  type AcceptOrderContext,
  acceptOrder,
  isTwin,
  OrderNotPayableError,
  openedOrderId,
  openOrder,
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
import type { SimulatedProtocol, SimulatorContext, SimulatorMode } from './protocols/simulated-protocol.ts';
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
  /** The token that a provider with the fault `wrong-token` delivers. */
  readonly otherToken: Address;
  /** The treasury's key; no other sender may use it. */
  readonly minter: DevelopmentKey;
  /** One key for each provider, from which all the shop's credentials are derived. */
  readonly keys: OnrampKeys;
  /** Credentials of a shop's own, which count in place of the derived ones. */
  readonly credentials?: ReadonlyMap<ProviderId, ProviderValues>;
  /** The shop's webhook address of a provider; null for a shop without one. */
  readonly webhookUrl?: ((provider: ProviderId) => string) | null;
  /** 0 for a free one. */
  readonly port: number;
  readonly log: SandboxLog;
  readonly nowMs?: () => number;
  readonly deliveryIntervalMs?: number;
  readonly slowDeliveryMs?: number;
  /** The delay of a slow provider's API, longer than any adapter's timeout. */
  readonly slowAnswerMs?: number;
}

/** The simulated on-ramps: `{baseUrl}/moonpay`, `{baseUrl}/wert` and so on. */
export interface Onramps {
  /** Without a trailing slash. */
  readonly baseUrl: string;
  readonly port: number;
  setFault(provider: ProviderId, fault: ProviderFault): void;
  setMode(provider: ProviderId, mode: SimulatorMode): void;
  /** Throws `OrderNotPayableError`. Resolves when the transfer is sent. */
  payOrder(request: PayOrderRequest): Promise<PaidOrder>;
  /** Accepts the card; the delivery arrives after a while. Throws `OrderNotPayableError`. */
  payOrderLate(request: PayOrderRequest): Promise<void>;
  /** Declines the card; the order stays open. Throws `OrderNotPayableError`. */
  declineOrder(request: PayOrderRequest): Promise<void>;
  findOrder(orderOrUrl: string): Order | null;
  stop(): Promise<void>;
}

const DELIVERY_INTERVAL_MS = 500;
const SLOW_DELIVERY_MS = 20_000;
const SLOW_ANSWER_MS = 15_000;
const MAXIMUM_BODY_BYTES = 16 * 1024;

/** Dependencies that the on-ramps share. */
interface Parts {
  readonly options: OnrampOptions;
  readonly protocols: Readonly<Record<ProviderId, SimulatedProtocol>>;
  readonly store: OrderStore;
  readonly worker: DeliveryWorker;
  readonly webhooks: WebhookSender | null;
  readonly nowMs: () => number;
  readonly baseUrl: () => string;
  readonly faultOf: (provider: ProviderId) => ProviderFault;
  readonly modeOf: (provider: ProviderId) => SimulatorMode;
}

/** Sends the shop webhooks about its orders in the form of each provider; null when the shop takes no webhooks. */
function startWebhooks(books: Omit<Parts, 'worker' | 'webhooks'>): WebhookSender | null {
  const { options, nowMs } = books;
  const { webhookUrl = null, log } = options;
  if (webhookUrl === null) return null;
  return createWebhookSender({
    nowMs,
    log,
    faultOf: books.faultOf,
    webhookUrl: (provider) => webhookUrl(webhookProviderOf(provider)),
    webhookOf: ({ order, event, atMs }, isForged) => {
      const { provider } = order;
      return books.protocols[provider].webhookOf(
        simulatorContext(books, provider, isForged),
        order,
        event,
        atMs,
      );
    },
  });
}

/** The pages where customers pay, the same for all. */
function registerPages(server: FastifyInstance, parts: Parts, provider: ProviderId): void {
  const { worker, webhooks } = parts;
  registerPageRoutes(server, {
    ...acceptContextOf(parts),
    provider,
    orderAccepted(order) {
      webhooks?.orderChanged(order, 'accepted');
      // The background rounds report a failure and repeat the work.
      void worker.deliverNow().catch(() => undefined);
    },
    orderDeclined: (order) => webhooks?.orderChanged(order, 'declined'),
  });
}

function acceptContextOf({
  store,
  nowMs,
  faultOf,
  options,
}: Omit<Parts, 'worker' | 'webhooks'>): AcceptOrderContext {
  return { store, nowMs, faultOf, slowDeliveryMs: options.slowDeliveryMs ?? SLOW_DELIVERY_MS };
}

/** The credentials of a forger who knows none of the provider's secrets. */
const guessedKeys = Object.fromEntries(providerIds.map((id) => [id, `a guess at ${id}`])) as OnrampKeys;

/** The provider that sends the webhooks of another: a payment method of another provider has no webhook address. */
function webhookProviderOf(provider: ProviderId): ProviderId {
  return provider === 'paypal' ? 'moonpay' : provider === 'klarna' ? 'banxa' : provider;
}

function simulatorContext(
  { options, store, nowMs, baseUrl, modeOf }: Omit<Parts, 'worker' | 'webhooks'>,
  provider: ProviderId,
  isImpostor = false,
) {
  const keys = isImpostor ? guessedKeys : options.keys;
  return createProtocolDesk({
    provider,
    store,
    nowMs,
    isImpostor,
    usdc: options.usdc,
    mode: () => modeOf(provider),
    values: {
      ...providerValuesOf(provider, keys),
      ...(isImpostor ? {} : options.credentials?.get(provider)),
    },
    derive: (purpose) => deriveHex(keys[provider], purpose),
    webhookUrl: options.webhookUrl?.(webhookProviderOf(provider)) ?? null,
    url: () => `${baseUrl()}/${provider}`,
  });
}

/** Starts all eleven on one loopback port, and resumes the deliveries that an earlier run left unfinished. */
export async function startOnramps(options: OnrampOptions): Promise<Onramps> {
  const nowMs = options.nowMs ?? Date.now;
  const store = openOrderStore(join(options.directory, 'onramps.sqlite'));
  const { rpc, log, minter } = options;
  let baseUrl = '';
  const faults = new Map<ProviderId, ProviderFault>();
  const faultOf = (provider: ProviderId) => faults.get(provider) ?? 'up';
  const modes = new Map<ProviderId, SimulatorMode>();
  const modeOf = (provider: ProviderId) => modes.get(provider) ?? {};
  const protocols = createSimulatedProtocols();
  const books = { options, protocols, store, nowMs, baseUrl: () => baseUrl, faultOf, modeOf };
  const webhooks = startWebhooks(books);
  const worker = startDeliveryWorker(
    {
      store,
      rpc,
      log,
      nowMs,
      treasury: { ...minter, usdc: options.usdc, otherToken: options.otherToken },
      orderEnded(order, event) {
        if (!isTwin(order.id)) webhooks?.orderChanged(order, event);
      },
    },
    options.deliveryIntervalMs ?? DELIVERY_INTERVAL_MS,
  );
  const server = fastify({
    bodyLimit: MAXIMUM_BODY_BYTES,
    forceCloseConnections: true,
    exposeHeadRoutes: false,
  });
  const closing = addFaults(server, {
    faults,
    modeOf,
    protocols,
    slowAnswerMs: options.slowAnswerMs ?? SLOW_ANSWER_MS,
  });
  await server.register(formbody);
  const parts = { ...books, worker, webhooks };
  for (const provider of providerIds) {
    parts.protocols[provider].registerRoutes(server, simulatorContext(parts, provider));
    registerPages(server, parts, provider);
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
    ...cardSimulations(parts),
    findOrder: (order) => store.findOrder(orderIdOf(order)),
    stop,
  };
}

/** Throws `OrderNotPayableError` if no card would be accepted. */
function requireWorking(provider: ProviderId, fault: ProviderFault): void {
  if (fault === 'down') throw new OrderNotPayableError(`the simulated on-ramp ${provider} is down`);
  if (fault === 'refuse')
    throw new OrderNotPayableError(`the simulated on-ramp ${provider} refuses every card`);
}

/** The effects of the cards, without a page. */
function cardSimulations(parts: Parts): Pick<Onramps, 'payOrder' | 'payOrderLate' | 'declineOrder'> {
  const { store, webhooks, worker, faultOf } = parts;
  return {
    async payOrder(request) {
      const id = await openedOrderId(request);
      const order = store.findOrder(id);
      if (order !== null) requireWorking(order.provider, faultOf(order.provider));
      const { order: accepted, ...paid } = await payOrder(
        { ...acceptContextOf(parts), worker },
        { ...request, order: id },
      );
      webhooks?.orderChanged(accepted, 'accepted');
      return paid;
    },
    async payOrderLate(request) {
      const order = store.findOrder(await openedOrderId(request));
      if (order === null || !acceptOrder(acceptContextOf(parts), order, { isLate: true }))
        throw new OrderNotPayableError('the order cannot be paid any more');
      webhooks?.orderChanged(order, 'accepted');
    },
    async declineOrder(request) {
      const order = store.findOrder(await openedOrderId(request));
      if (order === null) throw new OrderNotPayableError('the simulated on-ramps know no such order');
      webhooks?.orderChanged(order, 'declined');
    },
  };
}

interface FaultOptions {
  readonly faults: ReadonlyMap<ProviderId, ProviderFault>;
  readonly modeOf: (provider: ProviderId) => SimulatorMode;
  readonly protocols: Readonly<Record<ProviderId, SimulatedProtocol>>;
  readonly slowAnswerMs: number;
}

/** Paths for customers. */
const pages: ReadonlySet<string> = new Set(['pay', 'widget']);

/** Provider and kind of a path: pages are for customers, everything else is for the shop. */
function readPath(url: string): { readonly provider: ProviderId; readonly isPage: boolean } {
  const [, name = '', part = ''] = url.split(/[/?]/);
  return { provider: name as ProviderId, isPage: pages.has(part) };
}

/** Answers for providers that are down, busy or refuse everything, and delays those that are slow. */
function addFaults(server: FastifyInstance, options: FaultOptions): AbortController {
  const closing = new AbortController();
  server.addHook('onRequest', async (request, reply) => {
    const { provider, isPage } = readPath(request.url);
    const fault = options.faults.get(provider) ?? 'up';
    const { busySeconds, pageStatus } = options.modeOf(provider);
    const asPage = (status: number) =>
      reply.code(status).header('content-type', 'text/html').send('<!doctype html><title>Sorry</title>');
    if (busySeconds !== undefined && !isPage) {
      reply.header('retry-after', String(busySeconds));
      await asPage(429);
      return;
    }
    if (pageStatus !== undefined && !isPage) {
      await asPage(pageStatus);
      return;
    }
    if (fault === 'down') {
      if (isPage) await sendWebhook(reply, 'Out of service', 'This simulated on-ramp is down.');
      else await reply.code(503).header('content-type', 'application/json').send('{}');
    } else if (fault === 'slow' && !isPage) {
      await delay(options.slowAnswerMs, undefined, { signal: closing.signal });
    } else if (fault === 'refuse' && !isPage) {
      const { status, body } = options.protocols[provider].refusal;
      await reply.code(status).send(body);
    }
  });
  server.addHook('onSend', async (request, reply, payload) => {
    const { provider, isPage } = readPath(request.url);
    const { changedShape } = options.modeOf(provider);
    if (changedShape === undefined || isPage || typeof payload !== 'string') return payload;
    reply.removeHeader('content-length');
    return JSON.stringify(reshape(JSON.parse(payload), changedShape));
  });
  return closing;
}

/** An answer as a later version of the API might give it. */
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

function sendWebhook(reply: FastifyReply, title: string, text: string): FastifyReply {
  return reply
    .code(503)
    .header('content-type', 'text/html; charset=utf-8')
    .send(renderWebhookPage(title, text));
}

/** The dependencies of a simulated protocol: store, prices, pages. */
function createProtocolDesk(
  options: Pick<
    SimulatorContext,
    'provider' | 'values' | 'derive' | 'isImpostor' | 'nowMs' | 'url' | 'webhookUrl' | 'usdc' | 'mode'
  > & {
    readonly store: OrderStore;
  },
): SimulatorContext {
  const { provider, store, nowMs } = options;
  // An internal error: a lack of rates at the shop does not concern a provider.
  const rates = createFixedRates();
  return {
    ...options,
    quoteUnits: async (amountCents, currency) =>
      assumedDeliveryUnits(provider, usdUnits(amountCents, await rates.usdRate(currency))),
    openOrder: (order) => openOrder(store, { ...order, provider }, nowMs()),
    findOrder: (id) => store.findOrder(id),
    showOrder: (reply, order) => reply.redirect(`/${provider}/pay/${order.id}`, 303),
    refuseCustomer: (reply, status, reason) =>
      sendPage(
        reply,
        status,
        renderWebhookPage(`${providerCatalog[provider].name} (simulated) refuses this`, reason),
      ),
  };
}

/**
 * The other side of each provider's protocol, with a memory of its own. A payment method of another provider has its
 * own address here, so that it can have its own faults.
 */
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
