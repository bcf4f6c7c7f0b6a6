import { randomBytes } from 'node:crypto';
import { invalidField, type ServiceError } from '../payment/errors.ts';
import { SERVICE_LOG } from './audit-entry.ts';
import { findExistingAccount } from './manage-accounts.ts';
import {
  type Actor,
  operatorActor,
  type PeopleContext,
  recordAction,
  recordForUser,
} from './people-context.ts';
import { MAXIMUM_MEMBERS, type Membership, type User } from './person.ts';
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

export function newUser(email: string, passwordHash: string | null, createdAtMs: number): User {
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

export function noRoom(): ServiceError {
  return invalidField('account', `may have at most ${MAXIMUM_MEMBERS} members.`);
}

export type Context = Pick<PeopleContext, 'people' | 'sessions' | 'audit' | 'nowMs'>;

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
