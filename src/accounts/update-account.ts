import { type Account, type AccountChange, type Feature, features } from '../domain/account.ts';
import { invalidField, ServiceError } from '../domain/errors.ts';
import { requireFee } from './create-account.ts';
import { type ProfileContext, type ProfileUpdate, readProfileUpdate } from './update-profile.ts';

/** What an operator may change; absent fields stay as they are. */
export interface AccountUpdate extends Pick<AccountChange, 'feeBasisPoints' | 'providers' | 'suspended'> {
  readonly profile?: ProfileUpdate;
  readonly enable?: Feature;
  readonly disable?: Feature;
}

/** Changes an account; payments that exist keep the fee they were made with. Throws when there is no such account. */
export async function updateAccount(
  context: ProfileContext,
  accountId: string,
  { profile, enable, disable, ...fields }: AccountUpdate,
): Promise<Account> {
  if (fields.feeBasisPoints !== undefined) requireFee(fields.feeBasisPoints);
  if (enable !== undefined && enable === disable)
    throw invalidField('enable', `and disable both name ${enable}`);
  const account = await context.accounts.findAccount(accountId);
  if (account === null) throw new ServiceError('not_found', `There is no account ${accountId}.`);

  const updated = await context.accounts.updateAccount(accountId, {
    ...fields,
    ...(profile === undefined ? {} : await readProfileUpdate(context, account, profile)),
    // Left out where it stays, so that two changes at the same time do not undo each other.
    ...(enable === undefined && disable === undefined ? {} : { features: changed(account, enable, disable) }),
  });
  if (updated === null) throw new ServiceError('not_found', `There is no account ${accountId}.`);
  return updated;
}

/** In the order of the list of features, whatever was switched on last. */
function changed(
  account: Account,
  enable: Feature | undefined,
  disable: Feature | undefined,
): readonly Feature[] {
  return features.filter((name) => name === enable || (name !== disable && account.features.includes(name)));
}
