import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import { roleIncludes } from '../../accounts/person.ts';
import { isSafeToCompress } from '../compression.ts';
import { Html, html, navigationLink, nothing, withField } from '../design/html.ts';
import {
  noContentPolicy,
  type Page,
  pageHeaders,
  pageStyleOf,
  readScript,
  sendHtml,
} from '../design/page-style.ts';
import { type AreaContext, type AreaRequest, DASHBOARD_PATH, type Visit } from './context.ts';
import { moment } from './format.ts';
import { OF_ACCOUNT, type RefusedForm, refusalBanner } from './forms.ts';
import { type Section, sections } from './sections-by-role.ts';

export interface PageContent {
  readonly title: string;
  readonly actions?: Html;
  readonly main: Html;
  /** Refused form, shown again below the reason. */
  readonly refused?: RefusedForm;
}

export function dashboardStyleWith(...more: readonly URL[]): Html {
  const own = ['skip', 'dashboard', 'payments'].map((name) => new URL(`./${name}.css`, import.meta.url));
  return pageStyleOf(
    ['button', 'button-kinds', 'card', 'badge', 'field', 'banner', 'tones', 'sandbox', 'table', 'data-table'],
    ...own,
    ...more,
  );
}

const dashboardStyle = dashboardStyleWith();
const script = new Html(
  [
    new URL('./client/copy.js', import.meta.url),
    new URL('./client/chart.js', import.meta.url),
    new URL('./client/passkey.js', import.meta.url),
    new URL('./client/preview.js', import.meta.url),
  ]
    .map(readScript)
    .join('\n'),
);

export function signedInPage(
  content: PageContent,
  visit: Visit,
  section: Section | null,
  shown: ReadonlySet<Section>,
): Page {
  const { main, refused, actions = nothing } = content;
  const links = navigation(visit, section, shown);
  const made = html`<input type="hidden" name="${OF_ACCOUNT}" value="${visit.account.id}">`;
  return wholePage(
    `${content.title} – ${visit.account.name}`,
    visit.context,
    signedInBody(
      { title: content.title, actions: withField(actions, made) },
      viewingBanner(visit),
      html`<div class="side"><header class="bar">
<p class="shop"><bdi>${visit.account.name}</bdi>${visit.account.suspended ? html` <span class="badge warn">Suspended</span>` : nothing}</p>
${accountSwitcher(visit)}
<p class="who"><bdi>${visit.user.email}</bdi> <span class="soft">${visit.viewing === null ? visit.role : 'operator'}</span></p>
${visit.viewing === null ? signOutForm : nothing}
</header>
<nav aria-label="Dashboard"><form class="find field" action="${DASHBOARD_PATH}/payments"><input type="search" name="q" maxlength="320"
aria-label="Find a payment" placeholder="Find a payment" autocomplete="off"></form>
<details class="places"><summary>Menu${section === null ? nothing : html` · <strong>${entryOf(section).label}</strong>`}</summary>
<ul>${links}</ul></details><ul>${links}</ul></nav></div>`,
      html`${visit.account.suspended ? suspendedNotice : nothing}
${refusalBanner(refused)}${withField(main, made)}`,
    ),
  );
}

const signOutForm = html`<form method="post" action="${DASHBOARD_PATH}/sign-out">
<button class="plain">Sign out</button></form>`;

export function signedInBody(
  { title, actions = nothing }: Pick<PageContent, 'title' | 'actions'>,
  header: Html,
  navigation: Html,
  main: Html,
): Html {
  return html`<a class="skip" href="#main">Skip to the content</a>
${header}
<div class="columns">
${navigation}
<main id="main" tabindex="-1">
<div class="head"><h1>${title}</h1>${actions}</div>
${main}
</main>
</div>`;
}

function viewingBanner({ viewing, account, timeZone }: Visit): Html {
  if (viewing === null) return nothing;
  return html`<aside class="viewing" aria-label="Read-only">
<p><strong>Read-only.</strong> You are viewing <bdi>${account.name}</bdi> as an operator until ${moment(viewing.untilMs, timeZone)}.
The account’s audit log records it.</p>
<form method="post" action="${viewing.stopPath}"><button class="button compact">Stop</button></form></aside>`;
}

const suspendedNotice = html`<p class="banner warn">This account is suspended:
new checkouts are refused. Existing payments continue. Contact the operator.</p>`;

export function plainPage(
  { title, main, refused }: PageContent,
  { context }: Pick<AreaRequest, 'context'>,
): Page {
  return wholePage(
    title,
    context,
    html`<main class="alone" id="main"><p class="product">card-checkout</p>
<h1>${title}</h1>
${refusalBanner(refused)}${main}
</main>`,
  );
}

const entryOf = (section: Section) => (typeof section === 'string' ? sections[section] : section);

/** Returns the links by group. Omits the documentation in an operator's view, whose server lacks the pages. */
function navigation(visit: Visit, section: Section | null, shown: ReadonlySet<Section>): Html[] {
  const added = [...shown].filter((each) => typeof each !== 'string');
  const all = Object.keys(sections).flatMap((name) => [
    name as Section,
    ...added.filter(({ after }) => after === name),
  ]);
  const listed = all.filter((each) => shown.has(each) && roleIncludes(visit.role, entryOf(each).role));
  return [...Map.groupBy(listed, (each) => entryOf(each).group)].map(
    ([group, own]) => html`${group === '' ? nothing : html`<li class="group">${group}</li>`}
${own.map((each) => navigationLink(`${DASHBOARD_PATH}${entryOf(each).path}`, entryOf(each).label, each === section))}
${group === 'Account' && visit.viewing === null ? navigationLink('/docs', 'Documentation', false) : nothing}`,
  );
}

export function wholePage(
  title: string,
  { isTestMode }: Pick<AreaContext, 'isTestMode'>,
  body: Html,
  style: Html = dashboardStyle,
): Page {
  return {
    language: 'en',
    direction: 'ltr',
    color: '0b5f4a',
    style,
    head: html`<title>${title}</title>`,
    body: html`${isTestMode ? sandboxBanner : nothing}
${body}`,
    script,
  };
}

const sandboxBanner = html`<aside class="sandbox" aria-label="Sandbox"><strong>Sandbox.</strong> This is a test:
no card is charged and no real money moves.</aside>`;

function accountSwitcher({ otherAccounts }: Visit): Html {
  if (otherAccounts.length === 0) return nothing;
  return html`<details class="switcher"><summary>Other accounts</summary>
<form method="post" action="${DASHBOARD_PATH}/account"><ul>${otherAccounts.map(
    ({ id, name }) =>
      html`<li><button class="plain" name="account" value="${id}"><bdi>${name}</bdi></button></li>`,
  )}</ul></form></details>`;
}

const dashboardHeaders = {
  ...pageHeaders,
  // `no-referrer` would remove the origin that the form check needs.
  'referrer-policy': 'same-origin',
} as const;

/** Policy that lets pages frame examples of customer pages. */
const framing = "frame-src 'self'; frame-ancestors 'none'";

export function sendDashboardPage(reply: FastifyReply, status: number, page: Page): FastifyReply {
  const isCompressed = isSafeToCompress(reply.request);
  return sendHtml(reply.code(status).headers(dashboardHeaders), page, "'self'", { isCompressed, framing });
}

export function sendSeeOther(reply: FastifyReply, path: string): FastifyReply {
  return reply
    .headers(dashboardHeaders)
    .header('content-security-policy', noContentPolicy)
    .redirect(path, 303);
}

/** Streams a file with backpressure. */
export function sendDownload(
  reply: FastifyReply,
  fileName: string,
  type: string,
  chunks: AsyncIterable<string>,
): FastifyReply {
  return reply
    .headers(dashboardHeaders)
    .header('content-disposition', `attachment; filename="${fileName}"`)
    .type(`${type}; charset=utf-8`)
    .send(Readable.from(chunks));
}

/** Sends a CSV file, with a byte order mark that tells spreadsheets its encoding. */
export function sendCsv(reply: FastifyReply, fileName: string, lines: AsyncIterable<string>): FastifyReply {
  return sendDownload(reply, fileName, 'text/csv', withByteOrderMark(lines));
}

/** Joins the mark to the first chunk, so that nothing has been sent if the first read fails. */
async function* withByteOrderMark(lines: AsyncIterable<string>): AsyncGenerator<string> {
  let mark = '\uFEFF';
  for await (const chunk of lines) {
    yield mark + chunk;
    mark = '';
  }
}

export function sendPlainPage(
  { context, reply }: Pick<AreaRequest, 'context' | 'reply'>,
  status: number,
  content: PageContent,
): FastifyReply {
  return sendDashboardPage(reply, status, plainPage(content, { context }));
}

interface ListPage {
  /** Filters for the list's URL. Empty values are omitted. */
  readonly filters: Readonly<Partial<Record<string, string>>>;
  readonly isNewest: boolean;
  /** Cursor of the next page (parameter `before`); null on the last page. */
  readonly older: string | null;
  readonly olderWords?: string;
}

export function pageLinks(path: string, { filters, isNewest, older, olderWords = 'Older' }: ListPage): Html {
  if (isNewest && older === null) return nothing;
  return html`<nav class="actions" aria-label="Pages">${isNewest ? nothing : html`<a class="button" href="${pagePath(path, filters)}">Newest</a>`}
${older === null ? nothing : html`<a class="button" rel="next" href="${pagePath(path, { ...filters, before: older })}">${olderWords}</a>`}</nav>`;
}

export function pagePath(path: string, parameters: ListPage['filters']): string {
  const query = new URLSearchParams();
  for (const [name, value = ''] of Object.entries(parameters)) if (value !== '') query.set(name, value);
  return `${path}${query.size === 0 ? '' : `?${query}`}`;
}
