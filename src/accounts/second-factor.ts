import { randomBytes } from 'node:crypto';
import { Secret, TOTP } from 'otpauth';
import { invalidField } from '../payment/errors.ts';
import type { KeyedHash } from '../platform/keyed-hash.ts';
import type { SecretBox } from '../platform/secret-box.ts';
import type { UserGuard } from './account-store.ts';
import {
  type Actor,
  accessChanged,
  type PeopleContext,
  type RecordContext,
  recordForUser,
} from './people-context.ts';
import type { User } from './person.ts';
import type { SignedIn } from './sessions.ts';

export interface SecondFactorContext extends PeopleContext {
  readonly secondFactor: { readonly box: SecretBox; readonly recoveryHash: KeyedHash };
}

/** Purpose from which the key that seals authenticator secrets is derived. */
export const SECOND_FACTOR = 'second factor';

type People = Pick<PeopleContext, 'people'>;

const CODE_DIGITS = 6;
const PERIOD_SECONDS = 30;
/** Number of time steps accepted before and after the current step, because clocks differ and typing takes time. */
const WINDOW_STEPS = 1;
const SECRET_BYTES = 20;
const RECOVERY_CODES = 10;
const RECOVERY_CODE_BYTES = 10;

export type TotpOffer = ReturnType<typeof offerTotp>;

/** Returns setup data for an authenticator app, with a new secret or that of the offer `earlier`. Stores nothing. */
export function offerTotp(
  { secondFactor }: Pick<SecondFactorContext, 'secondFactor'>,
  user: User,
  earlier = '',
) {
  const kept = secondFactor.box.open(earlier, user.id);
  const secret = kept ?? new Secret({ buffer: Uint8Array.from(randomBytes(SECRET_BYTES)).buffer }).base32;
  return {
    secret,
    uri: totpOf(secret, user.email).toString(),
    /** Sealed secret for the confirmation form, valid only for this user. */
    sealed: kept === null ? secondFactor.box.seal(secret, user.id) : earlier,
  };
}

/** Enables the app after its first code. Returns recovery codes. Throws a 400 for a wrong code or an expired form. */
export async function confirmTotp(
  context: SecondFactorContext,
  { user, session }: SignedIn,
  { sealed, code }: { readonly sealed: string; readonly code: string },
  actor: Actor,
): Promise<readonly string[]> {
  const secret = context.secondFactor.box.open(sealed, user.id);
  if (secret === null) throw invalidField('The form', 'has expired. Start again.');
  const totpStep = stepOf(secret, code, context.nowMs());
  if (totpStep === null)
    throw invalidField('The code', 'is wrong. Check that the clock of your device is correct.', 'code');
  const totpSecret = context.secondFactor.box.seal(secret, user.id);
  const guard = { user, sessionId: session.id };
  if ((await context.people.updateUser(user.id, { totpSecret, totpStep }, { guard })) === null)
    throw accessChanged();
  const codes = await renewRecoveryCodes(context, { user, session });
  await recordForUser(context, user, actor, 'second_factor.added');
  return codes;
}

export async function renewRecoveryCodes(
  { people, secondFactor }: Pick<SecondFactorContext, 'people' | 'secondFactor'>,
  { user, session }: SignedIn,
): Promise<readonly string[]> {
  const codes = Array.from({ length: RECOVERY_CODES }, createRecoveryCode);
  const hashes = codes.map((code) => secondFactor.recoveryHash.of(plain(code)));
  if (!(await people.replaceRecoveryCodes(user.id, hashes, { user, sessionId: session.id })))
    throw accessChanged();
  return codes;
}

export async function removeSecondFactor(context: RecordContext, user: User, actor: Actor): Promise<void> {
  await context.people.updateUser(user.id, {}, { removesSecondFactors: true });
  await recordForUser(context, user, actor, 'second_factor.removed');
}

/** Disables the authenticator app, but keeps passkeys. */
export async function removeTotp(
  context: RecordContext,
  user: User,
  actor: Actor,
  guard: UserGuard,
): Promise<void> {
  if ((await context.people.updateUser(user.id, { totpSecret: null }, { guard })) === null)
    throw accessChanged();
  await dropCodesWithoutFactor(context, user.id);
  await recordForUser(context, user, actor, 'second_factor.removed');
}

/** Removes the recovery codes of a user without a second factor, so that they are not valid for a later factor. */
export async function dropCodesWithoutFactor({ people }: People, userId: string): Promise<void> {
  const user = await people.findUser(userId);
  if (user === null || (await hasSecondFactor({ people }, user))) return;
  await people.replaceRecoveryCodes(userId, []);
}

export async function hasSecondFactor({ people }: People, user: User): Promise<boolean> {
  return user.totpSecret !== null || (await people.listPasskeys(user.id)).length > 0;
}

/** Uses up an app code or recovery code; false for a wrong code. Throws a 400 if the app's sealing key is missing. */
export async function consumeCode(
  { people, secondFactor, nowMs }: Pick<SecondFactorContext, 'people' | 'secondFactor' | 'nowMs'>,
  user: User,
  typed: string,
): Promise<boolean> {
  const code = plain(typed);
  if (code.length !== CODE_DIGITS)
    return people.consumeRecoveryCode(user.id, secondFactor.recoveryHash.candidates(code));
  if (user.totpSecret === null) return false;
  const secret = secondFactor.box.open(user.totpSecret, user.id);
  if (secret === null) {
    throw invalidField(
      'The code',
      'cannot be checked: a key of the service is missing. Ask the operator to restore it, or to reset your second factor.',
      'code',
    );
  }
  const step = stepOf(secret, code, nowMs());
  if (step === null || !(await people.consumeTotpStep(user.id, step))) return false;
  if (!secondFactor.box.isCurrent(user.totpSecret)) {
    const totpSecret = secondFactor.box.seal(secret, user.id);
    await people.updateUser(user.id, { totpSecret }, { guard: { user, sessionId: null } });
  }
  return true;
}

function totpOf(secret: string, email: string): TOTP {
  return new TOTP({
    issuer: 'card-checkout',
    label: email,
    algorithm: 'SHA1',
    digits: CODE_DIGITS,
    period: PERIOD_SECONDS,
    secret: Secret.fromBase32(secret),
  });
}

/** Returns the time step of a code; null if no accepted step matches. */
function stepOf(secret: string, typed: string, nowMs: number): number | null {
  const delta = totpOf(secret, '').validate({ token: plain(typed), timestamp: nowMs, window: WINDOW_STEPS });
  return delta === null ? null : Math.floor(nowMs / 1000 / PERIOD_SECONDS) + delta;
}

/** Creates a recovery code, such as "abcd-efgh-ijkl-mnop". */
function createRecoveryCode(): string {
  const text = new Secret({ buffer: Uint8Array.from(randomBytes(RECOVERY_CODE_BYTES)).buffer }).base32;
  return (text.toLowerCase().match(/.{4}/g) ?? []).join('-');
}

function plain(code: string): string {
  return code.replaceAll(/[\s-]/g, '').toLowerCase();
}
