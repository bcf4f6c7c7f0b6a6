import { ServiceError } from '../domain/errors.ts';
import { type Actor, type PeopleContext, recordAction } from './people-context.ts';

/** Ends one of the user's own sessions, the one in use too. Throws `not_found` for any other. */
export async function endSession(
  context: Pick<PeopleContext, 'sessions' | 'audit' | 'nowMs'>,
  {
    userId,
    sessionId,
    accountId,
  }: { readonly userId: string; readonly sessionId: string; readonly accountId: string | null },
  actor: Actor,
): Promise<void> {
  if (!(await context.sessions.endSession(userId, sessionId))) throw new ServiceError('not_found');
  if (accountId !== null) await recordAction(context, accountId, actor, 'session.ended', sessionId);
}
