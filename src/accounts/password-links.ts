import { invalidField } from '../payment/errors.ts';
import type { OneTimeLink } from './account-store.ts';
import { requireGoodPassword } from './passwords.ts';
import {
  type Actor,
  accessChanged,
  createLink,
  hashSecretToken,
  isSecretToken,
  type PeopleContext,
  recordForUser,
  type SessionContext,
} from './people-context.ts';
import type { User } from './person.ts';
import type { SignedIn } from './sessions.ts';

export const PASSWORD_LINK_MS = 24 * 3_600_000;

/**
 * Creates a link for setting a password and returns its token. A `forgotten` link leaves earlier links valid, so that a
 * stranger cannot end a user's link by requesting another one.
 */
export async function createPasswordLink(
  context: SessionContext,
  { id, email }: Pick<User, 'id' | 'email'>,
  kind: 'password' | 'forgotten' = 'password',
): Promise<string> {
  return createLink(context, { kind, email, userId: id }, PASSWORD_LINK_MS);
}

/** Reads a link without using it up; null if the link is unknown, expired or for another purpose. */
export async function readLink(
  { sessions, nowMs }: SessionContext,
  token: string,
  purpose: 'password' | 'invitation',
): Promise<OneTimeLink | null> {
  if (!isSecretToken(token)) return null;
  const link = await sessions.findLink(hashSecretToken(token));
  if (link === null || link.expiresAtMs <= nowMs()) return null;
  const kinds = purpose === 'invitation' ? ['invitation'] : ['password', 'forgotten'];
  return kinds.includes(link.kind) ? link : null;
}

/** Sets a password and ends all sessions and links. Returns null for an invalid link. Throws a 400 if too weak. */
export async function setPasswordByLink(
  context: PeopleContext,
  token: string,
  password: string,
  address: string,
): Promise<User | null> {
  const link = await readLink(context, token, 'password');
  if (link === null || link.userId === null) return null;
  requireGoodPassword(password, link.email);
  const passwordHash = await context.passwords.hash(password);
  // Uses up the link only here, so that it stays valid after a refused password. The same transaction sets the
  // password, so that only one of two concurrent requests succeeds.
  const user = await context.people.updateUser(
    link.userId,
    { passwordHash },
    { link: { tokenHash: link.tokenHash, nowMs: context.nowMs() }, endsAccess: { exceptSessionId: null } },
  );
  if (user === null) return null;
  const actor = { name: link.email, userId: link.userId, address };
  await recordForUser(context, user, actor, 'password.set', null);
  return user;
}

/** Sets a password and ends other sessions and all links. Throws a 400 for a weak password or lost access. */
export async function changePassword(
  context: PeopleContext,
  { user, session }: SignedIn,
  password: string,
  actor: Actor,
): Promise<void> {
  requireGoodPassword(password, user.email);
  const passwordHash = await context.passwords.hash(password);
  const changed = await context.people.updateUser(
    user.id,
    { passwordHash },
    { guard: { user, sessionId: session.id }, endsAccess: { exceptSessionId: session.id } },
  );
  if (changed === null) throw accessChanged();
  await recordForUser(context, user, actor, 'password.set');
}

/** Throws a 400 for a wrong password, because an unattended browser must not suffice to change credentials. */
export async function requireOwnPassword(
  context: PeopleContext,
  { user, actor }: { readonly user: User; readonly actor: Actor },
  password: string,
): Promise<void> {
  if (await context.passwords.verify(password, user.passwordHash)) return;
  await recordForUser(context, user, actor, 'password.failed', null);
  throw invalidField('The password', 'is incorrect.', 'password');
}
