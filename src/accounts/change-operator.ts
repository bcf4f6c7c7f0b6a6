import { SERVICE_LOG } from '../domain/audit-entry.ts';
import type { User } from '../domain/person.ts';
import { type Actor, type PeopleContext, recordAction } from './people-context.ts';
import { hasSecondFactor, removeSecondFactor } from './second-factor.ts';

type Context = Pick<PeopleContext, 'people' | 'sessions' | 'audit' | 'nowMs'>;

/**
 * Gives or takes the right to the operator's console, and ends the user's sessions and password links. Giving it also takes
 * the password and all second factors: the address may have been taken by who was invited to it first, and only a new link
 * proves whose it is. Written down first, in the log of the service: no right changes without a trace.
 */
export async function changeOperator(
  context: Context,
  user: User,
  isOperator: boolean,
  actor: Actor,
): Promise<User> {
  const isGiven = isOperator && !user.isOperator;
  if (user.isOperator !== isOperator) {
    const action = isOperator ? 'operator.granted' : 'operator.revoked';
    await recordAction(context, SERVICE_LOG, actor, action, user.email);
  }
  if (isGiven && (await hasSecondFactor(context, user))) await removeSecondFactor(context, user, actor);
  const changed = await context.people.updateUser(user.id, {
    isOperator,
    ...(isGiven ? { passwordHash: null } : {}),
  });
  // Also of who had no such right: it may have been asked for again because the first time was cut off here.
  if (isGiven || !isOperator) {
    await context.sessions.endSessions(user.id, null);
    await context.sessions.endLinks(user.id);
  }
  return changed ?? user;
}
