import { randomBytes } from 'node:crypto';
import type { SecretBox } from '../domain/secret-box.ts';

/**
 * A browser in which a user has signed in keeps a mark. The mark opens nothing: it tells the user's own browsers from
 * those of strangers, so that strangers who guess a password cannot keep the user out
 * (docs/decisions/0064-strangers-lock-nobody-out.md). Nothing is stored: the mark is sealed.
 */

/** As long as browsers keep a cookie. */
export const BROWSER_MARK_MS = 400 * 24 * 3_600_000;
/** How long a link that was sent by e-mail makes a browser known. */
const BROWSER_LINK_MS = 3_600_000;

const ownerOfMark = (email: string) => `browser of ${email}`;
const OWNER_OF_LINKS = 'link to make a browser known';

/** A mark for a browser of the user with this address, as `parseUserEmail` gives it. */
export function markBrowser(box: SecretBox, email: string, nowMs: number): string {
  return box.seal(`${nowMs + BROWSER_MARK_MS} ${randomBytes(12).toString('base64url')}`, ownerOfMark(email));
}

/** What tells this browser from the user's others; null when it has no mark of this user (any more). */
export function knownBrowser(box: SecretBox, mark: string, email: string, nowMs: number): string | null {
  const [expiresAtMs, name] = box.open(mark, ownerOfMark(email))?.split(' ') ?? [];
  return name === undefined || nowMs >= Number(expiresAtMs) ? null : name;
}

/** The token of a link that makes a browser known, for an hour. It is longer the longer the address is. */
export function createBrowserLink(box: SecretBox, email: string, nowMs: number): string {
  return box.seal(`${nowMs + BROWSER_LINK_MS} ${email}`, OWNER_OF_LINKS);
}

/** The address that a link was sent to; null for one that is too old or was never made. */
export function openBrowserLink(box: SecretBox, token: string, nowMs: number): string | null {
  const [expiresAtMs, email] = box.open(token, OWNER_OF_LINKS)?.split(' ') ?? [];
  return email === undefined || nowMs >= Number(expiresAtMs) ? null : email;
}
