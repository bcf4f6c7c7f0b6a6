import { type AuditEntry, auditActions } from '../../domain/audit-entry.ts';
import { dataTable } from '../design/data-table.ts';
import { type Html, html, nothing } from '../design/html.ts';
import {
  DASHBOARD_PATH,
  type DashboardContext,
  type DashboardRoutes,
  type Visit,
} from '../signed-in/context.ts';
import { moment } from '../signed-in/format.ts';
import { dashboardPages, type PageView } from '../signed-in/signed-in-page.ts';

const ENTRIES_ON_A_PAGE = 50;

/** The account's audit log. */
export function registerAuditPage(routes: DashboardRoutes): void {
  dashboardPages(routes, 'audit', 'owner').page('/audit', showEntries);
}

async function showEntries(context: DashboardContext, visit: Visit): Promise<PageView> {
  const before = /^\d{1,15}$/.exec(visit.query.get('before') ?? '');
  const found = await context.audit.listEntries(
    visit.account.id,
    before === null ? null : Number(before[0]),
    ENTRIES_ON_A_PAGE + 1,
  );
  const entries = found.slice(0, ENTRIES_ON_A_PAGE);
  const last = entries.at(-1);
  return {
    title: 'Audit log',
    main: html`<p>All actions in this account, newest first. Entries cannot be changed.</p>
${entries.length === 0 ? html`<p class="banner plain">No entries yet.</p>` : entryTable(entries, visit)}
<div class="actions">${before === null ? nothing : html`<a class="button" href="${DASHBOARD_PATH}/audit">Newest</a>`}
${last === undefined || found.length <= ENTRIES_ON_A_PAGE ? nothing : html`<a class="button" href="${DASHBOARD_PATH}/audit?before=${last.position}">Older</a>`}</div>`,
  };
}

function entryTable(entries: readonly AuditEntry[], visit: Visit): Html {
  return dataTable({
    label: 'Audit log',
    columns: ['When', 'Who', 'What', 'From'],
    rows: entries.map(({ atMs, actor, action, target, address }) => [
      moment(atMs, visit.timeZone),
      html`<bdi>${actor}</bdi>`,
      html`${auditActions[action]}${target === null ? nothing : html` <bdi>${target}</bdi>`}`,
      address ?? 'command line',
    ]),
  });
}
