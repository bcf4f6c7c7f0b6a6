import type { SessionArea } from '../domain/dashboard-session.ts';
import { parseUserEmail, type User } from '../domain/person.ts';
import type { Caller } from './create-session.ts';
import { type OpenedSession, openSession } from './open-session.ts';
import { isCurrentHash } from './passwords.ts';
import type { PeopleContext } from './people-context.ts';
import { hasSecondFactor } from './second-factor.ts';

/** What somebody claims to know. */
export interface Credentials {
  readonly email: string;
  readonly password: string;
}

/**
 * Begins a session for who knows the password, or one that asks for the second factor where there is one of any kind, or
 * to set one up where there is none and one is required. Null for everybody else: that there is no such user, no password yet or no right to this
 * area cannot be told from a wrong password, neither by the answer nor by the time it takes.
 */
export async function signIn(
  context: PeopleContext,
  { email, password }: Credentials,
  {
    area,
    caller,
    isKnownBrowser,
    isSecondFactorRequired,
  }: {
    readonly area: SessionArea;
    readonly caller: Caller;
    /** Whether this user has signed in with the browser before: strangers' tries do not take its place. */
    readonly isKnownBrowser: boolean;
    readonly isSecondFactorRequired: boolean;
  },
): Promise<OpenedSession | null> {
  const address = parseUserEmail(email);
  const user = address === null ? null : await context.people.findUserByEmail(address);
  const isRight = await context.passwords.verify(password, user?.passwordHash ?? null, {
    isStranger: !isKnownBrowser,
  });
  if (user === null || !isRight) return null;
  if (area === 'operator' && !user.isOperator) return null;
  await renewHash(context, user, password);
  const withoutSecondFactor = isSecondFactorRequired ? 'set_up' : 'open';
  const stage = (await hasSecondFactor(context, user)) ? 'second_factor' : withoutSecondFactor;
  return openSession(context, user, { area, stage, caller });
}

/** Where the parameters have been raised since. */
async function renewHash(context: PeopleContext, user: User, password: string): Promise<void> {
  if (user.passwordHash === null || isCurrentHash(user.passwordHash)) return;
  await context.people.updateUser(user.id, { passwordHash: await context.passwords.hash(password) });
}
