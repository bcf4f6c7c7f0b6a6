import { type Feature, isFeature } from '../domain/account.ts';
import { UnknownStateError } from '../domain/errors.ts';
import { isProviderId, type ProviderId } from '../domain/provider-catalogue.ts';

/** For `SELECT … FROM accounts`. */
export const accountColumns = `
  accounts.id, accounts.name, accounts.email, accounts.fee_basis_points AS "feeBasisPoints", accounts.wallet,
  accounts.features, accounts.providers, accounts.suspended, accounts.created_at_ms AS "createdAtMs"`;

/** For `SELECT … FROM api_keys`. */
export const keyColumns = `
  id, account_id AS "accountId", name, hash, last_characters AS "lastCharacters",
  created_at_ms AS "createdAtMs", revoked_at_ms AS "revokedAtMs"`;

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
