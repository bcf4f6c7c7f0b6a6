import { randomBytes } from 'node:crypto';
import { SERVICE_LOG } from '../domain/audit-entry.ts';
import { invalidField, ServiceError } from '../domain/errors.ts';
import { MAXIMUM_MEMBERS, type Role, type User } from '../domain/person.ts';
import { type Actor, operatorActor, type PeopleContext, recordAction } from './people-context.ts';
import { hasSecondFactor, removeSecondFactor } from './second-factor.ts';

/** A user as an operator or an invitation makes one. */
interface NewUser {
  /** As `parseUserEmail` gives it. */
  readonly email: string;
  /** Of a new user; null where it is set by a link. */
  readonly passwordHash?: string | null;
  /** Given by whoever may run the command line, and by nobody else. */
  readonly isOperator: boolean;
  /** What they may do, and where. */
  readonly membership: { readonly accountId: string; readonly role: Role } | null;
}

/**
 * Makes a user, or gives a known one another right, which ends their links for passwords. The right of an operator also takes
 * a known user's password and second factors (`changeOperator`). Throws when there is no such account, or no room in it.
 */
export async function createUser(
  context: Pick<PeopleContext, 'accounts' | 'people' | 'sessions' | 'audit' | 'nowMs'>,
  { email, passwordHash = null, isOperator, membership }: NewUser,
): Promise<User> {
  const { people, accounts, nowMs } = context;
  if (membership !== null && (await accounts.findAccount(membership.accountId)) === null) {
    throw new ServiceError('not_found', `There is no account ${membership.accountId}.`);
  }
  await people.createUser({
    id: `usr_${randomBytes(10).toString('hex')}`,
    email,
    passwordHash,
    totpSecret: null,
    totpStep: 0,
    isOperator: false,
    createdAtMs: nowMs(),
  });
  const known = await people.findUserByEmail(email);
  if (known === null) throw new Error(`the user ${email} was made and is not there`);
  const user =
    isOperator && !known.isOperator ? await changeOperator(context, known, true, operatorActor) : known;
  if (membership !== null) await grantRole(context, user.id, membership);
  return user;
}

async function grantRole(
  { people, sessions, nowMs }: Pick<PeopleContext, 'people' | 'sessions' | 'nowMs'>,
  userId: string,
  membership: { readonly accountId: string; readonly role: Role },
): Promise<void> {
  if (!(await people.putMembership({ ...membership, userId, createdAtMs: nowMs() })))
    throw invalidField('account', `may have at most ${MAXIMUM_MEMBERS} members.`);
  // A link that was given for fewer rights must not open more.
  await sessions.endLinks(userId);
}

type Context = Pick<PeopleContext, 'people' | 'sessions' | 'audit' | 'nowMs'>;

/**
 * Gives or takes the right to the operator's console, and ends the user's sessions and password links. Giving it also takes
 * the password and all second factors: the address may have been taken by who was invited to it first, and only a new link
 * proves whose it is. Written down first, in the log of the service: no right changes without a trace.
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
  if (isGiven && (await hasSecondFactor(context, user))) await removeSecondFactor(context, user, actor);
  const changed = await context.people.updateUser(user.id, {
    isOperator,
    ...(isGiven ? { passwordHash: null } : {}),
  });
  // Also of who had no such right: it may have been asked for again because the first time was cut off here.
  if (isGiven || !isOperator) {
    await context.sessions.endSessions(user.id, null);
    await context.sessions.endLinks(user.id);
  }
  return changed ?? user;
}
