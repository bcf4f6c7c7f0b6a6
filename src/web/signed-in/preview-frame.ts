import { type Html, html } from '../design/html.ts';

/** Renders a frame with an example of a customer page, the response of `path` to the form on this page. */
export function previewFrame(path: string): Html {
  return html`<section class="card preview"><div class="head"><h2>Preview</h2>
<button class="button compact" form="form" formaction="${path}" formtarget="preview" formnovalidate>Preview</button></div>
<div><iframe name="preview" title="What customers see" sandbox="allow-same-origin"></iframe></div></section>`;
}
