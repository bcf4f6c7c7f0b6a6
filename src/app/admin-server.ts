import type { FastifyInstance } from 'fastify';
import { relyingPartyOf } from '../accounts/person.ts';
import type { OperatorContext } from '../pages/operator/operator-page.ts';
import { refuseForeignHosts, registerOperatorConsole } from '../pages/operator/routes.ts';
import { registerViewedDashboard } from '../pages/operator/viewing-pages.ts';
import { requiredVariables } from '../providers/adapters/providers.ts';
import { hstsOf } from '../web/error-reply.ts';
import { createPeerCheck, requireForwardedHttps } from '../web/require-https.ts';
import { createBaseServer } from '../web/server.ts';
import { type Readiness, registerHealth } from '../web/well-known.ts';
import { dashboardFeatures } from './features.ts';
import { createDashboardContext, type ServiceParts } from './service-parts.ts';

/** The server for metrics, health and, except in a worker, the operator's console. Never on the public port. */
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
  registerHealth(server, { isReady });
  if (role !== 'worker') openConsole(server, parts);
  return server;
}

function openConsole(server: FastifyInstance, parts: ServiceParts): void {
  const { config, external, requestContext } = parts;
  const dashboard = createDashboardContext(parts);
  const context: OperatorContext = {
    ...requestContext,
    ...dashboard,
    requiredVariables,
    chain: external.chain,
    relayers: external.relayers,
    rescue: parts.rescue,
    baseUrl: config.adminBaseUrl,
    party: relyingPartyOf(config.baseUrl, config.adminBaseUrl),
    publicUrl: config.baseUrl,
    // Test mode serves one machine, and requests from it may arrive through a bridge.
    isTrustedPeer: parts.isTestMode ? () => true : createPeerCheck(config.trustProxy),
  };
  registerOperatorConsole(server, context);
  registerViewedDashboard(server, context, dashboard, dashboardFeatures(requestContext));
}
