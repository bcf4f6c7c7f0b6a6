import type { Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Server as TlsServer } from 'node:tls';
import type { FastifyInstance } from 'fastify';
import { operatorActor } from '../accounts/people-context.ts';
import { SECOND_FACTOR } from '../accounts/second-factor.ts';
import { describeMissingSecrets, readNewestSecret, readSecretsInUse } from '../accounts/secrets-in-use.ts';
import { CONTROL_SOCKET, startControlServer } from '../cli/control-socket.ts';
import { ConfigError } from '../config/config.ts';
import { createDirectPayment, createPayment } from '../payment/create-payment.ts';
import type { IpnTokens } from '../payment/ipn-token.ts';
import { MULTI_PROVIDER } from '../payment/provider-catalog.ts';
import type { Clock } from '../platform/clock.ts';
import { machineFaultOf } from '../platform/machine-fault.ts';
import { within } from '../platform/outgoing-calls.ts';
import { createSecretBox } from '../platform/secret-box.ts';
import { providerDescriptions } from '../providers/adapters/providers.ts';
import { switchOnProved } from '../providers/change-provider.ts';
import { describeOffByDefault } from '../providers/provider-availability.ts';
import { LATE_SCAN_MS } from '../settlement/chain/chain.ts';
import type { ObservationStore } from '../settlement/settlement-store.ts';
import type { Degradation, Readiness } from '../web/well-known.ts';
import { deliverWebhook } from '../webhooks/deliver.ts';
import type { DeliverWebhook } from '../webhooks/delivery-types.ts';
import { createAdminServer } from './admin-server.ts';
import { withCleanUp } from './clean-up.ts';
import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';
import { canOpenFile, createPublicServer } from './public-server.ts';
import { assembleParts, type ServiceOptions, type ServiceParts } from './service-parts.ts';
import { startWork } from './start-work.ts';

export type Service = Awaited<ReturnType<typeof startService>>;

/** Starts the servers, the control socket and the background tasks. */
export async function startService(options: ServiceOptions) {
  const parts = assembleParts(options);
  const { config, log } = parts;
  requireKnownSecret(await readNewestSecret(parts.store), parts.requestContext.tokens);
  if (!options.isTestMode) await warnOfProvidersOff(parts);

  let drain: Promise<void> | null = null;
  const isLeaving = () => drain !== null;
  const health = createHealth({
    ...parts,
    isLeaving,
    isFactoryVerified: () => parts.external.isFactoryVerified?.() ?? true,
    isFineElsewhere: () => isFineAt(config.baseUrl),
  });
  const { isReady } = health;
  const server = options.role === 'worker' ? null : createPublicServer(parts, { isLeaving, isReady });
  let adminPort = config.adminPort;
  // Closed in reverse: loops end and open deliveries finish while the API still answers, because a merchant who gets a
  // webhook requests the status at once.
  const running = await withCleanUp(async (cleanUp) => {
    cleanUp.add(parts.resolver, async (resolver) => resolver.close());
    await health.check();
    cleanUp.add({ stopChecking: health.start() }, async ({ stopChecking }) => stopChecking());
    if (server !== null) {
      cleanUp.add(server, async (opened) => {
        await drain;
        await opened.close();
      });
      await listenOn(server, { host: config.host, port: config.port }, 'PORT');
    }
    const adminServer = cleanUp.add(createAdminServer(parts, isReady), (opened) => opened.close());
    await listenOn(adminServer, { host: config.adminHost, port: config.adminPort }, 'ADMIN_PORT');
    adminPort = portOf(adminServer.server);
    cleanUp.add(await startControl(parts), closed);
    cleanUp.add({ warned: warnOfMissingSecrets(parts) }, ({ warned }) => warned);
    if (options.role !== 'api') {
      cleanUp.add(await startWork(parts, delivererOf(parts)), (work) => work.stop());
    }
  });

  return {
    port: server === null ? config.port : portOf(server.server),
    adminPort,
    /** Completes requests in progress. The store and the external services are closed by their opener. */
    async stop(): Promise<void> {
      drain = server === null ? Promise.resolve() : waitForDrain(options.drainDelayMs);
      log.info('stopping');
      await running.stop();
    },
  };
}

/** Runs beside the first requests, because it reads all payments that may be open. */
async function warnOfMissingSecrets({
  config,
  secretKey,
  store,
  requestContext,
  log,
}: ServiceParts): Promise<void> {
  const { tokens, nowMs, expiryMs } = requestContext;
  const secondFactors = createSecretBox(SECOND_FACTOR, secretKey, config.previousSecretKeys);
  try {
    const secrets = await readSecretsInUse(store, nowMs() - expiryMs);
    const missing = describeMissingSecrets(secrets, { tokens, secondFactors });
    if (missing !== null) log.warn(missing);
  } catch (error) {
    log.warn({ err: error }, 'the secrets of open payments could not be read');
  }
}

async function warnOfProvidersOff({ requestContext, log }: ServiceParts): Promise<void> {
  const off = await switchOnProved(requestContext, operatorActor);
  if (off.length > 0) log.warn(describeOffByDefault(off));
}

/** Listens, or throws an error with the variable to change. */
export async function listenOn(
  server: FastifyInstance,
  { host, port }: { readonly host: string; readonly port: number },
  variable: 'PORT' | 'ADMIN_PORT',
): Promise<void> {
  const hint = variable === 'PORT' ? 'PORT' : 'ADMIN_PORT (PORT + 1 by default)';
  const inUse = (address: string, cause?: unknown) =>
    new Error(`port ${port} on ${address} is in use: stop the program that uses it, or change ${hint}`, {
      cause,
    });
  if (host === '127.0.0.1' && (await hasIpv6Listener(port))) throw inUse('::1');
  // Fastify does not know that the given server uses TLS.
  const scheme = server.server instanceof TlsServer ? 'https' : 'http';
  const listenTextResolver = (url: string) => `Server listening at ${url.replace(/^http(?=:)/, scheme)}`;
  try {
    await server.listen({ host, port, listenTextResolver });
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'EADDRINUSE') throw inUse(host, cause);
    if (code === 'EACCES')
      throw new Error(`this user may not listen on port ${port}: change ${hint} to 1024 or above`, { cause });
    const fault = machineFaultOf(cause);
    if (fault !== null) throw new Error(`the service cannot listen on ${host}: ${fault}`, { cause });
    if (code === 'EAFNOSUPPORT') {
      const addresses = 'set HOST and ADMIN_HOST to IPv4 addresses';
      throw new Error(
        `the service cannot listen on ${host}, because this machine has no IPv6: ${addresses}`,
        {
          cause,
        },
      );
    }
    const hostVariable = variable === 'PORT' ? 'HOST' : 'ADMIN_HOST';
    const wayOut = `set ${hostVariable} to an address of this machine`;
    throw new Error(`the service cannot listen on ${host} (${code}): ${wayOut}`, { cause });
  }
}

/**
 * Whether another program listens on this port in IPv6, which browsers try first for `localhost`. macOS does not report
 * the port as in use, even when that program listens on every address.
 */
function hasIpv6Listener(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: '::1', port });
    const end = (isListening: boolean) => {
      socket.destroy();
      resolve(isListening);
    };
    socket.once('connect', () => end(true)).once('error', () => end(false));
  });
}

function startControl(parts: ServiceParts): Promise<Server> {
  const { config, external, requestContext } = parts;
  const { create, tokens, testPayments } = requestContext;
  return startControlServer(join(config.dataDir, CONTROL_SOCKET), {
    ...requestContext,
    providerDescriptions,
    rates: external.rates,
    chain: { ...external, reader: external.chain },
    adminBaseUrl: config.adminBaseUrl,
    direct: {
      create: (account, request) => createDirectPayment(create, account, request),
      createCheckout: (account, request) =>
        createPayment(create, account, {
          ...request,
          passFeeToCustomer: false,
          provider: MULTI_PROVIDER,
          idempotencyKey: null,
        }),
      ipnTokenOf: ({ id, tokenFingerprint }) => tokens.create(id, tokenFingerprint),
      token: requestContext.token,
      baseUrl: requestContext.baseUrl,
    },
    rescue: parts.rescue,
    sandboxOperations:
      testPayments === null ? null : (parts.additions?.createOperations(testPayments) ?? null),
  });
}

function delivererOf({ deliveryRulesOf, additions }: ServiceParts): DeliverWebhook {
  return (delivery) => {
    additions?.onDelivery(delivery);
    return deliverWebhook(deliveryRulesOf(delivery.url), delivery);
  };
}

function portOf(server: Pick<Server, 'address'>): number {
  return (server.address() as AddressInfo).port;
}

function closed(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

/** Step of the drain; between two steps all received requests are answered. */
const STEP_MS = 100;

/**
 * Waits for `drainDelayMs` in which health checks can be answered. After a stall (a slow disk, an overloaded machine) a
 * single timer would expire with the checks still unread that would have announced the stop; with steps, a stall costs
 * only one.
 */
export async function waitForDrain(
  drainDelayMs: number,
  wait: (waitMs: number) => Promise<unknown> = delay,
): Promise<void> {
  for (let leftMs = drainDelayMs; leftMs > 0; leftMs -= STEP_MS) await wait(Math.min(leftMs, STEP_MS));
}

/**
 * Refuses to start with a SECRET_KEY that replaced another one without SECRET_KEY_PREVIOUS: webhooks of earlier payments
 * could not be signed, and their single attempt would be lost. The newest payment's secret was the current one; null
 * without payments. Throws `ConfigError`.
 */
export function requireKnownSecret(newestFingerprint: string | null, tokens: Pick<IpnTokens, 'knows'>): void {
  if (newestFingerprint === null || tokens.knows(newestFingerprint)) return;
  throw new ConfigError([
    'SECRET_KEY differs from the key of the stored payments: restore that key, or add it to SECRET_KEY_PREVIOUS.',
  ]);
}

const CHECK_INTERVAL_MS = 2_000;
const READ_LIMIT_MS = 5_000;
/** Time without an answer from the database after which it counts as lost; longer than its restart takes. */
const LOST_AFTER_MS = 10_000;
/** Lifetime of another instance's answer. */
const ELSEWHERE_MS = 10_000;

interface HealthParts {
  readonly store: Readonly<{ observations: Pick<ObservationStore, 'readCursor'> }> & {
    readonly shared: unknown;
  };
  readonly clock: Clock;
  readonly metrics: Pick<Metrics, 'setScannedAt'>;
  readonly log: Pick<Log, 'error' | 'info'>;
  readonly isLeaving: () => boolean;
  /** Whether RPC endpoints confirm the deposit factory. */
  readonly isFactoryVerified?: () => boolean;
  /** Whether another instance reaches its database. */
  readonly isFineElsewhere: () => Promise<boolean>;
}

/**
 * Tracks this process's health. Reads the newest scanned block every two seconds, which shows whether the database
 * answers and whether a worker scans, in this or another process.
 *
 * A lost database only takes an instance out while another one reaches its own. Otherwise an outage of the shared
 * database would take out all of them, and callers would get the proxy's error instead of ours.
 */
export function createHealth(parts: HealthParts) {
  const { store, clock, metrics, log, isLeaving, isFactoryVerified, isFineElsewhere } = parts;
  let answeredAtMs = clock.monotonicMs();
  let fineElsewhereAtMs = Number.NEGATIVE_INFINITY;
  let scannedAtMs: number | null = null;
  let isLost = false;
  let isChecking = false;

  async function check(): Promise<void> {
    try {
      const late = () => new Error(`the database did not answer within ${READ_LIMIT_MS / 1000} s`);
      const cursor = await within(READ_LIMIT_MS, store.observations.readCursor(), late);
      answeredAtMs = clock.monotonicMs();
      scannedAtMs = cursor?.timestampMs ?? null;
      metrics.setScannedAt(scannedAtMs);
      if (isLost) log.info('the database answers again');
      isLost = false;
    } catch (error) {
      if (clock.monotonicMs() - answeredAtMs < LOST_AFTER_MS) return;
      if (!isLost) log.error({ err: error }, 'the database has not answered for ten seconds');
      isLost = true;
      // Asked only after this instance reports the loss, so that the last instance to notice hears it from all others.
      if (store.shared !== null && (await isFineElsewhere())) fineElsewhereAtMs = clock.monotonicMs();
    }
  }

  const scannedAgeMs = () => (scannedAtMs === null ? null : Math.max(0, clock.nowMs() - scannedAtMs));
  return {
    check,
    /** Repeats the check until the returned function is called. */
    start(): () => void {
      const timer = setInterval(() => {
        if (isChecking) return;
        isChecking = true;
        void check().finally(() => {
          isChecking = false;
        });
      }, CHECK_INTERVAL_MS);
      timer.unref();
      return () => clearInterval(timer);
    },
    isReady(): Readiness {
      if (isLeaving()) return { ready: false, reason: 'it is shutting down' };
      if (!canOpenFile()) return { ready: false, reason: 'it cannot open more files' };
      if (isLost && clock.monotonicMs() - fineElsewhereAtMs < ELSEWHERE_MS)
        return { ready: false, reason: 'it has lost its database, which another instance reaches' };
      const ageMs = scannedAgeMs();
      const degraded: Degradation[] = [];
      if (isLost) degraded.push('database_lost');
      if (ageMs !== null && ageMs > LATE_SCAN_MS) degraded.push('scan_late');
      if (isFactoryVerified?.() === false) degraded.push('factory_unverified');
      return { ready: true, degraded, scannedAgeMs: ageMs };
    },
  };
}

const ELSEWHERE_LIMIT_MS = 2_000;

/** Whether the instance at the public address reaches its database. */
export async function isFineAt(baseUrl: string): Promise<boolean> {
  try {
    const response = await fetch(`${baseUrl}/health/ready`, {
      redirect: 'error',
      cache: 'no-store',
      signal: AbortSignal.timeout(ELSEWHERE_LIMIT_MS),
    });
    const { status, degraded = [] } = (await response.json()) as { status?: unknown; degraded?: unknown };
    return status === 'ready' && Array.isArray(degraded) && !degraded.includes('database_lost');
  } catch {
    return false;
  }
}
