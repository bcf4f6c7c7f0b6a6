import type { Page } from '../checkout/layout.ts';
import { formTokenField } from '../dashboard/form-token.ts';
import { dashboardStyleWith, type PageContent, wholePage } from '../dashboard/layout.ts';
import { type Html, html } from '../design/html.ts';
import { OPERATOR_PATH } from './operator-area.ts';
import { type Section, sections } from './sections.ts';
import type { OperatorVisit } from './visit.ts';

const style = dashboardStyleWith(new URL('./operator.css', import.meta.url));

interface Frame {
  readonly isSandbox: boolean;
  /** Null for a page that is in no section. */
  readonly section: Section | null;
  /** The root of the public server, which has the documentation. */
  readonly publicUrl: string;
}

/** A page of the console, for who is signed in. */
export function operatorLayout({ title, main }: PageContent, visit: OperatorVisit, frame: Frame): Page {
  return wholePage(
    `${title} – Operator`,
    frame,
    html`<a class="skip" href="#main">Skip to the content</a>
<header class="bar operator">
<p class="shop">Operator’s console</p>
<p class="who"><bdi>${visit.user.email}</bdi></p>
<form method="post" action="${OPERATOR_PATH}/sign-out">${formTokenField(visit.formToken)}<button class="plain">Sign out</button></form>
</header>
<div class="columns">
<nav aria-label="Console"><ul>${navigation(frame.section)}<li><a href="${frame.publicUrl}/docs">Documentation</a></li></ul></nav>
<main id="main" tabindex="-1">
<h1>${title}</h1>
${main}
</main>
</div>`,
    style,
  );
}

function navigation(current: Section | null): Html[] {
  return (Object.keys(sections) as Section[]).map((name) => {
    const href = `${OPERATOR_PATH}${sections[name].path}`;
    return name === current
      ? html`<li><a href="${href}" aria-current="page">${sections[name].label}</a></li>`
      : html`<li><a href="${href}">${sections[name].label}</a></li>`;
  });
}
