import { randomBytes } from 'node:crypto';
import type { OneTimeLink } from '../domain/dashboard-session.ts';
import { invalidField, ServiceError } from '../domain/errors.ts';
import { MAXIMUM_MEMBERS, parseUserEmail, type Role, type User } from '../domain/person.ts';
import { readLink } from './password-links.ts';
import { requireGoodPassword } from './passwords.ts';
import { type Actor, createSecretToken, type PeopleContext, recordAction } from './people-context.ts';
import { createUser } from './users.ts';

/** How long an invitation is valid. */
const INVITATION_MS = 7 * 24 * 3_600_000;

/** Invites a person to an account, and returns the token of the link. Throws a 400 for an invalid address. */
export async function invite(
  context: PeopleContext,
  accountId: string,
  { email: typed, role }: { readonly email: string; readonly role: Role },
  actor: Actor,
): Promise<{ readonly email: string; readonly token: string }> {
  const email = parseUserEmail(typed);
  if (email === null) throw invalidField('The e-mail address', 'is not valid.');
  const members = await context.people.listMembers(accountId);
  if (members.some((member) => member.email === email)) {
    throw invalidField('The e-mail address', 'belongs to a member already.');
  }
  if (members.length >= MAXIMUM_MEMBERS) {
    throw invalidField('The account', `may have at most ${MAXIMUM_MEMBERS} members.`);
  }
  // One at a time: an older link would restore a role that was removed since.
  await endInvitations(context, accountId, email);
  const { token, tokenHash } = createSecretToken();
  const nowMs = context.nowMs();
  await context.sessions.createLink({
    id: `inv_${randomBytes(10).toString('hex')}`,
    tokenHash,
    kind: 'invitation',
    email,
    userId: null,
    accountId,
    role,
    createdAtMs: nowMs,
    expiresAtMs: nowMs + INVITATION_MS,
  });
  await recordAction(context, accountId, actor, 'invitation.created', `${email} (${role})`);
  return { email, token };
}

/** Ends the account's invitations of an address. */
async function endInvitations(
  { sessions, nowMs }: Pick<PeopleContext, 'sessions' | 'nowMs'>,
  accountId: string,
  email: string,
): Promise<void> {
  const invitations = await sessions.listInvitations(accountId, nowMs());
  for (const invitation of invitations) {
    if (invitation.email === email) await sessions.removeInvitation(accountId, invitation.id);
  }
}

/** Revokes an invitation. Throws `not_found` for one of another account and for one that never existed. */
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

/** Who may accept an invitation: the user of its address, or the holder of the link if there is no such user. */
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
 * Makes the invited person a member and uses the invitation up. An existing user must be signed in with the address
 * (`signedInAs`); a new user gets the submitted password. Without e-mail the inviting owner sees the link. The link
 * must therefore not set the password of a user who may belong to other accounts, nor reveal whether such a user
 * exists. That case gets the same answer after the same time (`sign_in`), and the invitation stays for the user to
 * accept.
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
  if ((await context.sessions.takeLink(link.tokenHash, context.nowMs())) === null) return 'gone';
  const { accountId, role } = link as OneTimeLink & { readonly accountId: string; readonly role: Role };
  const member = await createUser(context, {
    email: link.email,
    passwordHash,
    isOperator: false,
    membership: { accountId, role },
  });
  const actor = { name: member.email, userId: member.id, address };
  await recordAction(context, accountId, actor, 'invitation.accepted', role);
  return isThem ? 'accepted' : 'sign_in';
}

/**
 * Changes the role of a member, or removes the member (null). The change applies from the member's next request, and
 * links that set the member's password end. Throws `not_found` for a user who is no member, and a 400 if the account
 * would have no owner left.
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
    throw invalidField('The account', 'needs an owner: make another member an owner first.');
  // No rights change: an owner of one account must not end the password links of its members at will.
  if (role === member.role) return;
  await endInvitations(context, accountId, member.email);
  await context.sessions.endLinks(userId);
  if (role === null) await recordAction(context, accountId, actor, 'member.removed', member.email);
  else await recordAction(context, accountId, actor, 'member.changed', `${member.email} (${role})`);
}
