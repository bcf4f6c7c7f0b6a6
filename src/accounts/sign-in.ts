import type { SessionArea } from '../domain/dashboard-session.ts';
import { parseUserEmail, type RelyingParty, type User } from '../domain/person.ts';
import { usePasskey } from './passkeys.ts';
import { isCurrentHash } from './passwords.ts';
import type { PeopleContext } from './people-context.ts';
import { hasSecondFactor, type SecondFactorContext, spendCode } from './second-factor.ts';
import { type Caller, type OpenedSession, openSession, type SignedIn } from './sessions.ts';

/** What somebody claims to know. */
interface Credentials {
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

/** The second step by a passkey. Null where it is none of the user's, or has not signed what it was asked to. */
export async function passByPasskey(
  context: SecondFactorContext,
  signedIn: SignedIn,
  { response, party }: { readonly response: string; readonly party: RelyingParty },
  { area, caller }: { readonly area: SessionArea; readonly caller: Caller },
): Promise<OpenedSession | null> {
  const { user, session } = signedIn;
  if (!(await usePasskey(context, signedIn, response, party))) return null;
  await context.sessions.endSession(user.id, session.id);
  return openSession(context, user, { area, stage: 'open', caller });
}

/** The second step of signing in: opens a new session in place of the one that asked. Null for a wrong code. */
export async function passSecondFactor(
  context: SecondFactorContext,
  { user, session }: SignedIn,
  code: string,
  { area, caller }: { readonly area: SessionArea; readonly caller: Caller },
): Promise<OpenedSession | null> {
  if (!(await spendCode(context, user, code))) return null;
  await context.sessions.endSession(user.id, session.id);
  return openSession(context, user, { area, stage: 'open', caller });
}
