import { operatorActor, recordAction } from '../accounts/people-context.ts';
import { parseRetentionDays } from '../domain/email-retention.ts';
import { ServiceError } from '../domain/errors.ts';
import { eraseEmail } from '../payments/erase-email.ts';
import { eraseEmailsOlderThan } from '../payments/erase-old-emails.ts';
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
    let erased = 0;
    for (let hasMore = true; hasMore; ) {
      const step = await eraseEmailsOlderThan(context, accountId, days);
      erased += step.erased;
      hasMore = step.hasMore;
    }
    await recordAction(context, accountId, operatorActor, 'account.emails_erased', `${days} days`);
    return { account_id: accountId, erased };
  },
};
