import { type Html, html, nothing } from '../design/html.ts';

interface ListPage {
  /** What the list was narrowed by, as its address says it; empty texts are left out. */
  readonly filters: Readonly<Record<string, string>>;
  readonly isNewest: boolean;
  /** Where the next page begins, as the list's own `before`; null on the last one. */
  readonly older: string | null;
}

/** Below a list at `path`: back to its newest rows, and on to older ones. */
export function pageLinks(path: string, { filters, isNewest, older }: ListPage): Html {
  return html`<div class="actions">${isNewest ? nothing : html`<a class="button" href="${pagePath(path, filters)}">Newest</a>`}
${older === null ? nothing : html`<a class="button" href="${pagePath(path, { ...filters, before: older })}">Older</a>`}</div>`;
}

function pagePath(path: string, parameters: Readonly<Record<string, string>>): string {
  const query = new URLSearchParams(Object.entries(parameters).filter(([, value]) => value !== ''));
  return `${path}${query.size === 0 ? '' : `?${query}`}`;
}
