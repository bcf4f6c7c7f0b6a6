import { type AuditAction, SERVICE_LOG } from '../domain/audit-entry.ts';
import type { User } from '../domain/person.ts';
import { type Actor, type PeopleContext, recordAction } from './people-context.ts';

/** What is done to a user, and not in an account. */
type UserAction = Extract<
  AuditAction,
  `password.${string}` | `second_factor.${string}` | `passkey.${string}`
>;

/**
 * Writes down in each of the user's accounts what was done to the user, and in the log of the service where they may
 * sign in to the operator's console: an operator need be in no account.
 */
export async function recordForUser(
  context: Pick<PeopleContext, 'people' | 'audit' | 'nowMs'>,
  user: Pick<User, 'id' | 'email' | 'isOperator'>,
  actor: Actor,
  action: UserAction,
  target: string | null = user.email,
): Promise<void> {
  for (const { accountId } of await context.people.listMemberships(user.id)) {
    await recordAction(context, accountId, actor, action, target);
  }
  if (user.isOperator) await recordAction(context, SERVICE_LOG, actor, action, target);
}
