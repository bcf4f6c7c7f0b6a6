import type { Account } from '../domain/account.ts';
import { ServiceError } from '../domain/errors.ts';
import type { AuditStore } from '../domain/ports/audit-store.ts';
import { type Actor, recordAction } from './people-context.ts';
import { type AccountUpdate, updateAccount } from './update-account.ts';
import type { ProfileContext } from './update-profile.ts';

/** What can be changed of an account, in words, and how its value reads. */
const described: readonly (readonly [string, (account: Account) => string])[] = [
  ['name', ({ name }) => name],
  ['fee', ({ feeBasisPoints }) => `${feeBasisPoints / 100} %`],
  ['state', ({ suspended }) => (suspended ? 'suspended' : 'active')],
  ['features', ({ features }) => features.join(' ') || 'none'],
  ['providers', ({ providers }) => (providers === null ? 'all' : providers.join(' ') || 'none')],
  ['wallet', ({ wallet }) => wallet ?? 'none'],
  ['wallet lock', ({ isWalletLocked }) => (isWalletLocked ? 'on' : 'off')],
  ['support link', ({ supportUrl }) => supportUrl ?? 'none'],
  ['return link', ({ returnUrl }) => returnUrl ?? 'none'],
  ['time zone', ({ timeZone }) => timeZone],
  ['default callback', ({ defaultCallbackUrl }) => defaultCallbackUrl ?? 'none'],
  ['logo', ({ logoHash }) => logoHash ?? 'none'],
  ['e-mails about trouble', ({ isToldOfTrouble }) => (isToldOfTrouble ? 'on' : 'off')],
  ['underpayment tolerance', ({ toleranceBasisPoints }) => percentOrDefault(toleranceBasisPoints)],
  ['maximum provider fee', ({ maxProviderFeeBasisPoints }) => percentOrDefault(maxProviderFeeBasisPoints)],
  [
    'days for which e-mail addresses are kept',
    ({ emailRetentionDays }) => String(emailRetentionDays ?? 'all'),
  ],
];

function percentOrDefault(basisPoints: number | null): string {
  return basisPoints === null ? 'the default' : `${basisPoints / 100} %`;
}

/**
 * An operator's change of an account, by the console or the command line, and its entry in the audit log, which says
 * what was and what is. Throws as `updateAccount` does.
 */
export async function changeAccount(
  context: ProfileContext & { readonly audit: AuditStore },
  accountId: string,
  update: AccountUpdate,
  actor: Actor,
): Promise<Account> {
  const before = await context.accounts.findAccount(accountId);
  if (before === null) throw new ServiceError('not_found', `There is no account ${accountId}.`);
  const after = await updateAccount(context, accountId, update);
  const changes = describeAccountChange(before, after);
  if (changes !== null) await recordAction(context, accountId, actor, 'account.changed', changes);
  return after;
}

/** What was and what is, for the audit log; null where nothing changed. */
export function describeAccountChange(before: Account, after: Account): string | null {
  const changes = described
    .map(([what, read]) => [what, read(before), read(after)] as const)
    .filter(([, was, is]) => was !== is)
    .map(([what, was, is]) => `${what} from ${was} to ${is}`);
  return changes.length === 0 ? null : changes.join('; ');
}
