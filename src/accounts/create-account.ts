import { randomBytes } from 'node:crypto';
import { type Account, features, MAXIMUM_FEE_BASIS_POINTS } from '../domain/account.ts';
import { invalidField } from '../domain/errors.ts';
import type { Address } from '../domain/payout-address.ts';
import type { AccountStore } from '../domain/ports/account-store.ts';
import { parseName, plainProfile } from '../domain/shop-profile.ts';

export interface AccountsContext {
  readonly accounts: AccountStore;
  readonly nowMs: () => number;
}

export interface NewAccount {
  readonly name: string;
  readonly email: string | null;
  readonly feeBasisPoints: number;
  readonly wallet: Address | null;
}

/** The fee of an account for which none was named, in basis points. */
export const DEFAULT_FEE_BASIS_POINTS = 250;

/** Creates an account with all features and all providers. Throws `ServiceError` naming the field that is wrong. */
export async function createAccount(context: AccountsContext, fields: NewAccount): Promise<Account> {
  const name = parseName(fields.name);
  requireFee(fields.feeBasisPoints);
  const account: Account = {
    ...plainProfile,
    id: `acc_${randomBytes(10).toString('hex')}`,
    name,
    email: fields.email,
    feeBasisPoints: fields.feeBasisPoints,
    wallet: fields.wallet,
    features,
    providers: null,
    suspended: false,
    createdAtMs: context.nowMs(),
  };
  await context.accounts.createAccount(account);
  return account;
}

export function requireFee(feeBasisPoints: number): void {
  if (feeBasisPoints < 0 || feeBasisPoints > MAXIMUM_FEE_BASIS_POINTS) {
    throw invalidField('fee-percent', `must be from 0 to ${MAXIMUM_FEE_BASIS_POINTS / 100}`);
  }
}
