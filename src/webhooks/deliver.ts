/**
 * One webhook, sent at most once, to the address that was checked.
 *
 * Why node:http over our own TLS socket and not undici (docs/decisions/0003-webhook-transport.md): a client that
 * manages connections may open a second one and send again. Here a request owns one socket that is never replaced.
 */

import { isOwnCallback, parseCallbackUrl, type ServiceLocation } from '../domain/callback-url.ts';
import { webhookHeaders } from '../domain/webhook.ts';
import { type HostResolver, type OwnAddresses, refuseAddress } from './callback-host.ts';
import { type CheckedTarget, type ConnectionOptions, connectChecked } from './connect-checked.ts';
import { type DeliveryOutcome, DeliveryStopped, type PostAnswer, postOnce } from './post-once.ts';

export interface DeliveryDependencies {
  readonly resolver: Pick<HostResolver, 'resolveFresh'>;
  readonly ownAddresses: OwnAddresses;
  /** The operator's `CALLBACK_ALLOWED_HOSTS`, as `parseCallbackUrl` takes it. */
  readonly allowedHosts: ReadonlySet<string>;
  /** Public location of this service: a callback that leads there is blocked. Null where nothing is served. */
  readonly own: ServiceLocation | null;
  /** Authorities to trust instead of the system's: for tests, and for the receiver of the sandbox's own shop. */
  readonly ca?: ConnectionOptions['ca'];
  /** A test's server on loopback in place of a public address. */
  readonly connectTo?: ConnectionOptions['connectTo'];
}

export interface WebhookDelivery {
  /** The callback as it was supplied at creation. */
  readonly url: string;
  /** The bytes that were signed; text is sent as UTF-8. */
  readonly body: string | Buffer;
  /** Hex HMAC-SHA256 of exactly these bytes, for `X-Service-Signature`. */
  readonly signature: string;
  /** Time limit of the whole delivery: DNS, TCP, TLS, request and answer. Default 10,000, as the specification says. */
  readonly timeoutMs?: number;
}

/** The specification's limit. */
const DEFAULT_TIMEOUT_MS = 10_000;

/**
 * Makes the one attempt to deliver a webhook. Never rejects for what a receiver or the network does.
 *
 * @throws whatever is a mistake of our own, an unknown state is not an outcome
 */
export async function deliverWebhook(
  dependencies: DeliveryDependencies,
  delivery: WebhookDelivery,
): Promise<DeliveryOutcome> {
  const startedMs = performance.now();
  const timeoutMs = delivery.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  const deadline = new AbortController();
  const timer = setTimeout(() => deadline.abort(), timeoutMs);
  try {
    const answer = await attempt(dependencies, delivery, timeoutMs, deadline.signal);
    const isSuccess = answer.httpStatus >= 200 && answer.httpStatus <= 299;
    return {
      outcome: isSuccess ? 'delivered' : 'failed',
      reason: isSuccess ? null : `http_${answer.httpStatus}`,
      durationMs: Math.round(performance.now() - startedMs),
      ...answer,
    };
  } catch (error) {
    if (!(error instanceof DeliveryStopped)) throw error;
    return {
      outcome: error.outcome,
      httpStatus: null,
      reason: error.reason,
      durationMs: Math.round(performance.now() - startedMs),
      responseBytes: 0,
      responseExcerpt: '',
    };
  } finally {
    clearTimeout(timer);
  }
}

async function attempt(
  dependencies: DeliveryDependencies,
  delivery: WebhookDelivery,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<PostAnswer> {
  // The rule may have become stricter since creation, and a host may have left the operator's list.
  const callback = parseCallbackUrl(delivery.url, dependencies.allowedHosts);
  if (!callback.ok) throw new DeliveryStopped('blocked', 'blocked_url');
  const { own } = dependencies;
  if (callback.kind !== 'allowed' && own !== null && isOwnCallback(callback, own)) {
    throw new DeliveryStopped('blocked', 'blocked_own_address');
  }
  const { hostname, port, url } = callback;

  const target = await findTarget(dependencies, hostname, port, callback.kind === 'allowed', timeoutMs);
  const socket = await connectChecked(target, { signal, ...testSeams(dependencies) });
  const body = Buffer.from(delivery.body);
  const headers = webhookHeaders({ hostname, port }, body.length, delivery.signature);
  return postOnce(socket, { path: url.pathname + url.search, headers, body }, signal);
}

/**
 * Resolves the host once and validates every answer. One refused address blocks the delivery, because the owner of the
 * name then attempts an attack.
 */
async function findTarget(
  dependencies: DeliveryDependencies,
  hostname: string,
  port: number,
  isAllowed: boolean,
  timeoutMs: number,
): Promise<CheckedTarget> {
  const resolution = await dependencies.resolver.resolveFresh(hostname, timeoutMs);
  if ('failed' in resolution) {
    const isTimeout = resolution.failed === 'timeout';
    throw new DeliveryStopped('failed', isTimeout ? 'dns_timeout' : 'dns_failed');
  }
  const own = dependencies.ownAddresses();
  for (const { address } of isAllowed ? [] : resolution.addresses) {
    const refusal = refuseAddress(address, own);
    if (refusal === 'not_public') throw new DeliveryStopped('blocked', 'blocked_address');
    if (refusal === 'own_address') throw new DeliveryStopped('blocked', 'blocked_own_address');
  }
  return { hostname, port, addresses: resolution.addresses };
}

function testSeams(dependencies: DeliveryDependencies): Omit<ConnectionOptions, 'signal'> {
  return {
    ...(dependencies.ca === undefined ? {} : { ca: dependencies.ca }),
    ...(dependencies.connectTo === undefined ? {} : { connectTo: dependencies.connectTo }),
  };
}
