import type { FastifyInstance, FastifyReply } from 'fastify';
import { viewAccount } from '../../accounts/manage-accounts.ts';
import { html } from '../../web/design/html.ts';
import {
  type Admission,
  type AreaRequest,
  DASHBOARD_PATH,
  type DashboardContext,
  type Visit,
} from '../../web/signed-in/context.ts';
import { sendPlainPage, sendSeeOther } from '../../web/signed-in/layout.ts';
import { dashboardRoutesOf, readOwnSession, registerNothing, seeOther } from '../../web/signed-in/pages.ts';
import type { DashboardFeatures } from '../dashboard/features.ts';
import { registerHomePages } from '../dashboard/home-page.ts';
import { registerPayments } from '../dashboard/payment-routes.ts';
import {
  admit,
  OPERATOR_PATH,
  type OperatorContext,
  type OperatorRoutes,
  operatorRoutesOf,
  requireAdmission,
} from './operator-page.ts';

export function registerViewing(routes: OperatorRoutes): void {
  const pages = routes.pages('accounts');
  pages.form(
    '/accounts/:accountId/view',
    async ({ context, cookies, user, actor, session, params, reply }) => {
      const caller = { address: actor.address ?? '', userAgent: session.userAgent };
      const token = await viewAccount(context, user, params['accountId'] ?? '', caller);
      cookies.set(reply, 'viewing', token);
      return sendSeeOther(reply, DASHBOARD_PATH);
    },
  );
  pages.form('/stop-viewing', async (visit) => {
    const viewing = await readOwnSession(visit, 'viewing');
    visit.cookies.remove(visit.reply, 'viewing');
    if (viewing === null) return seeOther('/accounts');
    await visit.context.sessions.endSession(visit.user.id, viewing.session.id);
    return seeOther(`/accounts/${viewing.session.accountId}`);
  });
}

/** Registers the dashboard for an operator's read-only view of an account, which ends with the console's session. */
export function registerViewedDashboard(
  server: FastifyInstance,
  operator: OperatorContext,
  context: DashboardContext,
  features: DashboardFeatures,
): void {
  server.register(
    (scope, _options, done) => {
      const routes = dashboardRoutesOf(
        { ...operatorRoutesOf(scope, operator, async () => 0), context },
        admitViewing,
      );
      scope.addHook('onRequest', async (request, reply) => {
        await requireAdmission(operator, request);
        if (request.method !== 'GET' && request.method !== 'HEAD') return sendReadOnly(operator, reply);
      });
      registerHomePages(routes, features);
      registerPayments(routes, features);
      registerNothing(routes, routes.pages(null, 'viewer'), DASHBOARD_PATH);
      scope.post('/*', async (_request, reply) => sendReadOnly(operator, reply));
      done();
    },
    { prefix: DASHBOARD_PATH },
  );
}

async function admitViewing(asked: AreaRequest<DashboardContext>): Promise<Admission<Visit>> {
  const admission = await admit(asked);
  if ('answered' in admission) return admission;
  const { context, cookies, request, reply } = asked;
  const viewing = await readOwnSession(asked, 'viewing');
  const isOwn = viewing?.user.id === admission.visit.user.id;
  const account = isOwn ? await context.accounts.findAccount(viewing.session.accountId ?? '') : null;
  if (viewing === null || account === null) {
    if (cookies.read(request.headers, 'viewing') !== null) cookies.remove(reply, 'viewing');
    return { answered: sendSeeOther(reply, `${OPERATOR_PATH}/accounts`) };
  }
  return {
    visit: {
      ...admission.visit,
      session: viewing.session,
      account,
      role: 'viewer',
      otherAccounts: [],
      timeZone: account.timeZone,
      viewing: { untilMs: viewing.session.expiresAtMs, stopPath: `${OPERATOR_PATH}/stop-viewing` },
    },
  };
}

function sendReadOnly(context: OperatorContext, reply: FastifyReply): FastifyReply {
  const main = html`<p>You are viewing this account as an operator. You can read everything, but change nothing.</p>
<p><a class="button" href="${DASHBOARD_PATH}">Back to the account</a></p>`;
  return sendPlainPage({ context, reply }, 403, { title: 'Nothing was changed', main });
}
