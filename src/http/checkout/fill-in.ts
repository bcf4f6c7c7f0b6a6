import { type Html, html } from '../design/html.ts';

/** What is put in for the names in braces. */
export type Values = Readonly<Record<string, string>>;

/** A text of the catalogues in pieces: what is always said, escaped, and between two of them the name of a value. */
interface Pieces {
  readonly said: readonly Html[];
  readonly names: readonly string[];
}

/** Grows to the number of texts in the catalogues. */
const knownPieces = new Map<string, Pieces>();

/**
 * A text of the catalogues as markup. Each value is set apart, so that a name in another script, or one that holds
 * marks for the direction of writing, turns nothing around it. Throws `RangeError` for a value that is not there.
 */
export function fillIn(text: string, values: Values): Html {
  const { said, names } = piecesOf(text);
  return html`${said.map((piece, index) => {
    const name = names[index];
    return name === undefined ? piece : html`${piece}<bdi>${valueNamed(values, name)}</bdi>`;
  })}`;
}

/** The same as plain text, for where markup cannot be: a title, a label. */
export function fillText(text: string, values: Values): string {
  return text.replaceAll(/\{(\w+)\}/g, (_braces, name: string) => valueNamed(values, name));
}

function piecesOf(text: string): Pieces {
  const known = knownPieces.get(text);
  if (known !== undefined) return known;
  const parts = text.split(/\{(\w+)\}/);
  const pieces = {
    said: parts.filter((_part, index) => index % 2 === 0).map((part) => html`${part}`),
    names: parts.filter((_part, index) => index % 2 === 1),
  };
  knownPieces.set(text, pieces);
  return pieces;
}

function valueNamed(values: Values, name: string): string {
  const value = values[name];
  if (value === undefined) throw new RangeError(`nothing to put in for {${name}}`);
  return value;
}
