import type { AuditPosition } from '../../accounts/account-store.ts';
import { SERVICE_LOG } from '../../accounts/audit-entry.ts';
import { html } from '../../web/design/html.ts';
import { pageLinks } from '../../web/signed-in/layout.ts';
import type { PageView } from '../../web/signed-in/pages.ts';
import { auditTable } from '../dashboard/audit-page.ts';
import { accountLink, OPERATOR_PATH, type OperatorRoutes, type OperatorVisit } from './operator-page.ts';

const ENTRIES_ON_A_PAGE = 50;
const MAXIMUM_ID_CHARACTERS = 100;

export function registerAuditPage(routes: OperatorRoutes): void {
  routes.pages('audit').page('/audit', showEntries);
}

async function showEntries(visit: OperatorVisit): Promise<PageView> {
  const account = (visit.query.get('account') ?? '').trim().slice(0, MAXIMUM_ID_CHARACTERS);
  const before = positionOf(visit.query.get('before') ?? '');
  const limit = ENTRIES_ON_A_PAGE + 1;
  const found =
    account === ''
      ? await visit.context.audit.listAllEntries(before, limit)
      : await visit.context.audit.listEntries(account, before?.position ?? null, limit);
  const entries = found.slice(0, ENTRIES_ON_A_PAGE);
  const last = found.length > ENTRIES_ON_A_PAGE ? entries.at(-1) : undefined;
  return {
    title: 'Audit log',
    main: html`<p>All actions in the console, the dashboard and the command line, newest first. Entries cannot be changed.</p>
<form class="inline" method="get" action="${OPERATOR_PATH}/audit" role="search">
<div class="field"><label for="account">Account ID</label><input id="account" name="account" value="${account}" aria-describedby="account-hint"></div>
<button class="button">Search</button>
<p class="small soft" id="account-hint">Enter “${SERVICE_LOG}” for actions on the service as a whole. Leave empty for all entries.</p></form>
${auditTable(entries, 'UTC', accountLink)}
${pageLinks(`${OPERATOR_PATH}/audit`, { filters: { account }, isNewest: before === null, older: last === undefined ? null : textOf(last) })}`,
  };
}

function textOf({ atMs, accountId, position }: AuditPosition): string {
  return `${atMs}.${accountId}.${position}`;
}

/** Parses `1795212345678.acc_12.34`, as written by `textOf`; null for an invalid text. */
function positionOf(text: string): AuditPosition | null {
  const parts = /^(\d{1,15})\.([\w-]{1,100})\.(\d{1,15})$/.exec(text);
  if (parts === null) return null;
  const [, atMs, accountId, position] = parts as unknown as readonly [string, string, string, string];
  return { atMs: Number(atMs), accountId, position: Number(position) };
}
