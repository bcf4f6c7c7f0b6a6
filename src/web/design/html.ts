import { randomBytes } from 'node:crypto';
import { html as escapeTemplate } from 'ghtml';

/** Markup with escaped insertions. It is a class, so that no string can be mistaken for markup. */
export class Html {
  readonly #markup: string;

  /** Only for this file and for the project's own styles and scripts. All other markup comes from `html`. */
  constructor(markup: string) {
    this.#markup = markup;
  }

  toString(): string {
    return this.#markup;
  }
}

type Insertion = string | number | Html | readonly Html[] | null | false;

export const nothing = new Html('');

/**
 * Renders a template and escapes inserted text with ghtml; null and false insert nothing. ghtml gets single values, not
 * the template, which could disable escaping. Attributes must be quoted. The caller checks the scheme of links.
 */
export function html({ raw }: TemplateStringsArray, ...insertions: readonly Insertion[]): Html {
  let markup = raw[0] as string;
  let index = 0;
  for (const insertion of insertions) markup += markupOf(insertion) + raw[++index];
  return new Html(markup);
}

/** Inserts a field at the start of each `post` form. Text is escaped, so only real forms match. */
export function withField(markup: Html, field: Html): Html {
  const begin = (form: string) => `${form}${field}`;
  return new Html(markup.toString().replaceAll(/<form [^>]*method="post"[^>]*>/g, begin));
}

export function navigationLink(href: string, label: string, isCurrent: boolean): Html {
  return html`<li><a href="${href}"${isCurrent ? html` aria-current="page"` : nothing}>${label}</a></li>`;
}

/** Separates parts with dots, with no dot at the start or end of a line (`payment.css`). */
export function dotted(parts: readonly Html[]): Html {
  const dot = html`<i aria-hidden="true">·</i> `;
  return html`<span class="dotted">${parts.map((part, index) => html`<span>${index === 0 ? nothing : dot}${part}</span> `)}</span>`;
}

function markupOf(insertion: Insertion): string {
  if (insertion === null || insertion === false) return '';
  if (insertion instanceof Html) return insertion.toString();
  if (typeof insertion === 'object') return insertion.join('');
  return escapeTemplate(textOnly, String(insertion));
}

const textOnly = Object.assign(['', ''], { raw: ['', ''] }) as TemplateStringsArray;

/** Returns an unpredictable nonce, in base64url, for the style, script and policy of one response. */
export function newNonce(): string {
  return randomBytes(18).toString('base64url');
}
