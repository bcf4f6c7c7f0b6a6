import { randomBytes } from 'node:crypto';
import { SERVICE_LOG } from '../domain/audit-entry.ts';
import { invalidField, ServiceError } from '../domain/errors.ts';
import { MAXIMUM_MEMBERS, type Role, type User } from '../domain/person.ts';
import {
  type Actor,
  operatorActor,
  type PeopleContext,
  recordAction,
  recordForUser,
} from './people-context.ts';
import { hasSecondFactor } from './second-factor.ts';

/** A new user, by an operator or an invitation. */
interface NewUser {
  /** As `parseUserEmail` returns it. */
  readonly email: string;
  /** The password of a new user; null if a link sets it. */
  readonly passwordHash?: string | null;
  /** The right to the console, which only the command line grants. */
  readonly isOperator: boolean;
  /** The role and its account. */
  readonly membership: { readonly accountId: string; readonly role: Role } | null;
}

/**
 * Creates a user, or gives an existing one another role, which ends the user's password links. The operator role also
 * removes an existing user's password and second factors (`changeOperator`). Throws when there is no such account, or
 * no room in it.
 */
export async function createUser(
  context: Pick<PeopleContext, 'accounts' | 'people' | 'sessions' | 'audit' | 'nowMs'>,
  { email, passwordHash = null, isOperator, membership }: NewUser,
): Promise<User> {
  const { people, accounts, nowMs } = context;
  if (membership !== null && (await accounts.findAccount(membership.accountId)) === null) {
    throw new ServiceError('not_found', `The account ${membership.accountId} does not exist.`);
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
  if (known === null) throw new Error(`the user ${email} was created but cannot be read`);
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
  // A link issued for fewer rights must not open more.
  await sessions.endLinks(userId);
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
