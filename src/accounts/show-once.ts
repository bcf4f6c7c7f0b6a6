import type { SecretBox } from '../platform/secret-box.ts';
import type { PeopleContext } from './people-context.ts';

/** What a secret that is shown once needs. */
export interface ShowOnceContext extends Pick<PeopleContext, 'sessions' | 'nowMs'> {
  readonly shownOnce: SecretBox;
}

/** From the form that makes a secret to the page that shows it. */
const KEPT_MS = 2 * 60_000;

const ownerOf = (sessionId: string, purpose: string) => `${purpose} for ${sessionId}`;

/**
 * Keeps a secret for the next page of a session, so that the form which made it can lead on to a page of its own: reloading
 * that page does not make another. Sealed, and no part of an address or a log.
 *
 * @param purpose what it is, such as `key key_12`; only a page that asks for the same is given it
 */
export async function keepForNextPage(
  { sessions, shownOnce, nowMs }: ShowOnceContext,
  sessionId: string,
  purpose: string,
  secret: string,
): Promise<void> {
  const sealed = shownOnce.seal(secret, ownerOf(sessionId, purpose));
  await sessions.keepChallenge(sessionId, `${nowMs() + KEPT_MS} ${sealed}`);
}

/** Gives the secret to the first that asks for it, within two minutes; null afterwards, and for another purpose. */
export async function takeForPage(
  { sessions, shownOnce, nowMs }: ShowOnceContext,
  sessionId: string,
  purpose: string,
): Promise<string | null> {
  const [untilMs, sealed] = (await sessions.takeChallenge(sessionId))?.split(' ') ?? [];
  if (sealed === undefined || !(nowMs() < Number(untilMs))) return null;
  return shownOnce.open(sealed, ownerOf(sessionId, purpose));
}
