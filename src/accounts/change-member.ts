import { invalidField, ServiceError } from '../domain/errors.ts';
import type { Role } from '../domain/person.ts';
import { endInvitations } from './invite.ts';
import { type Actor, type PeopleContext, recordAction } from './people-context.ts';

/**
 * Gives a member another role, or takes them out (null); it counts with their next request, and links that set their
 * password end. Throws `not_found` for who
 * is no member, and a 400 where the account would have no owner left.
 */
export async function changeMember(
  context: PeopleContext,
  {
    accountId,
    userId,
    role,
  }: { readonly accountId: string; readonly userId: string; readonly role: Role | null },
  actor: Actor,
): Promise<void> {
  const members = await context.people.listMembers(accountId);
  const member = members.find((candidate) => candidate.userId === userId);
  const result = await context.people.changeMembership(accountId, userId, role);
  if (member === undefined || result === 'unknown') throw new ServiceError('not_found');
  if (result === 'last_owner')
    throw invalidField('The account', 'must have an owner: make somebody else one first.');
  await endInvitations(context, accountId, member.email);
  await context.sessions.endLinks(userId);
  if (role === null) await recordAction(context, accountId, actor, 'member.removed', member.email);
  else await recordAction(context, accountId, actor, 'member.changed', `${member.email} (${role})`);
}
