import type { AccountStore } from '../domain/ports/account-store.ts';
import type { EmailErasureStep, EmailStore } from '../domain/ports/email-store.ts';

export interface EraseEmailsContext {
  readonly emails: Pick<EmailStore, 'eraseEmailsBefore'>;
  readonly nowMs: () => number;
}

const DAY_MS = 86_400_000;
/** Payments of one step. The store's writer is the same thread as the API in one of the engines. */
const LOOKED_AT = 100;

/**
 * Erases customers' e-mail addresses of an account's payments that are older than so many days: one bounded step, which
 * goes on where the last one stopped.
 */
export function eraseEmailsOlderThan(
  { emails, nowMs }: EraseEmailsContext,
  accountId: string,
  days: number,
): Promise<EmailErasureStep> {
  return emails.eraseEmailsBefore(accountId, nowMs() - days * DAY_MS, LOOKED_AT);
}

/** One such step for each account that wants it. Resolves to whether there is more to do. */
export async function eraseOldEmails(
  context: EraseEmailsContext & { readonly accounts: Pick<AccountStore, 'listAccounts'> },
): Promise<boolean> {
  let isMore = false;
  for (const { id, emailRetentionDays } of await context.accounts.listAccounts()) {
    if (emailRetentionDays === null) continue;
    const { hasMore } = await eraseEmailsOlderThan(context, id, emailRetentionDays);
    isMore ||= hasMore;
  }
  return isMore;
}
