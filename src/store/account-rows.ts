import { type Account, type AccountChange, type Feature, isFeature } from '../domain/account.ts';
import { UnknownStateError } from '../domain/errors.ts';
import { isProviderId, type ProviderId } from '../domain/provider-catalogue.ts';
import { isLogoType, type ShopLogo } from '../domain/shop-profile.ts';

/** Columns for `SELECT … FROM accounts`. */
export const accountColumns = `
  accounts.id, accounts.name, accounts.email, accounts.fee_basis_points AS "feeBasisPoints", accounts.wallet,
  accounts.features, accounts.providers, accounts.suspended, accounts.created_at_ms AS "createdAtMs",
  accounts.logo_hash AS "logoHash", accounts.support_url AS "supportUrl", accounts.return_url AS "returnUrl",
  accounts.time_zone AS "timeZone", accounts.default_callback_url AS "defaultCallbackUrl",
  accounts.email_retention_days AS "emailRetentionDays", accounts.wallet_locked AS "isWalletLocked",
  accounts.receives_alerts AS "receivesAlerts", accounts.tolerance_basis_points AS "toleranceBasisPoints",
  accounts.max_provider_fee_basis_points AS "maxProviderFeeBasisPoints"`;

/** The pattern for a part of a name or e-mail address (`LIKE … ESCAPE '\\'`), and the whole id; null for all. */
export function searchPattern(
  search: string | null,
): { readonly pattern: string; readonly id: string } | null {
  if (search === null) return null;
  return { pattern: `%${search.replaceAll(/[\\%_]/g, '\\$&')}%`, id: search };
}

/** Columns of an account that may change, in the order in which both engines store them. */
export const changingColumns = [
  'name',
  'email',
  'fee_basis_points',
  'wallet',
  'logo_hash',
  'support_url',
  'return_url',
  'time_zone',
  'default_callback_url',
  'email_retention_days',
  'tolerance_basis_points',
  'max_provider_fee_basis_points',
  'wallet_locked',
  'receives_alerts',
  'features',
  'providers',
  'suspended',
];

/** The values of `changingColumns` but for the last five, which each engine stores in its own way. */
export function profileValues(account: Account) {
  return [
    account.name,
    account.email,
    account.feeBasisPoints,
    account.wallet,
    account.logoHash,
    account.supportUrl,
    account.returnUrl,
    account.timeZone,
    account.defaultCallbackUrl,
    account.emailRetentionDays,
    account.toleranceBasisPoints,
    account.maxProviderFeeBasisPoints,
  ];
}

/** An account after a change. */
export function changedAccount(account: Account, { logo, ...change }: AccountChange): Account {
  return { ...account, ...change, ...(logo === undefined ? {} : { logoHash: logo?.hash ?? null }) };
}

/** A row of `shop_logos`; the picture as base64, so that tables can be carried from one engine to the other as text. */
export interface LogoRow {
  readonly hash: string;
  readonly type: string;
  readonly image: string;
}

/** @throws UnknownStateError for a type that this version does not know */
export function logoOfRow({ hash, type, image }: LogoRow): ShopLogo {
  return { hash, type: requireName(type, isLogoType), bytes: Buffer.from(image, 'base64') };
}

/** Values of a logo in the order `hash, type, image`. */
export function logoValues({ hash, type, bytes }: ShopLogo): string[] {
  return [hash, type, Buffer.from(bytes).toString('base64')];
}

/** Columns for `SELECT … FROM api_keys`. */
export const keyColumns = `
  id, account_id AS "accountId", name, hash, last_characters AS "lastCharacters",
  created_at_ms AS "createdAtMs", revoked_at_ms AS "revokedAtMs", last_used_at_ms AS "lastUsedAtMs"`;

/** The features of an account. @throws UnknownStateError for one that this version does not know */
export function featuresOf(names: readonly string[]): readonly Feature[] {
  return names.map((name) => requireName(name, isFeature));
}

/** The providers of an account. @throws UnknownStateError for one that this version does not know */
export function providersOf(names: readonly string[]): readonly ProviderId[] {
  return names.map((name) => requireName(name, isProviderId));
}

/** A name that this version does not know is an error, as leaving it out would change rights. */
function requireName<Name extends string>(name: string, isName: (value: string) => value is Name): Name {
  if (!isName(name)) throw new UnknownStateError(`an account names ${name}, which does not exist`);
  return name;
}
