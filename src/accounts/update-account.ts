import type { Account, AccountChange, Feature } from '../domain/account.ts';
import { ServiceError } from '../domain/errors.ts';
import { type AccountsContext, requireFee } from './create-account.ts';

/** What an operator may change; absent fields stay as they are. */
export interface AccountUpdate
  extends Pick<AccountChange, 'feeBasisPoints' | 'wallet' | 'providers' | 'suspended'> {
  readonly enable?: Feature;
  readonly disable?: Feature;
}

/** Changes an account; payments that exist keep the fee they were made with. Throws when there is no such account. */
export async function updateAccount(
  context: AccountsContext,
  accountId: string,
  { enable, disable, ...fields }: AccountUpdate,
): Promise<Account> {
  if (fields.feeBasisPoints !== undefined) requireFee(fields.feeBasisPoints);
  const account = await context.accounts.findAccount(accountId);
  if (account === null) throw new ServiceError('not_found', `There is no account ${accountId}.`);

  const enabled = new Set(account.features);
  if (enable !== undefined) enabled.add(enable);
  if (disable !== undefined) enabled.delete(disable);
  const updated = await context.accounts.updateAccount(accountId, { ...fields, features: [...enabled] });
  if (updated === null) throw new ServiceError('not_found', `There is no account ${accountId}.`);
  return updated;
}
