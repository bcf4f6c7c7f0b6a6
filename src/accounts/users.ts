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

interface NewUser {
  readonly email: string;
  readonly isOperator: boolean;
  readonly membership: Pick<Membership, 'accountId' | 'role'> | null;
}

/**
 * Creates a user, or grants an existing user a membership or operator access. A membership ends the user's links.
 * Operator access also resets credentials (`changeOperator`). Throws for an unknown or full account.
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
  // Ends the user's links, because a link issued for fewer rights must not give access to the new rights.
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
 * Grants or revokes access to the operator's console, and ends the user's sessions and links. Granting access also
 * removes the password and all second factors, because someone else may have set them through an earlier invitation.
 * Only a new link proves who owns the email address. Records the change first, so that no change goes unrecorded.
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
  // Uses one transaction, so that a concurrent request with the old password or an old link cannot write later.
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
