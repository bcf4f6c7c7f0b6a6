import { type Html, html } from '../design/html.ts';

/** Renders a frame for an example of a customer page, which `path` returns for the page's form. */
export function previewFrame(path: string): Html {
  return html`<section class="card preview"><div class="head"><h2>Preview</h2>
<button class="button compact" form="form" formaction="${path}" formtarget="preview" formnovalidate>Preview</button></div>
<div><iframe name="preview" title="What customers see" sandbox="allow-same-origin"></iframe></div></section>`;
}
