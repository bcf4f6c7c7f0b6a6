import { endSession } from '../../accounts/sessions.ts';
import { type DashboardSession, isSessionAlive } from '../../domain/dashboard-session.ts';
import { dataTable } from '../design/data-table.ts';
import { type Html, html, nothing } from '../design/html.ts';
import {
  DASHBOARD_PATH,
  type DashboardContext,
  type DashboardRoutes,
  type Visit,
} from '../signed-in/context.ts';
import { moment } from '../signed-in/format.ts';
import { flashOf, formTokenField } from '../signed-in/forms.ts';
import { dashboardPages, type PageView, seeOther } from '../signed-in/signed-in-page.ts';

/** The user's own sessions: a list, and their end. */
export function registerSessionPages(routes: DashboardRoutes): void {
  const pages = dashboardPages(routes, 'sessions', 'viewer');
  pages.page('/sessions', showSessions);
  pages.form('/sessions/:sessionId/end', async (context, visit) => {
    const sessionId = visit.params['sessionId'] ?? '';
    await endSession(context, { userId: visit.user.id, sessionId, accountId: visit.account.id }, visit.actor);
    return seeOther('/sessions?flash=ended');
  });
}

async function showSessions(context: DashboardContext, visit: Visit): Promise<PageView> {
  const sessions = await context.sessions.listSessions(visit.user.id);
  const alive = sessions.filter(
    (session) => session.stage === 'open' && isSessionAlive(session, context.nowMs()),
  );
  return {
    title: 'Sessions',
    main: html`${flashOf(visit, { ended: 'The session has ended.' })}
<p>The browsers in which you are signed in. A session ends after twelve hours without use, and after a week at the latest. If you do not recognize a session, end it and <a href="${DASHBOARD_PATH}/security">change your password</a>.</p>
<p><a class="button" href="${DASHBOARD_PATH}/security">Password and second factor</a></p>
${dataTable({
  label: 'Sessions',
  columns: ['Browser', 'Address', 'Started', 'Last active', { name: 'Action', holds: 'actions' }],
  rows: alive.map((session) => sessionRow(session, visit)),
})}`,
  };
}

function sessionRow(session: DashboardSession, visit: Visit): (Html | string)[] {
  const isOwn = session.id === visit.session.id;
  const browser = describeBrowser(session.userAgent);
  return [
    html`${browser}${isOwn ? html` <span class="badge good">this one</span>` : nothing}`,
    session.address,
    moment(session.createdAtMs, visit.timeZone),
    moment(session.lastSeenAtMs, visit.timeZone),
    html`<form method="post" action="${DASHBOARD_PATH}/sessions/${session.id}/end">${formTokenField(visit.formToken)}<button class="button compact danger">End<span class="quiet"> the session of ${browser} at ${session.address}</span></button></form>`,
  ];
}

/** In this order: most browsers also name those they descend from. */
const browsers: readonly (readonly [RegExp, string])[] = [
  [/\bEdg(?:A|iOS)?\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\b(?:Firefox|FxiOS)\//, 'Firefox'],
  [/\b(?:Chrome|CriOS|HeadlessChrome)\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
];
const systems: readonly (readonly [RegExp, string])[] = [
  [/\b(?:iPhone|iPad)\b/, 'iOS'],
  [/\bAndroid\b/, 'Android'],
  [/\bWindows\b/, 'Windows'],
  [/\bMacintosh\b/, 'macOS'],
  [/\bLinux\b/, 'Linux'],
];

/** "Firefox on Linux": enough for users to recognize their sessions. The text is the browser's claim, and no proof. */
function describeBrowser(userAgent: string): string {
  const nameIn = (list: typeof browsers) => list.find(([pattern]) => pattern.test(userAgent))?.[1];
  const browser = nameIn(browsers) ?? 'Unknown browser';
  const system = nameIn(systems);
  return system === undefined ? browser : `${browser} on ${system}`;
}
