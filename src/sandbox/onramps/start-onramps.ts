import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import formbody from '@fastify/formbody';
import { type FastifyInstance, fastify } from 'fastify';
import type { JsonRpcClient } from '../../chain/json-rpc.ts';
import type { Address } from '../../domain/payout-address.ts';
import { type ProviderId, providerIds } from '../../domain/provider-catalogue.ts';
import type { DevelopmentKey } from '../development-keys.ts';
import type { Fault } from '../fault.ts';
import type { SandboxLog } from '../sandbox-log.ts';
import { startDeliveryWorker } from './delivery-worker.ts';
import { renderNoticePage } from './onramp-pages.ts';
import type { Order } from './order.ts';
import { openOrderStore } from './order-store.ts';
import { OrderNotPayableError, orderIdOf, type PayOrderRequest, payOrder } from './pay-order.ts';
import { registerApiRoutes } from './register-api-routes.ts';
import { registerPageRoutes } from './register-page-routes.ts';

export interface OnrampOptions {
  readonly directory: string;
  readonly rpc: JsonRpcClient;
  readonly usdc: Address;
  /** The treasury's key; nobody else may use it. */
  readonly minter: DevelopmentKey;
  readonly apiKeys: Readonly<Record<ProviderId, string>>;
  /** 0 for a free one. */
  readonly port: number;
  readonly log: SandboxLog;
  readonly nowMs?: () => number;
  readonly deliveryIntervalMs?: number;
  readonly slowDeliveryMs?: number;
  /** How late a slow provider's API answers; later than any adapter waits. */
  readonly slowAnswerMs?: number;
}

/** The simulated on-ramps: `{baseUrl}/moonpay`, `{baseUrl}/wert` and so on. */
export interface Onramps {
  /** Without a trailing slash. */
  readonly baseUrl: string;
  readonly port: number;
  setFault(provider: ProviderId, fault: Fault): void;
  /** Throws `OrderNotPayableError`. Resolves when the transfer is sent. */
  payOrder(request: PayOrderRequest): Promise<{ readonly transactionHash: string; readonly order: Order }>;
  findOrder(orderOrUrl: string): Order | null;
  stop(): Promise<void>;
}

const DELIVERY_INTERVAL_MS = 500;
const SLOW_DELIVERY_MS = 20_000;
const SLOW_ANSWER_MS = 15_000;
const MAXIMUM_BODY_BYTES = 16 * 1024;

/** Answers for providers that are down, and holds back those that are slow. */
function addFaults(
  server: FastifyInstance,
  faults: ReadonlyMap<string, Fault>,
  slowAnswerMs: number,
): AbortController {
  const closing = new AbortController();
  server.addHook('onRequest', async (request, reply) => {
    const [, provider = '', page] = request.url.split(/[/?]/);
    const fault = faults.get(provider) ?? 'up';
    if (fault === 'down') {
      const isPage = page === 'pay';
      const text = isPage ? renderNoticePage('Out of service', 'This simulated on-ramp is down.') : '{}';
      const type = isPage ? 'text/html; charset=utf-8' : 'application/json';
      await reply.code(503).header('content-type', type).send(text);
    } else if (fault === 'slow' && page !== 'pay') {
      await delay(slowAnswerMs, undefined, { signal: closing.signal });
    }
  });
  return closing;
}

/** Starts all eleven on one loopback port, and resumes the deliveries that an earlier run left unfinished. */
export async function startOnramps(options: OnrampOptions): Promise<Onramps> {
  const nowMs = options.nowMs ?? Date.now;
  const store = openOrderStore(join(options.directory, 'onramps.sqlite'));
  const { rpc, log, minter } = options;
  const worker = startDeliveryWorker(
    { store, rpc, log, nowMs, treasury: { ...minter, usdc: options.usdc } },
    options.deliveryIntervalMs ?? DELIVERY_INTERVAL_MS,
  );
  const faults = new Map<ProviderId, Fault>();
  const server = fastify({
    bodyLimit: MAXIMUM_BODY_BYTES,
    forceCloseConnections: true,
    exposeHeadRoutes: false,
  });
  const closing = addFaults(server, faults, options.slowAnswerMs ?? SLOW_ANSWER_MS);
  await server.register(formbody);
  let baseUrl = '';
  for (const provider of providerIds) {
    registerApiRoutes(server, {
      store,
      provider,
      apiKey: options.apiKeys[provider],
      nowMs,
      baseUrl: () => baseUrl,
    });
    registerPageRoutes(server, {
      store,
      provider,
      nowMs,
      slowDeliveryMs: options.slowDeliveryMs ?? SLOW_DELIVERY_MS,
      // A failure is the background's to report and to repeat.
      orderAccepted: () => void worker.deliverNow().catch(() => undefined),
    });
  }

  async function stop(): Promise<void> {
    closing.abort();
    await server.close();
    await worker.stop();
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
    async payOrder(request) {
      const order = store.findOrder(orderIdOf(request.order));
      if (order !== null && faults.get(order.provider) === 'down') {
        throw new OrderNotPayableError(`the simulated on-ramp ${order.provider} is down`);
      }
      return await payOrder({ store, worker, nowMs }, request);
    },
    findOrder: (order) => store.findOrder(orderIdOf(order)),
    stop,
  };
}
