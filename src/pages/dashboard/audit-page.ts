import type { AuditPosition } from '../../accounts/account-store.ts';
import { type AuditEntry, auditActions } from '../../accounts/audit-entry.ts';
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

/** A page of entries of this account, or of all with `accountCell`; `filters` are for the links to the other pages. */
export async function auditList(
  { context: { audit }, query, timeZone }: AreaVisit,
  path: string,
  account: string | null,
  filters: Readonly<Record<string, string>> = {},
  accountCell?: (accountId: string) => Cell,
): Promise<Html> {
  const before = positionOf(query.get('before') ?? '');
  const limit = ENTRIES_ON_A_PAGE + 1;
  const found =
    account === null
      ? await audit.listAllEntries(before, limit)
      : await audit.listEntries(account, before?.position ?? null, limit);
  const entries = found.slice(0, ENTRIES_ON_A_PAGE);
  const last = found.length > ENTRIES_ON_A_PAGE ? entries.at(-1) : undefined;
  const older = last === undefined ? null : `${last.atMs}.${last.accountId}.${last.position}`;
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
${pageLinks(path, { filters, isNewest: before === null, older })}`;
}

/** Parses `1795212345678.acc_12.34`, as in the links of a list; null for an invalid text. */
function positionOf(text: string): AuditPosition | null {
  const parts = /^(\d{1,15})\.([\w-]{1,100})\.(\d{1,15})$/.exec(text);
  if (parts === null) return null;
  const [, atMs, accountId, position] = parts as unknown as readonly [string, string, string, string];
  return { atMs: Number(atMs), accountId, position: Number(position) };
}
