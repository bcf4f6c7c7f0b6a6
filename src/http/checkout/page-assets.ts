import { Html } from '../design/html.ts';
import { pageStyleOf, readAsset } from '../design/page-style.ts';

/**
 * Style and script travel in the page itself, so that the first paint needs one response only. They are the
 * project's own files, which is why they may be inserted as they are.
 */
export const pageStyle = pageStyleOf(['button', 'card', 'field', 'notice'], asset('./checkout.css'));
export const pageScript = new Html(readAsset(asset('./client/follow-payment.js')));

/** Goes on from a short link; the address stands in the link that has the id. */
export const continueScript = new Html("location.replace(document.getElementById('continue').href)");

function asset(path: string): URL {
  return new URL(path, import.meta.url);
}
