import type { FastifyInstance } from 'fastify';
import { chooseAccount } from '../../accounts/manage-accounts.ts';
import { enforceRateLimitFrom } from '../../web/rate-windows.ts';
import {
  createCookies,
  DASHBOARD_PATH,
  type DashboardContext,
  dashboardArea,
} from '../../web/signed-in/context.ts';
import { acceptForms, requireTextUrl } from '../../web/signed-in/forms.ts';
import { sendSeeOther } from '../../web/signed-in/layout.ts';
import { registerNewBrowserPages } from '../../web/signed-in/new-browser-pages.ts';
import { admit, dashboardRoutesOf, registerNothing, seeOther } from '../../web/signed-in/pages.ts';
import { registerPasswordLinkPages } from '../../web/signed-in/password-link-pages.ts';
import { registerSecondFactorPages } from '../../web/signed-in/second-factor-pages.ts';
import { registerSignInPages } from '../../web/signed-in/sign-in-pages.ts';
import { registerAuditPage } from './audit-page.ts';
import { registerCustomerPage } from './customer-page.ts';
import { registerEndpointCheckPage } from './endpoint-check-page.ts';
import type { DashboardFeatures } from './features.ts';
import { registerHomePages } from './home-page.ts';
import { registerKeyPages } from './key-pages.ts';
import { registerForgottenPages, registerInvitationPages } from './one-time-link-pages.ts';
import { registerPayments } from './payment-routes.ts';
import { registerPeoplePages } from './people-pages.ts';
import { registerSecurityPages } from './security-pages.ts';
import { registerSettingsPages } from './settings-pages.ts';
import { registerStatementPages } from './statement-page.ts';

/** Registers the dashboard under `/dashboard`, in a scope with forms and error pages (`signed-in/pages.ts`). */
export function registerDashboard(
  server: FastifyInstance,
  context: DashboardContext,
  features: DashboardFeatures,
): void {
  // Redirects the URL that shops link to, to a path to which sign-in can return (`returnPathOf`).
  server.get('/connect', { exposeHeadRoute: true }, (request, reply) => {
    const query = String(new URL(request.url, context.baseUrl).searchParams).replaceAll('*', '%2A');
    return sendSeeOther(reply, `${DASHBOARD_PATH}/connect?${query}`);
  });
  server.register(
    (scope, _options, done) => {
      const cookies = createCookies(context.baseUrl, 'card_checkout');
      const area = { area: dashboardArea, isSecondFactorRequired: false };
      const routes = dashboardRoutesOf({ server: scope, context, cookies, ...area }, admit);
      acceptForms(scope);
      scope.addHook('onRequest', async (request) => {
        await enforceRateLimitFrom(context.limits.requests, request.ip);
        requireTextUrl(request.url);
      });

      registerSignInPages(routes);
      registerSecondFactorPages(routes);
      registerPasswordLinkPages(routes);
      registerHomePages(routes, features);
      registerKeyPages(routes);
      registerEndpointCheckPage(routes);
      registerPeoplePages(routes);
      registerInvitationPages(routes);
      registerAuditPage(routes);
      routes.pages(null, 'viewer').form('/account', async (visit, form) => {
        await chooseAccount(visit.context, visit, form.text('account'), visit.actor);
        return seeOther('');
      });
      registerSettingsPages(routes);
      registerCustomerPage(routes);
      if (context.mailer !== null) {
        registerForgottenPages(routes, context.mailer);
        registerNewBrowserPages(routes, context.mailer);
      }
      registerPayments(routes, features);
      registerStatementPages(routes);
      for (const register of features.pages) register(routes);
      registerSecurityPages(routes);
      registerNothing(routes, routes.pages(null, 'viewer'), DASHBOARD_PATH);
      done();
    },
    { prefix: DASHBOARD_PATH },
  );
}
