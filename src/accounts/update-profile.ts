import type { Account, AccountChange } from '../domain/account.ts';
import { parseRetentionDays } from '../domain/email-retention.ts';
import { invalidField } from '../domain/errors.ts';
import type { Address } from '../domain/payout-address.ts';
import type { CallbackGuard } from '../domain/ports/callback-guard.ts';
import { parseShopLogo } from '../domain/shop-logo.ts';
import {
  parseMaxProviderFee,
  parseName,
  parseReturnUrl,
  parseSupportUrl,
  parseTimeZone,
  parseTolerance,
  requireWalletForLock,
} from '../domain/shop-profile.ts';
import type { AccountsContext } from './create-account.ts';

export interface ProfileContext extends AccountsContext {
  readonly callbacks: CallbackGuard;
}

/** What a merchant may change of its account, as people type it; absent fields stay, empty text takes away. */
export interface ProfileUpdate {
  readonly name?: string;
  /** An https address or an e-mail address. */
  readonly supportLink?: string;
  readonly returnLink?: string;
  readonly timeZone?: string;
  readonly defaultCallback?: string;
  readonly wallet?: Address | null;
  readonly isWalletLocked?: boolean;
  /** For how many days customers' e-mail addresses are kept. */
  readonly emailRetentionDays?: string;
  /** Percentages of the paid threshold. */
  readonly tolerancePercent?: string;
  readonly maxProviderFeePercent?: string;
  readonly isToldOfTrouble?: boolean;
  /** A picture's bytes; null takes the logo away. */
  readonly logo?: Uint8Array | null;
}

/**
 * Judges an update of this account's profile; `updateAccount(context, id, { profile })` writes it. Payments that exist
 * keep their wallet and callback. Throws `invalid_request`, naming the field.
 */
export async function readProfileUpdate(
  { callbacks }: Pick<ProfileContext, 'callbacks'>,
  account: Account,
  update: ProfileUpdate,
): Promise<AccountChange> {
  const { name, supportLink, returnLink, timeZone, defaultCallback, wallet, isWalletLocked, logo } = update;
  const { emailRetentionDays, isToldOfTrouble, tolerancePercent, maxProviderFeePercent } = update;
  requireWalletForLock(
    wallet === undefined ? account.wallet : wallet,
    isWalletLocked ?? account.isWalletLocked,
  );
  return {
    ...(name === undefined ? {} : { name: parseName(name) }),
    ...(supportLink === undefined ? {} : { supportUrl: parseSupportUrl(supportLink) }),
    ...(returnLink === undefined ? {} : { returnUrl: parseReturnUrl(returnLink) }),
    ...(timeZone === undefined ? {} : { timeZone: parseTimeZone(timeZone) }),
    ...(wallet === undefined ? {} : { wallet }),
    ...(isWalletLocked === undefined ? {} : { isWalletLocked }),
    ...(isToldOfTrouble === undefined ? {} : { isToldOfTrouble }),
    ...(tolerancePercent === undefined ? {} : { toleranceBasisPoints: parseTolerance(tolerancePercent) }),
    ...(maxProviderFeePercent === undefined
      ? {}
      : { maxProviderFeeBasisPoints: parseMaxProviderFee(maxProviderFeePercent) }),
    ...(emailRetentionDays === undefined
      ? {}
      : {
          emailRetentionDays:
            emailRetentionDays === '' ? null : parseRetentionDays(emailRetentionDays, 'email-retention'),
        }),
    ...(logo === undefined ? {} : { logo: logo === null ? null : parseShopLogo(logo) }),
    // Last, because DNS may be asked about it.
    ...(defaultCallback === undefined
      ? {}
      : { defaultCallbackUrl: await requireCallback(callbacks, defaultCallback) }),
  };
}

async function requireCallback(callbacks: CallbackGuard, callback: string): Promise<string | null> {
  if (callback === '') return null;
  const refusal = await callbacks.refusalOf(callback);
  if (refusal !== null) throw invalidField('default-callback', refusal);
  return callback;
}
