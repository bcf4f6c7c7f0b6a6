import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { hostname } from 'node:os';
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
import { machineFaultOf } from '../platform/machine-fault.ts';
import { isListening } from '../platform/outgoing-calls.ts';
import { createSecretBox } from '../platform/secret-box.ts';
import { openTracing, withSpans } from '../platform/tracing.ts';
import { providerDescriptions } from '../providers/adapters/providers.ts';
import { switchOnProved } from '../providers/change-provider.ts';
import { describeOffByDefault } from '../providers/provider-availability.ts';
import { createHealth } from './health.ts';
import { createAdminServer, createPublicServer } from './servers.ts';
import { assembleParts, type ServiceOptions, type ServiceParts } from './service-parts.ts';
import { withUndoSteps } from './undo-steps.ts';
import { startWork } from './worker.ts';

export type Service = Awaited<ReturnType<typeof startService>>;

/** Starts the service, with tracing if a collector is configured. */
export async function startService(options: ServiceOptions) {
  const { shared, featureRecords, ...groups } = options.store;
  const { tracesUrl } = options.config;
  if (tracesUrl === null) return startUntraced(options);
  const resource = { 'service.name': 'card-checkout', 'service.instance.id': hostname() };
  const tracing = await openTracing(tracesUrl, resource, (err) =>
    options.log.warn({ err }, 'the collector takes no traces; they are dropped'),
  );
  const store = { ...withSpans(groups, 'store'), shared, featureRecords };
  const service = await tracing.run(() => startUntraced({ ...options, store }));
  return { ...service, stop: () => service.stop().finally(tracing.stop) };
}

async function startUntraced(options: ServiceOptions) {
  const parts = assembleParts(options);
  const { config, log } = parts;
  requireKnownSecret(await readNewestSecret(parts.store), parts.requestContext.tokens);
  const off = parts.requestContext.isTestMode
    ? []
    : await switchOnProved(parts.requestContext, operatorActor);
  if (off.length > 0) log.warn(describeOffByDefault(off));

  let drain: Promise<void> | undefined;
  const leaving = new AbortController();
  const health = createHealth({ ...parts, leaving: leaving.signal });
  const { isReady } = health;
  const server =
    options.role === 'worker' ? null : createPublicServer(parts, { leaving: leaving.signal, isReady });
  let adminPort = config.adminPort;
  // Parts stop in reverse order. Tasks and open deliveries finish while the API still answers, because a merchant who
  // receives a webhook reads the status immediately.
  const running = await withUndoSteps(async (undoSteps) => {
    await health.check();
    undoSteps.add({ stopChecking: health.start() }, async ({ stopChecking }) => stopChecking());
    if (server !== null) {
      undoSteps.add(server, async (opened) => {
        await drain;
        await opened.close();
      });
      await listenOn(server, { host: config.host, port: config.port }, 'PORT');
    }
    const adminServer = undoSteps.add(createAdminServer(parts, isReady), (opened) => opened.close());
    await listenOn(adminServer, { host: config.adminHost, port: config.adminPort }, 'ADMIN_PORT');
    adminPort = portOf(adminServer.server);
    undoSteps.add(await startControl(parts), async (control) => {
      control.closeAllConnections();
      await control[Symbol.asyncDispose]();
    });
    undoSteps.add({ warned: warnOfMissingSecrets(parts) }, ({ warned }) => warned);
    if (options.role !== 'api') undoSteps.add(await startWork(parts), (work) => work.stop());
  });

  return {
    port: server === null ? config.port : portOf(server.server),
    adminPort,
    /** Completes requests in progress. The code that opened the store and the external services closes them. */
    async stop(): Promise<void> {
      leaving.abort();
      drain = server === null ? Promise.resolve() : delay(options.drainDelayMs);
      log.info('stopping');
      await running.stop();
    },
  };
}

/** Logs missing secrets. Runs in parallel with the first requests, because it reads all payments that may be open. */
async function warnOfMissingSecrets(parts: ServiceParts): Promise<void> {
  const { config, secretKey, store, requestContext, log } = parts;
  const { tokens, signingSecrets, nowMs, expiryMs } = requestContext;
  const secondFactors = createSecretBox(SECOND_FACTOR, secretKey, config.previousSecretKeys);
  try {
    const secrets = await readSecretsInUse(store, nowMs() - expiryMs);
    const missing = describeMissingSecrets(secrets, { tokens, secondFactors, signingSecrets });
    if (missing !== null) log.warn(missing);
  } catch (error) {
    log.warn({ err: error }, 'the secrets of open payments could not be read');
  }
}

/** Starts listening, or throws an error that names the variable to change. */
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
  // Browsers try IPv6 first for `localhost`, where macOS does not report the port as in use.
  if (host === '127.0.0.1' && (await isListening({ host: '::1', port }))) throw inUse('::1');
  // Fastify would log http, because it does not detect that the given server uses TLS.
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
    const wayOut =
      code === 'EAFNOSUPPORT'
        ? ', because this machine has no IPv6: set HOST and ADMIN_HOST to IPv4 addresses'
        : ` (${code}): set ${variable === 'PORT' ? 'HOST' : 'ADMIN_HOST'} to an address of this machine`;
    throw new Error(`the service cannot listen on ${host}${fault === null ? wayOut : `: ${fault}`}`, {
      cause,
    });
  }
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
    noteDrift: (provider, text) => {
      parts.metrics.providerDrift.set({ provider }, text === null ? 0 : 1);
      if (text !== null) parts.log.error({ provider }, text);
    },
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
      tokenFingerprint: create.tokenFingerprint,
    },
    rescue: parts.rescue,
    sandboxOperations:
      testPayments === null ? null : (parts.additions?.createOperations(testPayments) ?? null),
  });
}

function portOf(server: Pick<Server, 'address'>): number {
  return (server.address() as AddressInfo).port;
}

/** Throws `ConfigError` if no configured secret created the newest payment's token; null means no payments. */
export function requireKnownSecret(newestFingerprint: string | null, tokens: Pick<IpnTokens, 'knows'>): void {
  if (newestFingerprint === null || tokens.knows(newestFingerprint)) return;
  throw new ConfigError([
    'SECRET_KEY differs from the key of the stored payments: restore that key, or add it to SECRET_KEY_PREVIOUS.',
  ]);
}
