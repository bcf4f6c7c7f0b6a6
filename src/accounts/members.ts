import { invalidField, ServiceError } from '../payment/errors.ts';
import { endInvitations } from './invitations.ts';
import { type Actor, type PeopleContext, recordAction } from './people-context.ts';
import type { Membership, Role } from './person.ts';

/** Changes a role, or removes the member (null) with all links. Throws `not_found`, and a 400 for the last owner. */
export async function changeMember(
  context: PeopleContext,
  { accountId, userId, role }: Pick<Membership, 'accountId' | 'userId'> & { readonly role: Role | null },
  actor: Actor,
): Promise<void> {
  const members = await context.people.listMembers(accountId);
  const member = members.find((candidate) => candidate.userId === userId);
  const result = await context.people.changeMembership(accountId, userId, role);
  if (member === undefined || result === 'unknown') throw new ServiceError('not_found');
  if (result === 'last_owner')
    throw invalidField('The account', 'needs an owner: make another member an owner first.');
  // Without a change of rights, an owner must not be able to end a member's password links.
  if (role === member.role) return;
  await endInvitations(context, accountId, member.email);
  await context.sessions.endLinks(userId);
  if (role === null) await recordAction(context, accountId, actor, 'member.removed', member.email);
  else await recordAction(context, accountId, actor, 'member.changed', `${member.email} (${role})`);
}
