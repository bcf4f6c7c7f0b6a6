import { roleIncludes } from '../../domain/person.ts';
import type { Page } from '../checkout/layout.ts';
import { Html, html, nothing } from '../design/html.ts';
import { pageStyleOf, readAsset } from '../design/page-style.ts';
import { accountSwitcher } from './account-switcher.ts';
import { formTokenField } from './form-token.ts';
import { moment } from './format-time.ts';
import { DASHBOARD_PATH, type Section, sections } from './sections.ts';
import type { Visit } from './visit.ts';

/** What a page of the dashboard shows below its heading. */
export interface PageContent {
  /** The heading, and the beginning of the window's title. */
  readonly title: string;
  readonly main: Html;
}

interface Frame {
  readonly isSandbox: boolean;
}

/** The dashboard's style, with style sheets that follow it. */
export function dashboardStyleWith(...more: readonly URL[]): Html {
  const own = [new URL('./dashboard.css', import.meta.url), new URL('./payments.css', import.meta.url)];
  return pageStyleOf(['button', 'card', 'field', 'notice', 'table', 'data-table'], ...own, ...more);
}

const dashboardStyle = dashboardStyleWith();
const script = new Html(
  [new URL('./client/copy.js', import.meta.url), new URL('./client/passkey.js', import.meta.url)]
    .map(readAsset)
    .join('\n'),
);
const icon =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Crect width='16' height='16' rx='4' fill='%230b5f4a'/%3E%3Cpath d='M4 8.5l2.6 2.6L12 5.6' fill='none' stroke='%23fff' stroke-width='2'/%3E%3C/svg%3E";

/** A page for who is signed in: navigation, account, and the content. */
export function signedInPage(
  { title, main }: PageContent,
  visit: Visit,
  frame: Frame & { readonly section: Section | null; readonly shown: ReadonlySet<Section> },
): Page {
  return wholePage(
    `${title} – ${visit.account.name}`,
    frame,
    html`<a class="skip" href="#main">Skip to the content</a>
${viewingBanner(visit)}
<header class="bar">
<p class="shop"><bdi>${visit.account.name}</bdi>${visit.account.suspended ? html` <span class="badge warn">Suspended</span>` : nothing}</p>
${accountSwitcher(visit)}
<p class="who"><bdi>${visit.user.email}</bdi> <span class="soft">${visit.viewing === null ? visit.role : 'operator'}</span></p>
${visit.viewing === null ? html`<form method="post" action="${DASHBOARD_PATH}/sign-out">${formTokenField(visit.formToken)}<button class="plain">Sign out</button></form>` : nothing}
</header>
<div class="columns">
<nav aria-label="Dashboard"><ul>${navigation(visit, frame)}${docsLink(visit)}</ul></nav>
<main id="main" tabindex="-1">
<h1>${title}</h1>
${visit.account.suspended ? suspendedNotice : nothing}
${main}
</main>
</div>`,
  );
}

/** Over everything that an operator sees of somebody else's account. */
function viewingBanner({ viewing, account, formToken, timeZone }: Visit): Html {
  if (viewing === null) return nothing;
  return html`<aside class="viewing" aria-label="Read-only"><p><strong>Read-only.</strong> You look at <bdi>${account.name}</bdi> as an operator, until ${moment(viewing.untilMs, timeZone)}. Its audit log says so.</p>
<form method="post" action="${viewing.stopPath}">${formTokenField(formToken)}<button class="button compact">Stop</button></form></aside>`;
}

const suspendedNotice = html`<p class="notice warn">This account is suspended: new checkouts are refused. What exists goes on, and can be looked at here. Please contact the operator.</p>`;

/** A page for who is not, or has no account: a form or a message. */
export function plainPage({ title, main }: PageContent, frame: Frame): Page {
  return wholePage(
    title,
    frame,
    html`<main class="alone" id="main"><h1>${title}</h1>
${main}
</main>`,
  );
}

function navigation(
  visit: Visit,
  { section, shown }: { readonly section: Section | null; readonly shown: ReadonlySet<Section> },
): Html[] {
  return (Object.keys(sections) as Section[])
    .filter((name) => shown.has(name) && roleIncludes(visit.role, sections[name].role))
    .map((name) => {
      const href = `${DASHBOARD_PATH}${sections[name].path}`;
      return name === section
        ? html`<li><a href="${href}" aria-current="page">${sections[name].label}</a></li>`
        : html`<li><a href="${href}">${sections[name].label}</a></li>`;
    });
}

/** Where an operator looks at the dashboard, on another server, there is no documentation. */
function docsLink({ viewing }: Visit): Html {
  return viewing === null ? html`<li><a href="/docs">Documentation</a></li>` : nothing;
}

/** A page from its first line to its last. */
export function wholePage(
  title: string,
  { isSandbox }: Frame,
  body: Html,
  style: Html = dashboardStyle,
): Page {
  return (nonce) =>
    Buffer.from(
      html`<!doctype html>
<html lang="en" dir="ltr">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex, nofollow">
<link rel="icon" href="${icon}">
<style nonce="${nonce}">${style}</style>
<title>${title}</title>
</head>
<body>
${isSandbox ? sandboxBanner : nothing}
${body}
<script nonce="${nonce}" type="module">${script}</script>
</body>
</html>
`.toString(),
    );
}

const sandboxBanner = html`<aside class="sandbox" aria-label="Sandbox"><strong>Sandbox.</strong> This is a test: no card is charged and no real money moves.</aside>`;
