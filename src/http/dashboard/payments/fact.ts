import { type Html, html } from '../../design/html.ts';

/** A term and what it is, in a list of facts. */
export function fact(term: string, description: Html | string): Html {
  return html`<div><dt>${term}</dt><dd>${description}</dd></div>`;
}
