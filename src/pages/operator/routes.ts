import { isIP } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { ServiceError } from '../../payment/errors.ts';
import { isLoopbackHost } from '../../platform/public-address.ts';
import { createTtlCache } from '../../platform/ttl-cache.ts';
import { isHealthCheck } from '../../web/require-https.ts';
import { acceptForms } from '../../web/signed-in/forms.ts';
import { registerNewBrowserPages } from '../../web/signed-in/new-browser-pages.ts';
import { registerNothing } from '../../web/signed-in/pages.ts';
import { registerPasswordLinkPages } from '../../web/signed-in/password-link-pages.ts';
import { registerSecondFactorPages, registerSetUpPages } from '../../web/signed-in/second-factor-pages.ts';
import { registerSignInPages } from '../../web/signed-in/sign-in-pages.ts';
import { registerAccountPage } from './account-page.ts';
import { registerAccountsPages } from './accounts-page.ts';
import { registerAuditPage } from './audit-page.ts';
import { readSituation, type Situation } from './incidents.ts';
import { OPERATOR_PATH, type OperatorContext, operatorRoutesOf, requireAdmission } from './operator-page.ts';
import { registerOverviewPage } from './overview-page.ts';
import { registerPaymentDetail } from './payment-detail.ts';
import { registerProviderPages } from './providers-page.ts';
import { registerSettlementPage } from './settlement-page.ts';
import { registerViewing } from './viewing-pages.ts';
import { registerWebhooksPage } from './webhooks-page.ts';

/** Maximum age of cached incidents, because reading an unresponsive endpoint takes seconds. */
const SITUATION_MS = 5_000;

export function registerOperatorConsole(server: FastifyInstance, context: OperatorContext): void {
  server.get('/', (_request, reply) => reply.redirect(OPERATOR_PATH, 302));
  server.register(
    (scope, _options, done) => {
      const cache = createTtlCache<Situation>({ ...context, keepMs: SITUATION_MS, maximumEntries: 1 });
      const read = () => cache.fetchOrReuse('', () => readSituation(context));
      const routes = operatorRoutesOf(scope, context, async () => (await read()).incidents.length);
      acceptForms(scope);
      scope.addHook('onRequest', (request) => requireAdmission(context, request));
      registerSignInPages(routes);
      registerSecondFactorPages(routes);
      registerPasswordLinkPages(routes);
      registerSetUpPages(routes);
      if (context.mailer !== null) registerNewBrowserPages(routes, context.mailer);
      registerOverviewPage(routes, read);
      registerAccountsPages(routes);
      registerAccountPage(routes);
      registerViewing(routes);
      registerProviderPages(routes);
      registerSettlementPage(routes);
      registerPaymentDetail(routes);
      registerWebhooksPage(routes);
      registerAuditPage(routes);
      registerNothing(routes, routes.pages(null), OPERATOR_PATH);
      done();
    },
    { prefix: OPERATOR_PATH },
  );
}

/** Host names that public DNS cannot resolve, such as those in Docker Compose. */
const internalName = /^[a-z0-9_-]+$|\.(?:internal|local|localhost|svc|test)$/;

/**
 * Refuses unknown host names. Another site could resolve its name to this server and read the responses (DNS
 * rebinding). Call it before routes are registered.
 */
export function refuseForeignHosts(server: FastifyInstance, baseUrl: string): void {
  const ownName = new URL(baseUrl).hostname;
  server.addHook('onRequest', async (request) => {
    // Probes may send any host name, and the response contains no secrets.
    if (isHealthCheck(request)) return;
    const { host } = request.raw.headers;
    // Admits callers without a Host header, because every browser sends one.
    if (host === undefined) return;
    const name = nameIn(host);
    if (name === ownName || isLoopbackHost(name) || isIP(name.replace(/^\[|\]$/g, '')) !== 0) return;
    if (request.routeOptions.url === '/metrics' && internalName.test(name)) return;
    throw new ServiceError('invalid_request', 'The Host header does not match an address of this server.');
  });
}

/** Returns the name in `name:port` as browsers write it; empty if invalid. */
function nameIn(host: string): string {
  return /[/?#@\\]/.test(host) || !URL.canParse(`http://${host}`) ? '' : new URL(`http://${host}`).hostname;
}
