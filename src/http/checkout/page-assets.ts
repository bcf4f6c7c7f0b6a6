import { readFileSync } from 'node:fs';
import { Html } from './html.ts';

/**
 * Style and script travel in the page itself, so that the first paint needs one response only. They are the
 * project's own files, which is why they may be inserted as they are.
 */
export const pageStyle = new Html(compact(read('./checkout.css')));
export const pageScript = new Html(compact(read('./client/follow-payment.js')));

/** Goes on from a short link; the address stands in the link that has the id. */
export const continueScript = new Html("location.replace(document.getElementById('continue').href)");

function read(path: string): string {
  return readFileSync(new URL(path, import.meta.url), 'utf8');
}

/** Leaves out indentation, empty lines and comments that have their lines for themselves. */
function compact(text: string): string {
  return text
    .replaceAll(/^\s*\/\*[\s\S]*?\*\/$/gm, '')
    .replaceAll(/^\s*\/\/.*$/gm, '')
    .replaceAll(/^\s+/gm, '');
}
