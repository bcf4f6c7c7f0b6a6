import type { FastifyInstance } from 'fastify';
import { ServiceError } from '../../domain/errors.ts';
import { addressGroupOf } from '../address-group.ts';
import { requirePassing } from '../rate-limit.ts';
import { acceptForms } from './accept-forms.ts';
import { dashboardArea } from './area.ts';
import { registerAuditPage } from './audit-page.ts';
import type { DashboardContext, DashboardRoutes } from './context.ts';
import { createCookies } from './cookies.ts';
import { enter } from './enter.ts';
import { sendFailure } from './failure-page.ts';
import { registerForgottenPages } from './forgotten-pages.ts';
import { requireTextUrl } from './form-fields.ts';
import { registerInvitationPages } from './invitation-pages.ts';
import { registerKeyPages } from './key-pages.ts';
import { registerLinkPages } from './links/link-pages.ts';
import { registerNewBrowserPages } from './new-browser-pages.ts';
import { registerOverviewPage } from './overview-page.ts';
import { registerPasswordLinkPages } from './password-link-pages.ts';
import { registerPaymentPages } from './payments/register-payment-pages.ts';
import { registerPeoplePages } from './people-pages.ts';
import { registerSecondFactorPages } from './second-factor-pages.ts';
import { DASHBOARD_PATH, type Section } from './sections.ts';
import { registerSecurityPages } from './security-pages.ts';
import { registerSessionPages } from './session-pages.ts';
import { registerSettingsPages } from './settings-pages.ts';
import { registerSignInPages } from './sign-in-pages.ts';
import { registerAccountSwitcher } from './switch-account.ts';

/**
 * Registers the merchants' dashboard below `/dashboard`, in a scope of its own: it alone takes forms, and its errors are
 * pages. `dashboard-page.ts` says how a page joins it.
 */
export function registerDashboard(server: FastifyInstance, context: DashboardContext): void {
  server.register(
    (scope, _options, done) => {
      const cookies = createCookies(context.baseUrl, 'card_checkout');
      const members = {
        ...{ server: scope, context, cookies, shown: new Set<Section>() },
        ...{ area: dashboardArea, isSecondFactorRequired: false },
      };
      const routes: DashboardRoutes = {
        ...members,
        enter: (request, reply) => enter(members, request, reply),
      };
      acceptForms(scope);
      scope.addHook('onRequest', async (request) => {
        await requirePassing(context.limits.requests, addressGroupOf(request.ip));
        requireTextUrl(request.url);
      });
      scope.setErrorHandler((error, request, reply) =>
        sendFailure(routes, null, request, reply, null, error),
      );

      registerSignInPages(routes);
      registerSecondFactorPages(routes);
      registerPasswordLinkPages(routes);
      registerOverviewPage(routes);
      registerKeyPages(routes);
      registerPeoplePages(routes);
      registerInvitationPages(routes);
      registerAuditPage(routes);
      registerAccountSwitcher(routes);
      registerSettingsPages(routes);
      if (context.mailer !== null) {
        registerForgottenPages(routes, context.mailer);
        registerNewBrowserPages(routes, context.mailer);
      }
      registerPaymentPages(routes);
      registerLinkPages(routes);
      registerSessionPages(routes);
      registerSecurityPages(routes);
      registerNothing(routes);
      done();
    },
    { prefix: DASHBOARD_PATH },
  );
}

/** Every other path: who is signed in is told that there is nothing, and nobody else is told anything. */
function registerNothing(routes: DashboardRoutes): void {
  routes.server.get('/*', async (request, reply) => {
    const entry = await routes.enter(request, reply);
    if ('answered' in entry) return entry.answered;
    return sendFailure(routes, null, request, reply, entry.visit, new ServiceError('not_found'));
  });
}
