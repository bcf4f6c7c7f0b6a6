import type { SecretBox } from '../platform/secret-box.ts';
import type { PeopleContext } from './people-context.ts';

/** Dependencies for a secret that is shown once. */
export interface ShowOnceContext extends Pick<PeopleContext, 'sessions' | 'nowMs'> {
  readonly shownOnce: SecretBox;
}

/** Time between the form that makes a secret and the page that shows it. */
const KEPT_MS = 2 * 60_000;

const ownerOf = (sessionId: string, purpose: string) => `${purpose} for ${sessionId}`;

/**
 * Keeps a secret for the next page of a session, so that the form which made it can redirect to a page of its own:
 * reloading that page does not make another. The secret is sealed, and part of no address or log.
 *
 * @param purpose the secret's identity, such as `key key_12`; only a page with the same purpose gets it
 */
export async function keepForNextPage(
  { sessions, shownOnce, nowMs }: ShowOnceContext,
  sessionId: string,
  purpose: string,
  secret: string,
): Promise<void> {
  const sealed = shownOnce.seal(secret, ownerOf(sessionId, purpose));
  await sessions.keepChallenge(sessionId, purpose, `${nowMs() + KEPT_MS} ${sealed}`);
}

/** Returns the secret to the first caller within two minutes; null afterwards, and for another purpose. */
export async function takeForPage(
  { sessions, shownOnce, nowMs }: ShowOnceContext,
  sessionId: string,
  purpose: string,
): Promise<string | null> {
  const [untilMs, sealed] = (await sessions.takeChallenge(sessionId, purpose))?.split(' ') ?? [];
  if (sealed === undefined || !(nowMs() < Number(untilMs))) return null;
  return shownOnce.open(sealed, ownerOf(sessionId, purpose));
}
