import { ServiceError } from '../domain/errors.ts';
import { type Actor, type PeopleContext, recordAction } from './people-context.ts';
import type { SignedIn } from './read-session.ts';

/** Looks at another of the user's accounts with this session. Throws `not_found` for one that is not theirs. */
export async function chooseAccount(
  context: Pick<PeopleContext, 'people' | 'sessions' | 'audit' | 'nowMs'>,
  { user, session }: SignedIn,
  accountId: string,
  actor: Actor,
): Promise<void> {
  const memberships = await context.people.listMemberships(user.id);
  if (!memberships.some((membership) => membership.accountId === accountId))
    throw new ServiceError('not_found');
  await context.sessions.chooseAccount(session.id, accountId);
  // In the log of the account that was entered, which would otherwise have deeds of somebody who never came.
  await recordAction(context, accountId, actor, 'session.came_over');
}
