import { randomBytes } from 'node:crypto';
import { invalidField, ServiceError } from '../payment/errors.ts';
import { SERVICE_LOG } from './audit-entry.ts';
import { findExistingAccount } from './manage-accounts.ts';
import type { OneTimeLink } from './one-time-link.ts';
import { readLink } from './password-links.ts';
import { requireGoodPassword } from './passwords.ts';
import {
  type Actor,
  createLink,
  operatorActor,
  type PeopleContext,
  recordAction,
  recordForUser,
} from './people-context.ts';
import { MAXIMUM_MEMBERS, type Membership, parseUserEmail, type Role, type User } from './person.ts';
import { hasSecondFactor } from './second-factor.ts';

/** A new user, created by an operator. A link sets the password. */
interface NewUser {
  /** Email address as returned by `parseUserEmail`. */
  readonly email: string;
  /** Access to the console, which only the command line grants. */
  readonly isOperator: boolean;
  readonly membership: Pick<Membership, 'accountId' | 'role'> | null;
}

/**
 * Creates a user, or gives an existing one another role, which ends the user's password links. Operator access also
 * removes an existing user's password and second factors (`changeOperator`). Throws for an unknown or full account.
 */
export async function createUser(
  context: Pick<PeopleContext, 'accounts' | 'people' | 'sessions' | 'audit' | 'nowMs'>,
  { email, isOperator, membership }: NewUser,
): Promise<User> {
  const { people, sessions, nowMs } = context;
  if (membership !== null) await findExistingAccount(context, membership.accountId);
  await people.createUser(newUser(email, null, nowMs()));
  const known = await people.findUserByEmail(email);
  if (known === null) throw new Error(`the user ${email} was created but cannot be read`);
  const user =
    isOperator && !known.isOperator ? await changeOperator(context, known, true, operatorActor) : known;
  if (membership === null) return user;
  if (!(await people.putMembership({ ...membership, userId: user.id, createdAtMs: nowMs() }))) throw noRoom();
  // A link issued for fewer rights must not open more.
  await sessions.endLinks(user.id);
  return user;
}

function newUser(email: string, passwordHash: string | null, createdAtMs: number): User {
  return {
    id: `usr_${randomBytes(10).toString('hex')}`,
    email,
    passwordHash,
    totpSecret: null,
    totpStep: 0,
    isOperator: false,
    createdAtMs,
  };
}

function noRoom(): ServiceError {
  return invalidField('account', `may have at most ${MAXIMUM_MEMBERS} members.`);
}

type Context = Pick<PeopleContext, 'people' | 'sessions' | 'audit' | 'nowMs'>;

/**
 * Grants or revokes access to the operator's console, and ends the user's sessions and password links. Granting it also
 * removes the password and all second factors: the address may have been claimed by an earlier invitee, and only a new
 * link proves its owner. The service's log records the change first, so that every change leaves an entry.
 */
export async function changeOperator(
  context: Context,
  user: User,
  isOperator: boolean,
  actor: Actor,
): Promise<User> {
  const isGiven = isOperator && !user.isOperator;
  if (user.isOperator !== isOperator) {
    const action = isOperator ? 'operator.granted' : 'operator.revoked';
    await recordAction(context, SERVICE_LOG, actor, action, user.email);
  }
  if (isGiven && (await hasSecondFactor(context, user)))
    await recordForUser(context, user, actor, 'second_factor.removed');
  // One transaction: a request in progress with the old password or an old link cannot write after it.
  const changed = await context.people.updateUser(
    user.id,
    { isOperator, ...(isGiven ? { passwordHash: null } : {}) },
    {
      removesSecondFactors: isGiven,
      ...(isGiven || !isOperator ? { endsAccess: { exceptSessionId: null } } : {}),
    },
  );
  return changed ?? user;
}

const INVITATION_MS = 7 * 24 * 3_600_000;

/**
 * Invites a person to an account, which ends earlier invitations of the address, and returns the link's token. Throws a
 * 400 for an invalid address, a member's, or a full account.
 */
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
  // One at a time: an older link would restore a role that was removed since.
  await endInvitations(context, accountId, email);
  const token = await createLink(context, { kind: 'invitation', email, accountId, role }, INVITATION_MS);
  await recordAction(context, accountId, actor, 'invitation.created', `${email} (${role})`);
  return { email, token };
}

/** Ends the account's invitations of an address. */
async function endInvitations({ sessions, nowMs }: Context, accountId: string, email: string): Promise<void> {
  const invitations = await sessions.listInvitations(accountId, nowMs());
  for (const invitation of invitations) {
    if (invitation.email === email) await sessions.removeInvitation(accountId, invitation.id);
  }
}

/** Revokes an invitation. Throws `not_found` unless it is the account's. */
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

/**
 * Reads an invitation: its link, its account's name, and the user with its address, null if the holder of the link
 * becomes one. Null for an invalid link.
 */
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
 * Makes the invited person a member and uses up the invitation. An existing user must be signed in with the address
 * (`signedInAs`); a new user gets the submitted password. Throws a 400 for a weak password or a full account.
 *
 * Without email the inviting owner sees the link. It must therefore neither set the password of an existing user nor
 * reveal that one exists: that case gets the same answer after the same time (`sign_in`), and the invitation stays.
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
  // Another invitation created this user since, with a password other than the submitted one.
  if (result === 'other_user') return 'sign_in';
  if (result === 'full') throw noRoom();
  if (result === 'gone') return 'gone';
  const actor = { name: member.email, userId: member.id, address };
  await recordAction(context, accountId, actor, 'invitation.accepted', role);
  return isThem ? 'accepted' : 'sign_in';
}

/**
 * Changes the role of a member, or removes the member (null), from the member's next request on, and ends the member's
 * password links and invitations to the account. Throws `not_found` for a user who is not a member, and a 400 if no
 * owner would be left.
 */
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
  // Without a change of rights, an owner must not end the password links of members.
  if (role === member.role) return;
  await endInvitations(context, accountId, member.email);
  await context.sessions.endLinks(userId);
  if (role === null) await recordAction(context, accountId, actor, 'member.removed', member.email);
  else await recordAction(context, accountId, actor, 'member.changed', `${member.email} (${role})`);
}
