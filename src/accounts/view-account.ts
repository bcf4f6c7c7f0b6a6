import { randomBytes } from 'node:crypto';
import { VIEWING_MS } from '../domain/dashboard-session.ts';
import { ServiceError } from '../domain/errors.ts';
import type { User } from '../domain/person.ts';
import type { Caller } from './open-session.ts';
import { type PeopleContext, recordAction } from './people-context.ts';
import { createSecretToken } from './secret-token.ts';

const MAXIMUM_USER_AGENT_CHARACTERS = 300;

/**
 * Lets an operator look at an account's dashboard for a while, which the account's audit log tells, and ends an earlier
 * look. Returns the token for the browser's cookie. Throws `not_found`.
 */
export async function viewAccount(
  context: PeopleContext,
  operator: User,
  accountId: string,
  { address, userAgent }: Caller,
): Promise<string> {
  const account = await context.accounts.findAccount(accountId);
  if (account === null) throw new ServiceError('not_found');
  const { token, tokenHash } = createSecretToken();
  const nowMs = context.nowMs();
  const actor = { name: operator.email, userId: operator.id, address };
  // Before anything can be seen: nobody looks without a trace.
  await recordAction(context, accountId, actor, 'account.viewed');
  await endViewings(context, operator.id);
  await context.sessions.createSession({
    ...{ id: `ses_${randomBytes(10).toString('hex')}`, tokenHash, userId: operator.id, accountId },
    ...{ area: 'viewing', stage: 'open', createdAtMs: nowMs, lastSeenAtMs: nowMs },
    ...{ expiresAtMs: nowMs + VIEWING_MS, address },
    userAgent: userAgent.slice(0, MAXIMUM_USER_AGENT_CHARACTERS),
  });
  return token;
}

/** One look at a time: many would be the user's newest sessions, for which the console's own makes room in the end. */
async function endViewings({ sessions }: Pick<PeopleContext, 'sessions'>, userId: string): Promise<void> {
  for (const { id, area } of await sessions.listSessions(userId)) {
    if (area === 'viewing') await sessions.endSession(userId, id);
  }
}
