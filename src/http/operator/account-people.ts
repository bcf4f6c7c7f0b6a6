import { describeKey, findOwnKey, revokeOwnKey } from '../../accounts/manage-keys.ts';
import { recordAction } from '../../accounts/people-context.ts';
import type { Account, ApiKey } from '../../domain/account.ts';
import { MAXIMUM_ACTIVE_KEYS, maskApiKey } from '../../domain/api-key.ts';
import type { Member } from '../../domain/person.ts';
import { dataTable } from '../design/data-table.ts';
import { type Html, html } from '../design/html.ts';
import { formTokenField } from '../signed-in/forms.ts';
import { seeOther } from '../signed-in/signed-in-page.ts';
import {
  consoleTime,
  OPERATOR_PATH,
  type OperatorRoutes,
  type OperatorVisit,
  operatorPages,
} from './operator-page.ts';

/** `/operator/accounts/:accountId/keys/:keyId/revoke`: revokes a key after a confirmation. */
export function registerKeyRevocation(routes: OperatorRoutes): void {
  const pages = operatorPages(routes, 'accounts');
  const idsOf = ({ params }: OperatorVisit) => [params['accountId'] ?? '', params['keyId'] ?? ''] as const;
  pages.page('/accounts/:accountId/keys/:keyId/revoke', async (context, visit) => {
    const key = await findOwnKey(context, ...idsOf(visit));
    const account = `${OPERATOR_PATH}/accounts/${key.accountId}`;
    return {
      title: 'Revoke this key?',
      main: html`<form class="card" method="post" action="${account}/keys/${key.id}/revoke">${formTokenField(visit.formToken)}
<p><strong><bdi>${key.name}</bdi></strong> <code>${maskApiKey(key.lastCharacters)}</code></p>
<p>All further requests with it are refused. Existing payments continue. This cannot be undone.</p>
<div class="actions"><button class="button danger">Revoke</button><a class="button" href="${account}">Keep it</a></div></form>`,
    };
  });
  pages.form('/accounts/:accountId/keys/:keyId/revoke', async (context, visit) => {
    const key = await revokeOwnKey(context, ...idsOf(visit));
    await recordAction(context, key.accountId, visit.actor, 'key.revoked', describeKey(key));
    return seeOther(`/accounts/${key.accountId}?flash=revoked`);
  });
}

/** The active keys. */
export function keysCard(account: Account, keys: readonly ApiKey[]): Html {
  const active = keys.filter(({ revokedAtMs }) => revokedAtMs === null);
  return html`<section class="card"><h2>API keys</h2>
<p>${active.length} of ${MAXIMUM_ACTIVE_KEYS} are in use. New keys are created in the merchant’s dashboard, so that only the merchant sees them.</p>
${
  active.length === 0
    ? html`<p class="soft">None.</p>`
    : dataTable({
        label: 'API keys',
        columns: ['Name', 'Key', 'Created', 'Last used', { name: 'Action', holds: 'actions' }],
        rows: active.map((key) => [
          html`<bdi>${key.name}</bdi>`,
          html`<code>${maskApiKey(key.lastCharacters)}</code>`,
          consoleTime(key.createdAtMs),
          key.lastUsedAtMs === null ? html`<span class="soft">never</span>` : consoleTime(key.lastUsedAtMs),
          html`<a class="button compact danger" href="${OPERATOR_PATH}/accounts/${account.id}/keys/${key.id}/revoke">Revoke<span class="quiet"> ${key.name}</span></a>`,
        ]),
      })
}</section>`;
}

/** The account's members. */
export function membersCard(members: readonly Member[]): Html {
  return html`<section class="card"><h2>People</h2>${
    members.length === 0
      ? html`<p class="soft">Nobody can sign in yet.</p>`
      : dataTable({
          label: 'People',
          columns: ['E-mail address', 'Role', 'Second factor', 'Since'],
          rows: members.map(({ email, role, hasSecondFactor, createdAtMs }) => [
            html`<bdi>${email}</bdi>`,
            role,
            hasSecondFactor ? html`<span class="badge good">on</span>` : html`<span class="badge">off</span>`,
            consoleTime(createdAtMs),
          ]),
        })
  }
<p class="soft small">The owner invites people in the dashboard. To restore a user’s access after verifying who they are, use <code>user reset-link</code> or <code>user reset-second-factor</code> on the command line.</p></section>`;
}
