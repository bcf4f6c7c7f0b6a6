import { VIEWING_MS } from '../domain/dashboard-session.ts';
import { ServiceError } from '../domain/errors.ts';
import type { User } from '../domain/person.ts';
import { type Caller, createSession } from './create-session.ts';
import { type PeopleContext, recordAction } from './people-context.ts';

/**
 * Lets an operator look at an account's dashboard for a while, which the account's audit log tells, and ends an earlier
 * look. Returns the token for the browser's cookie. Throws `not_found`.
 */
export async function viewAccount(
  context: PeopleContext,
  operator: User,
  accountId: string,
  caller: Caller,
): Promise<string> {
  const account = await context.accounts.findAccount(accountId);
  if (account === null) throw new ServiceError('not_found');
  const actor = { name: operator.email, userId: operator.id, address: caller.address };
  // Before anything can be seen: nobody looks without a trace.
  await recordAction(context, accountId, actor, 'account.viewed');
  await endViewings(context, operator.id);
  return createSession(context, {
    userId: operator.id,
    accountId,
    area: 'viewing',
    stage: 'open',
    lifetimeMs: VIEWING_MS,
    caller,
  });
}

/** One look at a time: many would be the user's newest sessions, for which the console's own makes room in the end. */
async function endViewings({ sessions }: Pick<PeopleContext, 'sessions'>, userId: string): Promise<void> {
  for (const { id, area } of await sessions.listSessions(userId)) {
    if (area === 'viewing') await sessions.endSession(userId, id);
  }
}
