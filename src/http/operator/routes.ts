import type { FastifyInstance } from 'fastify';
import { ServiceError } from '../../domain/errors.ts';
import { acceptForms } from '../dashboard/accept-forms.ts';
import { createCookies } from '../dashboard/cookies.ts';
import { registerNewBrowserPages } from '../dashboard/new-browser-pages.ts';
import { registerSecondFactorPages } from '../dashboard/second-factor-pages.ts';
import { registerSignInPages } from '../dashboard/sign-in-pages.ts';
import { registerAccountPage } from './account-page.ts';
import { registerKeyRevocation } from './account-people.ts';
import { registerAccountsPage } from './accounts-page.ts';
import { registerAuditPage } from './audit-page.ts';
import type { OperatorContext, OperatorRoutes } from './context.ts';
import { enter } from './enter.ts';
import { registerNewAccountPage } from './new-account-page.ts';
import { OPERATOR_PATH, operatorArea } from './operator-area.ts';
import { operatorPage, seeOther, sendOperatorFailure } from './operator-page.ts';
import { registerPaymentPage } from './payment-page.ts';
import { registerProviderPages } from './providers-page.ts';
import { requireAdmission } from './require-admission.ts';
import { registerSetUpPages } from './set-up-pages.ts';
import { registerSettlementPage } from './settlement-page.ts';
import { registerViewing } from './viewing-pages.ts';
import { registerWebhooksPage } from './webhooks-page.ts';

/** Registers the operator's console below `/operator`, on the admin server. */
export function registerOperatorConsole(server: FastifyInstance, context: OperatorContext): void {
  server.register(
    (scope, _options, done) => {
      const cookies = createCookies(context.baseUrl, 'card_checkout_operator');
      const routes: OperatorRoutes = {
        ...{ server: scope, context, cookies, area: operatorArea },
        isSecondFactorRequired: !context.isSandbox,
      };
      acceptForms(scope);
      scope.addHook('onRequest', (request) => requireAdmission(context, request));
      scope.setErrorHandler((error, request, reply) =>
        sendOperatorFailure(routes, request, reply, null, error),
      );
      registerSignInPages(routes);
      registerSecondFactorPages(routes);
      registerSetUpPages(routes);
      if (context.mailer !== null) registerNewBrowserPages(routes, context.mailer);
      registerAccountsPage(routes);
      registerNewAccountPage(routes);
      registerAccountPage(routes);
      registerKeyRevocation(routes);
      registerViewing(routes);
      registerProviderPages(routes);
      registerSettlementPage(routes);
      registerPaymentPage(routes);
      registerWebhooksPage(routes);
      registerAuditPage(routes);
      registerNothing(routes);
      done();
    },
    { prefix: OPERATOR_PATH },
  );
}

/** Every other path: who is signed in is told that there is nothing, and nobody else is told anything. */
function registerNothing(routes: OperatorRoutes): void {
  operatorPage(routes, { path: '', section: null, show: async () => seeOther('/accounts') });
  routes.server.get('/*', async (request, reply) => {
    const entry = await enter(routes, request, reply);
    if ('answered' in entry) return entry.answered;
    const within = { visit: entry.visit, section: null };
    return sendOperatorFailure(routes, request, reply, within, new ServiceError('not_found'));
  });
}
