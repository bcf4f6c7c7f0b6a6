import { type AuditEntry, auditActions } from '../../accounts/audit-entry.ts';
import { type Cell, dataTable, sentences } from '../../web/design/data-table.ts';
import { type Html, html, nothing } from '../../web/design/html.ts';
import { DASHBOARD_PATH, type Visit } from '../../web/signed-in/context.ts';
import { moment } from '../../web/signed-in/format.ts';
import { pageLinks } from '../../web/signed-in/layout.ts';
import type { DashboardRoutes } from '../../web/signed-in/pages.ts';

const ENTRIES_ON_A_PAGE = 50;

export function registerAuditPage(routes: DashboardRoutes): void {
  routes.pages('audit', 'owner').page('/audit', showEntries);
}

async function showEntries(visit: Visit) {
  const before = /^\d{1,15}$/.exec(visit.query.get('before') ?? '');
  const found = await visit.context.audit.listEntries(
    visit.account.id,
    before === null ? null : Number(before[0]),
    ENTRIES_ON_A_PAGE + 1,
  );
  const entries = found.slice(0, ENTRIES_ON_A_PAGE);
  const last = found.length > ENTRIES_ON_A_PAGE ? entries.at(-1) : undefined;
  const older = last === undefined ? null : String(last.position);
  return {
    title: 'Audit log',
    main: html`<p>All actions in this account, newest first. Entries cannot be changed.</p>
${auditTable(entries, visit.timeZone)}
${pageLinks(`${DASHBOARD_PATH}/audit`, { filters: {}, isNewest: before === null, older })}`,
  };
}

/** Entries of one account, or of several with `accountCell`. */
export function auditTable(
  entries: readonly AuditEntry[],
  timeZone: string,
  accountCell?: (accountId: string) => Cell,
): Html {
  const empty = html`<p class="banner plain">No entries yet.</p>`;
  return dataTable<AuditEntry>({ label: 'Audit log', empty }, entries, {
    When: ({ atMs }) => moment(atMs, timeZone),
    ...(accountCell && { Account: ({ accountId }) => accountCell(accountId) }),
    Who: ({ actor }) => html`<bdi>${actor}</bdi>`,
    What: sentences(
      ({ action, target }) =>
        html`${auditActions[action]}${target === null ? nothing : html` <bdi>${target}</bdi>`}`,
    ),
    From: ({ address }) => address ?? 'command line',
  });
}
