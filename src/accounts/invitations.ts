import { invalidField, ServiceError } from '../payment/errors.ts';
import type { OneTimeLink } from './account-store.ts';
import { readLink } from './password-links.ts';
import { requireGoodPassword } from './passwords.ts';
import { type Actor, createLink, type PeopleContext, recordAction } from './people-context.ts';
import { MAXIMUM_MEMBERS, type Membership, parseUserEmail, type Role, type User } from './person.ts';
import { type Context, newUser, noRoom } from './users.ts';

const INVITATION_MS = 7 * 24 * 3_600_000;

/** Invites a person, replacing earlier invitations. Throws a 400 for an invalid email, a member or a full account. */
export async function invite(
  context: PeopleContext,
  accountId: string,
  { email: typed, role }: { readonly email: string; readonly role: Role },
  actor: Actor,
): Promise<{ readonly email: string; readonly token: string }> {
  const email = parseUserEmail(typed);
  if (email === null) throw invalidField('The email address', 'is not valid.', 'email');
  const members = await context.people.listMembers(accountId);
  if (members.some((member) => member.email === email)) {
    throw invalidField('The email address', 'belongs to a member already.', 'email');
  }
  if (members.length >= MAXIMUM_MEMBERS) {
    throw invalidField('The account', `may have at most ${MAXIMUM_MEMBERS} members.`);
  }
  // Ends earlier invitations, because an older link could restore a role that has since been removed.
  await endInvitations(context, accountId, email);
  const token = await createLink(context, { kind: 'invitation', email, accountId, role }, INVITATION_MS);
  await recordAction(context, accountId, actor, 'invitation.created', `${email} (${role})`);
  return { email, token };
}

async function endInvitations({ sessions, nowMs }: Context, accountId: string, email: string): Promise<void> {
  const invitations = await sessions.listInvitations(accountId, nowMs());
  for (const invitation of invitations) {
    if (invitation.email === email) await sessions.removeInvitation(accountId, invitation.id);
  }
}

/** Withdraws an open invitation of this account. Throws `not_found` for any other invitation. */
export async function withdrawInvitation(
  context: PeopleContext,
  accountId: string,
  invitationId: string,
  actor: Actor,
): Promise<void> {
  const invitations = await context.sessions.listInvitations(accountId, context.nowMs());
  const invitation = invitations.find(({ id }) => id === invitationId);
  if (invitation === undefined || !(await context.sessions.removeInvitation(accountId, invitationId))) {
    throw new ServiceError('not_found');
  }
  await recordAction(context, accountId, actor, 'invitation.withdrawn', invitation.email);
}

/** Reads an invitation; null for an invalid link. `user` is null if accepting would create the user. */
export async function findInvited(
  context: PeopleContext,
  token: string,
): Promise<{ readonly link: OneTimeLink; readonly accountName: string; readonly user: User | null } | null> {
  const link = await readLink(context, token, 'invitation');
  if (link === null || link.accountId === null) return null;
  const account = await context.accounts.findAccount(link.accountId);
  if (account === null) return null;
  return { link, accountName: account.name, user: await context.people.findUserByEmail(link.email) };
}

/**
 * Makes the invited person a member. An existing user must be signed in (`signedInAs`); a new user gets the submitted
 * password. Throws a 400 for a weak password or a full account.
 *
 * Without email, the inviting owner sees the link. The link must therefore neither set an existing user's password nor
 * reveal that the user exists. A link of an existing user returns `sign_in`, too, after the same time.
 */
export async function acceptInvitation(
  context: PeopleContext,
  token: string,
  {
    signedInAs,
    password,
    address,
  }: { readonly signedInAs: string | null; readonly password: string; readonly address: string },
): Promise<'accepted' | 'sign_in' | 'gone'> {
  const invited = await findInvited(context, token);
  if (invited === null) return 'gone';
  const { link, user } = invited;
  const isThem = user !== null && user.id === signedInAs;
  if (!isThem) requireGoodPassword(password, link.email);
  const passwordHash = isThem ? null : await context.passwords.hash(password);
  if (user !== null && !isThem) return 'sign_in';
  const { accountId, role } = link as OneTimeLink & { readonly accountId: string; readonly role: Role };
  const nowMs = context.nowMs();
  const member = user ?? newUser(link.email, passwordHash, nowMs);
  const result = await context.people.acceptInvitation(
    { accountId, role, userId: member.id, createdAtMs: nowMs },
    member,
    { tokenHash: link.tokenHash, nowMs },
  );
  // A concurrent request has created this user, possibly with another password.
  if (result === 'other_user') return 'sign_in';
  if (result === 'full') throw noRoom();
  if (result === 'gone') return 'gone';
  const actor = { name: member.email, userId: member.id, address };
  await recordAction(context, accountId, actor, 'invitation.accepted', role);
  return isThem ? 'accepted' : 'sign_in';
}

/** Changes a role, or ends the membership if null. Throws `not_found`, or a 400 for the last owner. */
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
  // Keeps the links if the role is unchanged, because owners must not be able to end a member's password links at will.
  if (role === member.role) return;
  await endInvitations(context, accountId, member.email);
  await context.sessions.endLinks(userId);
  if (role === null) await recordAction(context, accountId, actor, 'member.removed', member.email);
  else await recordAction(context, accountId, actor, 'member.changed', `${member.email} (${role})`);
}
