import type { SessionArea } from '../domain/dashboard-session.ts';
import type { RelyingParty } from '../domain/passkey.ts';
import type { Caller } from './create-session.ts';
import { type OpenedSession, openSession } from './open-session.ts';
import { usePasskey } from './passkeys.ts';
import type { SignedIn } from './read-session.ts';
import { type SecondFactorContext, spendCode } from './second-factor.ts';

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
