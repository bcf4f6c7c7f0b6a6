import { SERVICE_LOG } from '../domain/audit-entry.ts';
import type { User } from '../domain/person.ts';
import { type Actor, type PeopleContext, recordAction } from './people-context.ts';

type Context = Pick<PeopleContext, 'people' | 'sessions' | 'audit' | 'nowMs'>;

/**
 * Gives or takes the right to the operator's console. Whoever loses it is signed out everywhere. Written down first, in
 * the log of the service: no right changes without a trace.
 */
export async function changeOperator(
  context: Context,
  user: User,
  isOperator: boolean,
  actor: Actor,
): Promise<User> {
  if (user.isOperator !== isOperator) {
    const action = isOperator ? 'operator.granted' : 'operator.revoked';
    await recordAction(context, SERVICE_LOG, actor, action, user.email);
  }
  const changed = await context.people.updateUser(user.id, { isOperator });
  // Also of who had no such right: it may have been asked for again because the first time was cut off here.
  if (!isOperator) await context.sessions.endSessions(user.id, null);
  return changed ?? user;
}
