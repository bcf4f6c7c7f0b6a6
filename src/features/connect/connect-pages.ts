import { keyScopes, roleForScopes, scopeLabels } from '../../accounts/api-key.ts';
import { MAXIMUM_ACTIVE_KEYS } from '../../accounts/api-keys.ts';
import { roleIncludes } from '../../accounts/person.ts';
import { confirmedForm, requirePasswordAndFactor } from '../../pages/dashboard/security-pages.ts';
import { ServiceError } from '../../payment/errors.ts';
import { html } from '../../web/design/html.ts';
import { DASHBOARD_PATH, type Visit } from '../../web/signed-in/context.ts';
import type { DashboardRoutes, FormHandler, PageView } from '../../web/signed-in/pages.ts';
import { approveConnection, CONNECT_CODE_MS, callbackHostOf, parseConnectRequest } from './connect-shop.ts';

const CONNECT_PATH = `${DASHBOARD_PATH}/connect`;

/** Registers `/connect`, where a member approves a shop's request for an API key. Errors never redirect to the shop. */
export function registerConnectPages(routes: DashboardRoutes): void {
  const pages = routes.pages(null, 'developer');
  pages.page('/connect', showConnect);
  pages.form('/connect', approve, showConnect);
}

/** Parses the shop's request. Throws `role_too_small` for scopes that need an owner's approval. */
function requestOf({ query, role }: Visit) {
  const request = parseConnectRequest(query);
  if (!roleIncludes(role, roleForScopes(request.scopes))) throw new ServiceError('role_too_small');
  return request;
}

async function showConnect(visit: Visit): Promise<PageView> {
  const { name, returnUrl, scopes } = requestOf(visit);
  const { host, hostname } = new URL(returnUrl);
  const keys = await visit.context.accounts.listKeys(visit.account.id);
  if (keys.filter(({ revokedAtMs }) => revokedAtMs === null).length >= MAXIMUM_ACTIVE_KEYS)
    throw new ServiceError(
      'too_many_keys',
      `${visit.account.name} already has ${MAXIMUM_ACTIVE_KEYS} active keys. Revoke one under API keys, then start the connection in your shop again.`,
    );
  const form = await confirmedForm(visit, {
    action: `${CONNECT_PATH}?${visit.query}`,
    fields: {
      ...(callbackHostOf({ returnUrl }) === null
        ? {}
        : { any_host: { label: `Allow webhooks to other hosts than ${hostname}`, type: 'checkbox' } }),
    },
    button: 'Connect the shop',
    more: html`<a class="button" href="${DASHBOARD_PATH}">Cancel</a>`,
  });
  return {
    title: 'Connect a shop',
    main: html`<section class="card">
<p>A shop at <strong><bdi>${host}</bdi></strong> asks for an API key of <strong><bdi>${visit.account.name}</bdi></strong>.
It calls itself “<bdi>${name}</bdi>”.</p>
<p class="banner warn">Approve only if you have just started this in your own shop, and the address is your shop’s. Anyone can choose the name.</p>
<h2>The shop may</h2><ul>${keyScopes.filter((scope) => scopes.includes(scope)).map((scope) => html`<li>${scopeLabels[scope]}</li>`)}</ul>
<p>It cannot change your wallet or settings. You can revoke the key at any time.</p>
${form}</section>`,
  };
}

const approve: FormHandler = async (visit, form) => {
  const { context } = visit;
  const request = requestOf(visit);
  await requirePasswordAndFactor(visit, form, {});
  const back = await approveConnection(context, request, {
    account: visit.account,
    actor: { ...visit.actor, userId: visit.user.id },
    callbackHost: form.has('any_host') ? null : callbackHostOf(request),
  });
  // Uses Refresh, because the page's `form-action` policy would block a redirect to another host.
  visit.reply.header('refresh', `0; url=${back}`);
  return {
    title: 'Approved',
    main: html`<section class="card"><p>You return to <strong><bdi>${new URL(back).host}</bdi></strong> within ${CONNECT_CODE_MS / 1000} seconds.</p>
<div class="actions"><a class="button primary" href="${back}" rel="noreferrer">Return to the shop</a></div></section>`,
  };
};
