import { randomBytes } from 'node:crypto';
import type {
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
  RegistrationResponseJSON,
} from '@simplewebauthn/server';
import { invalidField } from '../payment/errors.ts';
import { parseJson } from '../platform/read-json.ts';
import { type Actor, type RecordContext, recordForUser } from './people-context.ts';
import type { Passkey, RelyingParty, User } from './person.ts';
import { dropCodesWithoutFactor, renewRecoveryCodes, type SecondFactorContext } from './second-factor.ts';
import { keepForNextPage, type ShowOnceContext, type SignedIn, takeForPage } from './sessions.ts';

export interface PasskeyContext extends SecondFactorContext, ShowOnceContext {
  /** Null if browsers do not allow passkeys for the service's URL. */
  readonly party: RelyingParty | null;
}

const CHALLENGE_MS = 5 * 60_000;
/** Purpose under which the session stores the challenge, separate from secrets that a page shows once. */
const PASSKEY_PURPOSE = 'passkey';
const MAXIMUM_NAME_CHARACTERS = 60;

/** Loads the library when a passkey is first used, because it takes as much memory as the rest of the dashboard. */
const loadLibrary = () => import('@simplewebauthn/server');

/** Creates a challenge for a passkey to sign. The session stores the challenge, which can be used once. */
export async function createChallenge(
  context: ShowOnceContext,
  sessionId: string,
): Promise<Uint8Array<ArrayBuffer>> {
  const challenge = Uint8Array.from(randomBytes(32));
  const text = Buffer.from(challenge).toString('base64url');
  await keepForNextPage(context, sessionId, PASSKEY_PURPOSE, text, CHALLENGE_MS);
  return challenge;
}

/** Returns options for creating a passkey in the browser; null if browsers do not allow passkeys here. */
export async function offerPasskey(
  context: PasskeyContext,
  { user, session }: SignedIn,
): Promise<PublicKeyCredentialCreationOptionsJSON | null> {
  const { party } = context;
  if (party === null) return null;
  const { generateRegistrationOptions } = await loadLibrary();
  const known = await context.people.listPasskeys(user.id);
  return generateRegistrationOptions({
    challenge: await createChallenge(context, session.id),
    rpName: 'card-checkout',
    rpID: party.host,
    userName: user.email,
    userID: Uint8Array.from(Buffer.from(user.id)),
    attestationType: 'none',
    timeout: CHALLENGE_MS,
    excludeCredentials: known.map(({ id }) => ({ id })),
    authenticatorSelection: { residentKey: 'preferred', userVerification: 'preferred' },
  });
}

/** Adds a passkey. Returns recovery codes if it is the user's first second factor. Throws a 400 if it is refused. */
export async function addPasskey(
  context: PasskeyContext,
  { user, session }: SignedIn,
  { name, response }: { readonly name: string; readonly response: string },
  actor: Actor,
): Promise<readonly string[] | null> {
  const shownName = name.trim().slice(0, MAXIMUM_NAME_CHARACTERS) || 'Passkey';
  const found = await readNewCredential(context, response, session.id);
  if (found === null) throw invalidField('The passkey', 'was not accepted. Please try again.');
  const isFirst = user.totpSecret === null && (await context.people.listPasskeys(user.id)).length === 0;
  const isAdded = await context.people.addPasskey(
    { ...found, userId: user.id, name: shownName, createdAtMs: context.nowMs(), lastUsedAtMs: null },
    { user, sessionId: session.id },
  );
  if (!isAdded) throw invalidField('The passkey', 'exists already, or you have reached the maximum number.');
  const codes = isFirst ? await renewRecoveryCodes(context, { user, session }) : null;
  await recordForUser(context, user, actor, 'passkey.added', shownName);
  return codes;
}

/** Returns options for signing with a passkey; null if the user has none, or if browsers do not allow passkeys here. */
export async function askForPasskey(
  context: PasskeyContext,
  { user, session }: SignedIn,
  challenge = () => createChallenge(context, session.id),
): Promise<PublicKeyCredentialRequestOptionsJSON | null> {
  const { party } = context;
  const known = await context.people.listPasskeys(user.id);
  if (known.length === 0 || party === null) return null;
  const { generateAuthenticationOptions } = await loadLibrary();
  return generateAuthenticationOptions({
    challenge: await challenge(),
    rpID: party.host,
    timeout: CHALLENGE_MS,
    userVerification: 'preferred',
    allowCredentials: known.map(({ id, transports }) => ({ id, transports: JSON.parse(transports) })),
  });
}

/** Returns whether a passkey of the user signed this session's challenge. Uses up the challenge. */
export async function usePasskey(
  context: PasskeyContext,
  { user, session }: SignedIn,
  response: string,
): Promise<boolean> {
  const challenge = await takeForPage(context, session.id, PASSKEY_PURPOSE);
  if (challenge === null) return false;
  const passkeys = await context.people.listPasskeys(user.id);
  return recordUse(context, passkeys, response, { challenge });
}

const CHALLENGE_OWNER = 'passkey challenge of a visitor';

/**
 * Returns options for signing in with a discoverable passkey alone, before the user is known. Instead of being stored,
 * the challenge is sealed with its time. Returns null if browsers do not allow passkeys here.
 */
export function offerPasskeySignIn({ secondFactor, nowMs, party }: PasskeyContext) {
  if (party === null) return null;
  const challenge = randomBytes(32).toString('base64url');
  return {
    options: { challenge, rpId: party.host, timeout: CHALLENGE_MS, userVerification: 'required' },
    sealed: secondFactor.box.seal(`${nowMs()} ${challenge}`, CHALLENGE_OWNER),
  };
}

/** Returns the user whose passwordless passkey signed a challenge newer than its last use; null if there is none. */
export async function usePasskeyAlone(
  context: PasskeyContext,
  asked: { readonly response: string; readonly sealed: string },
): Promise<User | null> {
  const opened = context.secondFactor.box.open(asked.sealed, CHALLENGE_OWNER);
  const [madeAtMs = 0, challenge = ''] = opened?.split(' ') ?? [];
  const unusedSinceMs = Number(madeAtMs);
  if (context.nowMs() - unusedSinceMs >= CHALLENGE_MS) return null;
  const answer = parseJson(asked.response) as { response?: { userHandle?: unknown } } | null | undefined;
  const userId = Buffer.from(String(answer?.response?.userHandle ?? ''), 'base64url').toString();
  const user = await context.people.findUser(userId);
  if (user === null) return null;
  const passkeys = (await context.people.listPasskeys(user.id)).filter(
    ({ isPasswordless }) => isPasswordless,
  );
  return (await recordUse(context, passkeys, asked.response, { challenge, unusedSinceMs })) ? user : null;
}

/** Verifies a signature and records the use. If `unusedSinceMs` is given, the passkey must also verify the user. */
async function recordUse(
  { people, nowMs, party }: PasskeyContext,
  passkeys: readonly Passkey[],
  response: string,
  { challenge, unusedSinceMs }: { readonly challenge: string; readonly unusedSinceMs?: number },
): Promise<boolean> {
  const answer = parseJson(response) as Readonly<Record<string, unknown>> | null | undefined;
  const passkey = passkeys.find(({ id }) => id === answer?.['id']);
  if (passkey === undefined || party === null) return false;
  const { verifyAuthenticationResponse } = await loadLibrary();
  const { id, userId, publicKey, counter } = passkey;
  const verified = await verifyAuthenticationResponse({
    response: answer as never,
    expectedChallenge: challenge,
    expectedOrigin: party.origin,
    expectedRPID: party.host,
    requireUserVerification: unusedSinceMs !== undefined,
    credential: { id, publicKey: Uint8Array.from(Buffer.from(publicKey, 'base64url')), counter },
  }).catch(() => null);
  if (verified?.verified !== true) return false;
  // Checks the counter and last use in the write, so that only one of two concurrent responses counts.
  return people.usePasskey(userId, id, verified.authenticationInfo.newCounter, nowMs(), unusedSinceMs);
}

/** Removes a passkey, and the recovery codes if no second factor is left. Throws a 400 for an unknown passkey. */
export async function removePasskey(
  context: RecordContext,
  { user, session }: SignedIn,
  id: string,
  actor: Actor,
): Promise<void> {
  const passkey = (await context.people.listPasskeys(user.id)).find((known) => known.id === id);
  const guard = { user, sessionId: session.id };
  if (passkey === undefined || !(await context.people.removePasskey(user.id, id, guard)))
    throw invalidField('The passkey', 'does not exist any more.');
  await dropCodesWithoutFactor(context, user.id);
  await recordForUser(context, user, actor, 'passkey.removed', passkey.name);
}

async function readNewCredential(
  context: PasskeyContext,
  response: string,
  sessionId: string,
): Promise<Pick<Passkey, 'id' | 'publicKey' | 'counter' | 'transports' | 'isPasswordless'> | null> {
  const { party } = context;
  const challenge = await takeForPage(context, sessionId, PASSKEY_PURPOSE);
  if (challenge === null || party === null) return null;
  const { verifyRegistrationResponse } = await loadLibrary();
  const answer = parseJson(response) as RegistrationResponseJSON;
  const verified = await verifyRegistrationResponse({
    response: answer,
    expectedChallenge: challenge,
    expectedOrigin: party.origin,
    expectedRPID: party.host,
    requireUserVerification: false,
  }).catch(() => null);
  if (verified?.verified !== true) return null;
  const { id, publicKey, counter, transports = [] } = verified.registrationInfo.credential;
  return {
    id,
    counter,
    isPasswordless:
      verified.registrationInfo.userVerified && answer.clientExtensionResults?.credProps?.rk === true,
    publicKey: Buffer.from(publicKey).toString('base64url'),
    transports: JSON.stringify(transports.filter((name) => /^[a-z-]{1,20}$/.test(name)).slice(0, 10)),
  };
}
