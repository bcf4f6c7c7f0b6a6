import { randomBytes } from 'node:crypto';
import { Secret, TOTP } from 'otpauth';
import { invalidField } from '../domain/errors.ts';
import type { User } from '../domain/person.ts';
import type { KeyedHash } from '../platform/keyed-hash.ts';
import type { SecretBox } from '../platform/secret-box.ts';
import { type Actor, type PeopleContext, recordForUser } from './people-context.ts';

/** How the secrets of second factors are kept. */
export interface SecondFactorSecrets {
  readonly box: SecretBox;
  readonly recoveryHash: KeyedHash;
}

export interface SecondFactorContext extends PeopleContext {
  readonly secondFactor: SecondFactorSecrets;
}

/** What an authenticator app is given; nothing is kept of it before it is confirmed. */
export interface TotpOffer {
  /** For typing, in base32. */
  readonly secret: string;
  /** For scanning: `otpauth://…`. */
  readonly uri: string;
  /** For the form that confirms it; opens for this user only. */
  readonly sealed: string;
}

const PERIOD_SECONDS = 30;
/** Steps before and after this one whose codes are taken too: clocks differ, and people take their time. */
const WINDOW_STEPS = 1;
const SECRET_BYTES = 20;
const RECOVERY_CODES = 10;
/** 80 bits each. */
const RECOVERY_CODE_BYTES = 10;

/** A secret for this user's app: the one of an earlier offer, which may be in the app already, or else a new one. */
export function offerTotp(
  { secondFactor }: Pick<SecondFactorContext, 'secondFactor'>,
  user: User,
  earlier = '',
): TotpOffer {
  const kept = secondFactor.box.open(earlier, user.id);
  const secret = kept ?? new Secret({ buffer: Uint8Array.from(randomBytes(SECRET_BYTES)).buffer }).base32;
  return {
    secret,
    uri: totpOf(secret, user.email).toString(),
    sealed: kept === null ? secondFactor.box.seal(secret, user.id) : earlier,
  };
}

/** Switches the second factor on by a first code, and returns the recovery codes. Throws a 400 for a wrong one. */
export async function confirmTotp(
  context: SecondFactorContext,
  user: User,
  { sealed, code }: { readonly sealed: string; readonly code: string },
  actor: Actor,
): Promise<readonly string[]> {
  const secret = context.secondFactor.box.open(sealed, user.id);
  if (secret === null) throw invalidField('The form', 'is too old: please begin again.');
  const totpStep = stepOf(secret, code, context.nowMs());
  if (totpStep === null)
    throw invalidField('The code', 'is not the one of this moment. Is the clock of your device right?');
  await context.people.updateUser(user.id, {
    totpSecret: context.secondFactor.box.seal(secret, user.id),
    totpStep,
  });
  const codes = await renewRecoveryCodes(context, user);
  await recordForUser(context, user, actor, 'second_factor.added');
  return codes;
}

/** Ten new recovery codes; the earlier ones are worth nothing from now on. */
export async function renewRecoveryCodes(
  { people, secondFactor }: Pick<SecondFactorContext, 'people' | 'secondFactor'>,
  user: User,
): Promise<readonly string[]> {
  const codes = Array.from({ length: RECOVERY_CODES }, createRecoveryCode);
  await people.replaceRecoveryCodes(
    user.id,
    codes.map((code) => secondFactor.recoveryHash.of(plain(code))),
  );
  return codes;
}

/** Switches every second factor off. */
export async function removeSecondFactor(
  context: Pick<PeopleContext, 'people' | 'audit' | 'nowMs'>,
  user: User,
  actor: Actor,
): Promise<void> {
  for (const { id } of await context.people.listPasskeys(user.id)) {
    await context.people.removePasskey(user.id, id);
  }
  await removeTotp(context, user, actor);
}

/** Switches the authenticator app off; passkeys stay. */
export async function removeTotp(
  context: Pick<PeopleContext, 'people' | 'audit' | 'nowMs'>,
  user: User,
  actor: Actor,
): Promise<void> {
  await context.people.updateUser(user.id, { totpSecret: null });
  await dropCodesWithoutFactor(context, user.id);
  await recordForUser(context, user, actor, 'second_factor.removed');
}

/** Recovery codes stand in for a second factor: without any they would open nothing, and must not wait for the next. */
export async function dropCodesWithoutFactor(
  { people }: Pick<PeopleContext, 'people'>,
  userId: string,
): Promise<void> {
  const user = await people.findUser(userId);
  if (user === null || (await hasSecondFactor({ people }, user))) return;
  await people.replaceRecoveryCodes(userId, []);
}

/** How long a passkey that was just used stands in for the code of a form. */
const CONFIRMATION_MS = 5 * 60_000;
const ownerOfConfirmation = (sessionId: string) => `second factor confirmed in ${sessionId}`;

/** What a form carries after a passkey was used in this session. */
export function confirmSecondFactor(
  { secondFactor, nowMs }: Pick<SecondFactorContext, 'secondFactor' | 'nowMs'>,
  sessionId: string,
): string {
  return secondFactor.box.seal(String(nowMs() + CONFIRMATION_MS), ownerOfConfirmation(sessionId));
}

/** Whether a form carries such a confirmation, of this session and of the last minutes. */
export function isConfirmed(
  { secondFactor, nowMs }: Pick<SecondFactorContext, 'secondFactor' | 'nowMs'>,
  sessionId: string,
  confirmation: string,
): boolean {
  const untilMs = secondFactor.box.open(confirmation, ownerOfConfirmation(sessionId));
  return untilMs !== null && nowMs() < Number(untilMs);
}

/** Whether signing in takes more than the password: an authenticator app or a passkey. */
export async function hasSecondFactor(
  { people }: Pick<PeopleContext, 'people'>,
  user: User,
): Promise<boolean> {
  return user.totpSecret !== null || (await people.listPasskeys(user.id)).length > 0;
}

/**
 * Whether a code is right, and uses it up: a code of the app, or an earlier one, works no second time, and neither
 * does a recovery code, also when two come at once.
 */
export async function spendCode(
  { people, secondFactor, nowMs }: Pick<SecondFactorContext, 'people' | 'secondFactor' | 'nowMs'>,
  user: User,
  typed: string,
): Promise<boolean> {
  const code = plain(typed);
  if (!/^\d{6}$/.test(code))
    return people.spendRecoveryCode(user.id, secondFactor.recoveryHash.candidates(code));
  if (user.totpSecret === null) return false;
  const secret = secondFactor.box.open(user.totpSecret, user.id);
  if (secret === null) {
    throw new Error(
      'a second factor was sealed with a secret key that is not here; is SECRET_KEY_PREVIOUS complete?',
    );
  }
  const step = stepOf(secret, code, nowMs());
  if (step === null || !(await people.spendTotpStep(user.id, step))) return false;
  if (!secondFactor.box.isCurrent(user.totpSecret)) {
    await people.updateUser(user.id, { totpSecret: secondFactor.box.seal(secret, user.id) });
  }
  return true;
}

function totpOf(secret: string, email: string): TOTP {
  return new TOTP({
    issuer: 'card-checkout',
    label: email,
    algorithm: 'SHA1',
    digits: 6,
    period: PERIOD_SECONDS,
    secret: Secret.fromBase32(secret),
  });
}

/** The time step that a code is of; null when it is of none near. */
function stepOf(secret: string, typed: string, nowMs: number): number | null {
  const delta = totpOf(secret, '').validate({ token: plain(typed), timestamp: nowMs, window: WINDOW_STEPS });
  return delta === null ? null : Math.floor(nowMs / 1000 / PERIOD_SECONDS) + delta;
}

/** "abcd-efgh-ijkl-mnop" */
function createRecoveryCode(): string {
  const text = new Secret({ buffer: Uint8Array.from(randomBytes(RECOVERY_CODE_BYTES)).buffer }).base32;
  return (text.toLowerCase().match(/.{4}/g) ?? []).join('-');
}

/** Without the blanks and dashes that make codes easier to read. */
function plain(code: string): string {
  return code.replaceAll(/[\s-]/g, '').toLowerCase();
}
