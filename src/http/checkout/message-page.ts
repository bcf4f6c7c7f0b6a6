import { html, nothing } from '../design/html.ts';
import type { Language } from './languages.ts';
import { layout, type Page } from './layout.ts';

/** A page that only says something: an unknown link, a failure of ours. */
export function messagePage(message: {
  readonly heading: string;
  readonly sentence: string;
  readonly language: Language;
  readonly isSandbox: boolean;
  /** Where to go from here. */
  readonly link?: { readonly href: string; readonly label: string };
}): Page {
  const { heading, sentence, language, isSandbox, link } = message;
  return layout({
    language,
    title: heading,
    isSandbox,
    main: html`<main class="card alone">
<h1>${heading}</h1>
<p>${sentence}</p>
${link === undefined ? nothing : html`<p><a class="button primary wide" href="${link.href}">${link.label}</a></p>`}
</main>`,
  });
}
