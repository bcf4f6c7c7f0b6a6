import { type AuditEntry, auditActions } from '../../accounts/audit-entry.ts';
import { auditCursor, parseAuditCursor, readAuditPage } from '../../accounts/read-audit-log.ts';
import { type Cell, dataTable, sentences } from '../../web/design/data-table.ts';
import { type Html, html, nothing } from '../../web/design/html.ts';
import { type AreaVisit, DASHBOARD_PATH } from '../../web/signed-in/context.ts';
import { moment } from '../../web/signed-in/format.ts';
import { pageLinks } from '../../web/signed-in/layout.ts';
import type { DashboardRoutes } from '../../web/signed-in/pages.ts';

const ENTRIES_ON_A_PAGE = 50;

export function registerAuditPage(routes: DashboardRoutes): void {
  routes.pages('audit', 'owner').page('/audit', async (visit) => ({
    title: 'Audit log',
    main: html`<p>All actions in this account, newest first. Entries cannot be changed.</p>
${await auditList(visit, `${DASHBOARD_PATH}/audit`, visit.account.id)}`,
  }));
}

/** Renders audit entries of one account, or of all if `accountCell` is given. `filters` go into the page links. */
export async function auditList(
  { context, query, timeZone }: AreaVisit,
  path: string,
  account: string | null,
  filters: Readonly<Record<string, string>> = {},
  accountCell?: (accountId: string) => Cell,
): Promise<Html> {
  const before = parseAuditCursor(query.get('before') ?? '');
  const { entries, next } = await readAuditPage(context, account, before, ENTRIES_ON_A_PAGE);
  const empty = html`<p class="banner plain">No entries yet.</p>`;
  return html`${dataTable<AuditEntry>({ label: 'Audit log', empty }, entries, {
    When: ({ atMs }) => moment(atMs, timeZone),
    ...(accountCell && { Account: ({ accountId }) => accountCell(accountId) }),
    Who: ({ actor }) => html`<bdi>${actor}</bdi>`,
    What: sentences(
      ({ action, target }) =>
        html`${auditActions[action]}${target === null ? nothing : html` <bdi>${target}</bdi>`}`,
    ),
    From: ({ address }) => address ?? 'command line',
  })}
${pageLinks(path, { filters, isNewest: before === null, older: next && auditCursor(next) })}`;
}
