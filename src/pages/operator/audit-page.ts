import { SERVICE_LOG } from '../../accounts/audit-entry.ts';
import { html } from '../../web/design/html.ts';
import { auditList } from '../dashboard/audit-page.ts';
import { accountLink, OPERATOR_PATH, type OperatorRoutes } from './operator-page.ts';

const MAXIMUM_ID_CHARACTERS = 100;

export function registerAuditPage(routes: OperatorRoutes): void {
  const path = `${OPERATOR_PATH}/audit`;
  routes.pages('audit').page('/audit', async (visit) => {
    const account = (visit.query.get('account') ?? '').trim().slice(0, MAXIMUM_ID_CHARACTERS);
    return {
      title: 'Audit log',
      main: html`<p>All actions in the console, the dashboard and the command line, newest first. Entries cannot be changed.</p>
<form class="inline actions" method="get" action="${path}" role="search">
<div class="field"><label for="account">Account ID</label><input id="account" name="account" value="${account}" aria-describedby="account-hint"></div>
<button class="button">Search</button>
<p class="small soft" id="account-hint">Enter “${SERVICE_LOG}” for actions on the service as a whole. Leave empty for all entries.</p></form>
${await auditList(visit, path, account === '' ? null : account, { account }, accountLink)}`,
    };
  });
}
