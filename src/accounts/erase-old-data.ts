import type { EmailErasureStep, EmailStore, ReceiptStore } from '../mail/mail.ts';
import { ServiceError, stateConflict } from '../payment/errors.ts';
import type { PaymentReference } from '../payment/payment.ts';
import {
  MAXIMUM_ADDRESS_AGE_MS,
  MAXIMUM_MAIL_DELAY_MS,
  type Retention,
} from '../payment/retention-periods.ts';
import { DAY_MS } from '../platform/time-zone.ts';
import type { AccountStore, AuditStore } from './account-store.ts';

export interface EraseEmailsContext extends Readonly<{ emails: Pick<EmailStore, 'eraseEmailsBefore'> }> {
  readonly nowMs: () => number;
}

/** Payments per step, to limit a step to about 10 ms, because SQLite writes block the thread that serves the API. */
const PAYMENTS_PER_STEP = 10;
/** Rows per step that a single statement erases or deletes. */
const BATCH_SIZE = 100;

/** Erases email addresses from old payments in one bounded step that continues where the previous step stopped. */
export function eraseEmailsOlderThan(
  { emails, nowMs }: EraseEmailsContext,
  accountId: string | null,
  days: number,
): Promise<EmailErasureStep> {
  return emails.eraseEmailsBefore(accountId, nowMs() - days * DAY_MS, PAYMENTS_PER_STEP);
}

/** Runs one step for each retention period, and one for unsent receipts. Returns whether more may be left to erase. */
export async function eraseOldData(
  context: EraseEmailsContext &
    Readonly<{
      accounts: Pick<AccountStore, 'listAccounts'>;
      audit: Pick<AuditStore, 'deleteEntriesBefore'>;
      receipts: Pick<ReceiptStore, 'eraseAddresses'>;
    }>,
  { auditDays, customerDataDays }: Retention,
): Promise<boolean> {
  const nowMs = context.nowMs();
  const [queuedBy, givenBefore] = [nowMs - MAXIMUM_MAIL_DELAY_MS, nowMs - MAXIMUM_ADDRESS_AGE_MS];
  const unused = await context.receipts.eraseAddresses(nowMs, queuedBy, givenBefore, BATCH_SIZE);
  let isMore = unused === BATCH_SIZE;
  if (auditDays !== null) {
    const deleted = await context.audit.deleteEntriesBefore(nowMs - auditDays * DAY_MS, BATCH_SIZE);
    isMore ||= deleted === BATCH_SIZE;
  }
  const accounts = await context.accounts.listAccounts();
  const periods = accounts.map(({ id, emailRetentionDays }) => [id, emailRetentionDays] as const);
  for (const [id, days] of [...periods, [null, customerDataDays] as const]) {
    if (days === null) continue;
    const { hasMore } = await eraseEmailsOlderThan(context, id, days);
    isMore ||= hasMore;
  }
  return isMore;
}

/**
 * Erases a payment's email address and other personal data. Returns whether there was any. Throws `payment_not_found`
 * for an unknown payment, and `payment_state_conflict` while a webhook with the address is in flight.
 */
export async function eraseEmail(
  { emails }: Readonly<{ emails: Pick<EmailStore, 'eraseEmail'> }>,
  payment: PaymentReference,
): Promise<boolean> {
  const outcome = await emails.eraseEmail(payment);
  if (outcome === 'unknown') throw new ServiceError('payment_not_found');
  if (outcome === 'busy') {
    throw stateConflict('A webhook with this email address is being sent. Please try again in a minute.');
  }
  return outcome === 'erased';
}
