import { SERVICE_LOG } from './audit-entry.ts';
import { type PasskeyContext, usePasskey, usePasskeyAlone } from './passkeys.ts';
import { type PeopleContext, recordAction, recordForUser } from './people-context.ts';
import { parseUserEmail, type User } from './person.ts';
import { consumeCode, hasSecondFactor } from './second-factor.ts';
import type { SessionArea } from './session-lifetimes.ts';
import { type Caller, type OpenedSession, openSession, type SignedIn } from './sessions.ts';

interface SignInOptions {
  readonly area: SessionArea;
  readonly caller: Caller;
  readonly isSecondFactorRequired: boolean;
}

/**
 * Starts a session if the password is correct; otherwise returns null. An unknown user, a missing password and a
 * missing right to this area are indistinguishable from a wrong password, even by timing.
 *
 * @param stranger network of a browser in which this user has not signed in before; null for a known browser
 */
export async function signIn(
  context: PeopleContext,
  { email, password }: { readonly email: string; readonly password: string },
  { stranger, ...options }: SignInOptions & { readonly stranger: string | null },
): Promise<OpenedSession | null> {
  const address = parseUserEmail(email);
  const user = address === null ? null : await context.people.findUserByEmail(address);
  const isRight = await context.passwords.verify(password, user?.passwordHash ?? null, stranger);
  if (user === null || !isRight) return null;
  if (options.area === 'operator' && !user.isOperator) return null;
  return openAfterPassword(context, user, options);
}

/** Records a failed sign-in in the user's accounts, or in the service log for an unknown email address. */
export async function recordFailedSignIn(
  context: PeopleContext,
  typed: string,
  address: string,
): Promise<void> {
  const email = parseUserEmail(typed);
  const user = email === null ? null : await context.people.findUserByEmail(email);
  const actor = { name: user?.email ?? 'unknown address', userId: user?.id ?? null, address };
  if (user === null) await recordAction(context, SERVICE_LOG, actor, 'sign_in.failed');
  else await recordForUser(context, user, actor, 'sign_in.failed', null);
}

/** Starts an open or pending session after the password check; null if the password or rights have since changed. */
export async function openAfterPassword(
  context: PeopleContext,
  user: User,
  { area, caller, isSecondFactorRequired }: SignInOptions,
): Promise<OpenedSession | null> {
  const withoutSecondFactor = isSecondFactorRequired ? 'set_up' : 'open';
  const stage = (await hasSecondFactor(context, user)) ? 'second_factor' : withoutSecondFactor;
  return openSession(context, user, { area, stage, caller });
}

/** Replaces the pending session with an open session. Returns null for a wrong code or passkey response. */
export async function passSecondFactor(
  context: PasskeyContext,
  signedIn: SignedIn,
  proof: { readonly code: string } | { readonly response: string },
  { area, caller }: Pick<SignInOptions, 'area' | 'caller'>,
): Promise<OpenedSession | null> {
  const { user, session } = signedIn;
  const isProved =
    'code' in proof
      ? await consumeCode(context, user, proof.code)
      : await usePasskey(context, signedIn, proof.response);
  if (!isProved || !(await context.sessions.endSession(user.id, session.id))) return null;
  return openSession(context, user, { area, stage: 'open', caller });
}

/** Starts a session for a passwordless passkey, which proves both device and user; null if the passkey is refused. */
export async function signInWithPasskey(
  context: PasskeyContext,
  asked: Parameters<typeof usePasskeyAlone>[1],
  { area, caller }: Pick<SignInOptions, 'area' | 'caller'>,
): Promise<OpenedSession | null> {
  const user = await usePasskeyAlone(context, asked);
  if (user === null || (area === 'operator' && !user.isOperator)) return null;
  return openSession(context, user, { area, stage: 'open', caller });
}
