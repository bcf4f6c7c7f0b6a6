import { html as escapeTemplate } from 'ghtml';

/**
 * Markup whose insertions were escaped where it was written. Being a class of its own, text can never be taken for
 * it: what is inserted into a page is escaped unless the type says that this was done before.
 */
export class Html {
  readonly #markup: string;

  /** For this file and for the project's own style and script; anything else comes from `html`. */
  constructor(markup: string) {
    this.#markup = markup;
  }

  toString(): string {
    return this.#markup;
  }
}

type Insertion = string | number | Html | readonly Html[] | null;

/** Nothing, where markup may be left out. */
export const nothing = new Html('');

/**
 * A template whose text insertions ghtml escapes, and whose `Html` insertions stay as they are. This is the only
 * place that uses ghtml's raw mark, an exclamation mark before the insertion, and it adds it by type: the templates
 * never write it. Attributes must be quoted, and a link's scheme is the caller's to check.
 */
export function html(literals: TemplateStringsArray, ...insertions: readonly Insertion[]): Html {
  const raw = literals.raw.map((literal, index) => {
    if (index === insertions.length) return literal;
    if (literal.endsWith('!')) throw new Error('a template must not end its text in "!" before an insertion');
    return isMarkup(insertions[index]) ? `${literal}!` : literal;
  });
  const texts = insertions.map((insertion) =>
    Array.isArray(insertion) ? insertion.join('') : String(insertion ?? ''),
  );
  return new Html(escapeTemplate({ raw } as unknown as TemplateStringsArray, ...texts));
}

function isMarkup(insertion: Insertion | undefined): boolean {
  return insertion instanceof Html || Array.isArray(insertion);
}
