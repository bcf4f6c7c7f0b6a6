import { randomBytes } from 'node:crypto';
import { html as escapeTemplate } from 'ghtml';

/**
 * Markup with escaped insertions. It is a class of its own, so that no text can be mistaken for it: every insertion is
 * escaped unless its type shows that it was escaped before.
 */
export class Html {
  readonly #markup: string;

  /** For this file and for the project's own style and script; all other markup comes from `html`. */
  constructor(markup: string) {
    this.#markup = markup;
  }

  toString(): string {
    return this.#markup;
  }
}

type Insertion = string | number | Html | readonly Html[] | null;

/** Empty markup. */
export const nothing = new Html('');

/**
 * A template whose text insertions ghtml escapes, and whose `Html` insertions stay unchanged. ghtml gets one text at a
 * time and never the template itself, so that no template can disable the escaping. Attributes must be quoted, and the
 * caller checks a link's scheme.
 */
export function html({ raw }: TemplateStringsArray, ...insertions: readonly Insertion[]): Html {
  let markup = raw[0] as string;
  let index = 0;
  for (const insertion of insertions) markup += markupOf(insertion) + raw[++index];
  return new Html(markup);
}

/** A link of a navigation, which marks the current page. */
export function navigationLink(href: string, label: string, isCurrent: boolean): Html {
  return html`<li><a href="${href}"${isCurrent ? html` aria-current="page"` : nothing}>${label}</a></li>`;
}

function markupOf(insertion: Insertion): string {
  if (insertion === null) return '';
  if (insertion instanceof Html) return insertion.toString();
  if (typeof insertion === 'object') return insertion.join('');
  return escapeTemplate(textOnly, String(insertion));
}

/** A template of one insertion and no text around it. */
const textOnly = Object.assign(['', ''], { raw: ['', ''] }) as TemplateStringsArray;

/** The unpredictable nonce of one answer, in its style, its script and its policy: base64 without padding. */
export function newNonce(): string {
  return randomBytes(18).toString('base64url');
}
