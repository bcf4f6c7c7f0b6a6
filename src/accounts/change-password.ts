import { invalidField } from '../domain/errors.ts';
import type { User } from '../domain/person.ts';
import { requireGoodPassword } from './passwords.ts';
import type { Actor, PeopleContext } from './people-context.ts';
import { recordForUser } from './record-for-user.ts';

/** Sets another password and ends the user's sessions but this one, and all links that set it. Throws a 400 for one that is not good enough. */
export async function changePassword(
  context: PeopleContext,
  user: User,
  { password, sessionId }: { readonly password: string; readonly sessionId: string },
  actor: Actor,
): Promise<void> {
  requireGoodPassword(password, user.email);
  await context.people.updateUser(user.id, { passwordHash: await context.passwords.hash(password) });
  await context.sessions.endSessions(user.id, sessionId);
  await context.sessions.endLinks(user.id);
  await recordForUser(context, user, actor, 'password.set');
}

/** Throws a 400 unless the password is the user's: whoever finds an open browser must not change who gets in. */
export async function requireOwnPassword(
  { passwords }: Pick<PeopleContext, 'passwords'>,
  user: User,
  password: string,
): Promise<void> {
  if (await passwords.verify(password, user.passwordHash)) return;
  throw invalidField('The password', 'is not your current password.');
}
