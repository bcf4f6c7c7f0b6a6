import { closeSync, openSync, readFileSync } from 'node:fs';
import type { FastifyInstance } from 'fastify';
import { relyingPartyOf } from '../accounts/person.ts';
import { createApiRateLimiters } from '../api/api-rate-limits.ts';
import { registerMerchantApi } from '../api/merchant/merchant-routes.ts';
import { registerOpenApi } from '../api/openapi/create-openapi-document.ts';
import { registerApi } from '../api/payment-routes.ts';
import { registerProviderWebhooks } from '../api/provider-webhooks.ts';
import { createOpenedRecorder } from '../pages/checkout/record-opened.ts';
import { registerCheckoutPages } from '../pages/checkout/routes.ts';
import { registerDashboard } from '../pages/dashboard/routes.ts';
import { registerDocs } from '../pages/docs/register-docs.ts';
import type { OperatorContext } from '../pages/operator/operator-page.ts';
import { refuseForeignHosts, registerOperatorConsole } from '../pages/operator/routes.ts';
import { registerViewedDashboard } from '../pages/operator/viewing-pages.ts';
import { currencies } from '../payment/money.ts';
import { createKeyedHash } from '../platform/keyed-hash.ts';
import { providerDescriptions } from '../providers/adapters/providers.ts';
import { languageOf } from '../web/checkout-layout/languages.ts';
import { sendUnknownPage } from '../web/checkout-layout/layout.ts';
import { hstsOf } from '../web/error-reply.ts';
import { createPageLimits } from '../web/rate-windows.ts';
import { createPeerCheck, requireForwardedHttps, requireHttps } from '../web/require-https.ts';
import { createBaseServer } from '../web/server.ts';
import { type Readiness, registerHealth, registerWellKnown } from '../web/well-known.ts';
import { apiDescription, checkoutFeatures, dashboardFeatures, merchantFeatures } from './features.ts';
import { createDashboardContext, type ServiceParts } from './service-parts.ts';

export function createPublicServer(
  parts: ServiceParts,
  { leaving, isReady }: { readonly leaving: AbortSignal; readonly isReady: () => Readiness },
): FastifyInstance {
  const { config, store, external, clock, requestContext } = parts;
  const server = createBaseServer({
    logger: parts.log,
    trustProxy: config.trustProxy,
    tls:
      config.tls === null
        ? null
        : { cert: readFileSync(config.tls.certFile, 'utf8'), key: readFileSync(config.tls.keyFile, 'utf8') },
    hsts: hstsOf(config.baseUrl, config),
    observe: parts.metrics.observeRequest,
    leaving,
    limits: { connections: connectionsWithin(readOpenFilesLimit()) },
    sendNotFoundPage: (request, reply) => sendUnknownPage(requestContext, languageOf(request), reply),
  });
  const isTrusted = createPeerCheck(config.trustProxy);
  // Without TLS, live mode serves only trusted peers and health checks. Test mode serves one machine.
  if (config.tls === null && !requestContext.isTestMode) requireHttps(server, isTrusted);
  requireForwardedHttps(server, { isTrusted, baseUrl: config.baseUrl });
  // Counts requests in the store if several processes share it.
  const limits = createApiRateLimiters(config.rateLimits, clock.monotonicMs, store.shared?.createRateLimiter);
  registerApi(server, { ...requestContext, limits });
  openCustomerPages(server, parts);
  const dashboard = createDashboardContext(parts);
  registerMerchantApi(server, { ...requestContext, limits }, merchantFeatures(requestContext, dashboard));
  registerDashboard(server, dashboard, dashboardFeatures(requestContext));
  registerProviderWebhooks(server, {
    ...requestContext,
    adapters: requestContext.directory.adapters,
    usdc: requestContext.token,
    observe: (provider, outcome) => parts.metrics.providerWebhooks.inc({ provider, outcome }),
  });
  keepProvidersCurrent(server, parts);
  registerOpenApi(server, config, apiDescription);
  registerDocs(server, {
    baseUrl: config.baseUrl,
    description: apiDescription,
    isTestMode: requestContext.isTestMode,
    links: parts.additions?.startLinks ?? [],
    limiter: createPageLimits(clock.monotonicMs).pages,
  });
  registerHealth(server, isReady);
  registerWellKnown(server, external.settlements);
  return server;
}

/** Creates the server for metrics, health and, except in a worker, the console. It never uses the public port. */
export function createAdminServer(parts: ServiceParts, isReady: () => Readiness): FastifyInstance {
  const { config, log, metrics, role } = parts;
  const server = createBaseServer({
    logger: log,
    trustProxy: config.trustProxy,
    hsts: hstsOf(config.adminBaseUrl, config),
  });
  requireForwardedHttps(server, {
    isTrusted: createPeerCheck(config.trustProxy),
    baseUrl: config.adminBaseUrl,
  });
  refuseForeignHosts(server, config.adminBaseUrl);
  server.get('/metrics', async (_request, reply) =>
    reply.type(metrics.registry.contentType).send(await metrics.registry.metrics()),
  );
  registerHealth(server, isReady);
  if (role !== 'worker') openConsole(server, parts);
  return server;
}

function openConsole(server: FastifyInstance, parts: ServiceParts): void {
  const { config, external, requestContext } = parts;
  const dashboard = createDashboardContext(parts);
  const context: OperatorContext = {
    ...requestContext,
    ...dashboard,
    providerDescriptions,
    chain: external.chain,
    relayers: external.relayers,
    rescue: parts.rescue,
    baseUrl: config.adminBaseUrl,
    party: relyingPartyOf(config.baseUrl, config.adminBaseUrl),
    publicUrl: config.baseUrl,
    // Test mode serves one machine, but its requests may arrive through a network bridge, so all peers are trusted.
    isTrustedPeer: requestContext.isTestMode ? () => true : createPeerCheck(config.trustProxy),
  };
  registerOperatorConsole(server, context);
  registerViewedDashboard(server, context, dashboard, dashboardFeatures(requestContext));
}

/** Interval at which outdated limits are reread and the success of providers is estimated again. */
const PROVIDERS_INTERVAL_MS = 60_000;

/** Rereads catalogs and success rates in the background, so that no create request and no page waits for them. */
function keepProvidersCurrent(
  server: FastifyInstance,
  { requestContext: { directory }, refreshSuccess, log }: ServiceParts,
): void {
  const refresh = () => {
    refreshSuccess().catch((err: unknown) => log.warn({ err }, 'the success of providers was not estimated'));
    for (const provider of directory.adapters.keys())
      for (const currency of currencies) directory.limits?.refresh(provider, currency, null);
  };
  let timer: NodeJS.Timeout | undefined;
  server.addHook('onListen', async () => {
    refresh();
    timer = setInterval(refresh, PROVIDERS_INTERVAL_MS);
    timer.unref();
  });
  server.addHook('onClose', async () => clearInterval(timer));
}

function openCustomerPages(server: FastifyInstance, parts: ServiceParts): void {
  const { config, clock, requestContext } = parts;
  const { record: recordOpened, flush } = createOpenedRecorder({
    ...requestContext,
    onFailure: (err) => server.log.error({ err }, 'opened checkouts could not be recorded'),
  });
  server.addHook('onClose', flush);
  registerCheckoutPages(
    server,
    {
      ...requestContext,
      recordOpened,
      limits: createPageLimits(clock.monotonicMs),
      emailHash: createKeyedHash('email of a checkout', parts.secretKey, config.previousSecretKeys),
      countryHeader: config.countryHeader,
    },
    checkoutFeatures(requestContext),
  );
  parts.additions?.registerPages(server, requestContext);
}

/** Maximum connections, even if the system allows more. */
const MAXIMUM_CONNECTIONS = 16_000;
/** Files reserved for the service itself: deliveries, the database, the chain and others. */
const OWN_FILES = 4_000;
/** Common open-file limit, assumed if the system reports none. */
const USUAL_LIMIT = 1_024;

export function readOpenFilesLimit(): number {
  // Excludes the network, because the report would otherwise resolve the names of all connected peers.
  Object.assign(process.report, { excludeNetwork: true });
  const { userLimits } = process.report.getReport() as {
    readonly userLimits?: { readonly open_files?: { readonly soft?: number | string } };
  };
  const limit = userLimits?.open_files?.soft ?? USUAL_LIMIT;
  return limit === 'unlimited' ? Number.POSITIVE_INFINITY : Number(limit);
}

export function canOpenFile(): boolean {
  try {
    closeSync(openSync(process.execPath, 'r'));
  } catch (error) {
    return !/^E[MN]FILE$/.test((error as NodeJS.ErrnoException).code ?? '');
  }
  return true;
}

/** Returns the maximum connections. Some files stay free, because a webhook without a socket fails permanently. */
export function connectionsWithin(openFiles: number): number {
  return Math.min(MAXIMUM_CONNECTIONS, Math.max(openFiles - OWN_FILES, Math.floor(openFiles / 4)));
}
