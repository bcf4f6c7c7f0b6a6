import { operatorActor, recordAction } from '../accounts/people-context.ts';
import { parseRetentionDays } from '../domain/email-retention.ts';
import { ServiceError } from '../domain/errors.ts';
import type { EmailErasureStep } from '../domain/ports/email-store.ts';
import { eraseEmail } from '../payments/erase-email.ts';
import { type EraseEmailsContext, eraseEmailsOlderThan } from '../payments/erase-old-emails.ts';
import * as argument from './arguments.ts';
import type { Operation } from './operations-context.ts';

/** The end of customers' e-mail addresses. */
export const emailOperations: Readonly<Record<string, Operation>> = {
  'payment erase-email': async (context, args) => {
    const id = argument.requiredPaymentId(args, 'payment');
    const payment = await context.payments.findPaymentById(id);
    if (payment === null) throw new ServiceError('payment_not_found');
    const isErased = await eraseEmail(context, payment);
    if (isErased) await recordAction(context, payment.accountId, operatorActor, 'payment.email_erased', id);
    return { payment_id: id, erased: isErased };
  },
  'account erase-emails': async (context, args) => {
    const accountId = argument.required(args, 'account');
    const days = parseRetentionDays(argument.required(args, 'older-than-days'), 'older-than-days');
    if ((await context.accounts.findAccount(accountId)) === null)
      throw new ServiceError('not_found', `There is no account ${accountId}.`);
    const { erased, stoppedBy } = await eraseAll(context, accountId, days);
    const isAll = stoppedBy === null;
    if (isAll || erased > 0) {
      const target = `${days} days${isAll ? '' : ' (not all yet)'}`;
      await recordAction(context, accountId, operatorActor, 'account.emails_erased', target);
    }
    return { account_id: accountId, erased, complete: isAll, ...(isAll ? {} : { note: notes[stoppedBy] }) };
  },
};

type Reason = NonNullable<EmailErasureStep['stoppedBy']>;

/** Why some are left, and how to go on. */
const notes: Readonly<Record<Reason, string>> = {
  webhook:
    'Not all yet: a webhook with such an address is being sent at this moment. Run the same command again in a minute.',
  index:
    'Not all yet: some of these payments are still to be indexed, which the running server does. Run the same command again in a minute.',
};

/** Step by step, as far as nothing is in the way. */
async function eraseAll(
  context: EraseEmailsContext,
  accountId: string,
  days: number,
): Promise<Pick<EmailErasureStep, 'erased' | 'stoppedBy'>> {
  let erased = 0;
  for (;;) {
    const step = await eraseEmailsOlderThan(context, accountId, days);
    erased += step.erased;
    if (!step.hasMore) return { erased, stoppedBy: step.stoppedBy };
  }
}
