import { invalidField, ServiceError } from '../domain/errors.ts';
import { type Currency, currencies, formatCents, formatUnits, parseAmountCents } from '../domain/money.ts';
import { paymentUri } from '../domain/payment-uri.ts';
import { shortCodeOf } from '../domain/short-code.ts';
import * as argument from './arguments.ts';
import type { OperationArguments, OperationsContext } from './operations-context.ts';

const MAXIMUM_NOTE_CHARACTERS = 500;

/** `payment create`: a direct payment, and what the merchant must store and may show. */
export async function createDirect(context: OperationsContext, args: OperationArguments): Promise<unknown> {
  const { direct } = context;
  if (direct === null) throw new ServiceError('not_found', 'A payment is created by a running server.');
  const account = await context.accounts.findAccount(argument.required(args, 'account'));
  if (account === null) throw new ServiceError('not_found', 'There is no such account.');
  const callbackUrl = argument.required(args, 'callback');
  const refusal = await context.callbacks.refusalOf(callbackUrl);
  if (refusal !== null) throw invalidField('callback', refusal);
  const payoutAddress = argument.optionalAddress(args, 'wallet') ?? account.wallet;
  if (payoutAddress === null) throw invalidField('wallet', 'is missing, and the account has none');

  const payment = await direct.create(account, {
    payoutAddress,
    callbackUrl,
    amountCents: amountOf(args),
    currency: currencyOf(args),
    email: argument.optionalEmail(args, 'email'),
    note: noteOf(args),
  });
  return {
    payment_id: payment.id,
    ipn_token: direct.ipnTokenOf(payment),
    page: `${direct.baseUrl}/pay/${payment.id}`,
    short_url: `${direct.baseUrl}/s/${shortCodeOf(payment.id)}`,
    address_in: payment.depositAddress,
    amount: formatCents(payment.amountCents),
    currency: payment.currency,
    usdc: formatUnits(payment.enoughUnits),
    payment_uri: paymentUri({
      token: direct.token,
      chainId: payment.chainId,
      to: payment.depositAddress,
      units: payment.enoughUnits,
    }),
    status: payment.status,
  };
}

function amountOf(args: OperationArguments): number {
  const cents = parseAmountCents(argument.required(args, 'amount'));
  if (cents === null) throw invalidField('amount', 'must be from 0.01 to 10000 with at most two decimals');
  return cents;
}

function currencyOf(args: OperationArguments): Currency {
  const text = argument.optional(args, 'currency') ?? 'USD';
  const currency = currencies.find((known) => known === text);
  if (currency === undefined) throw invalidField('currency', `must be one of ${currencies.join(', ')}`);
  return currency;
}

function noteOf(args: OperationArguments): string | null {
  const note = argument.optional(args, 'note');
  if (note !== null && note.length > MAXIMUM_NOTE_CHARACTERS) {
    throw invalidField('note', `must be at most ${MAXIMUM_NOTE_CHARACTERS} characters long`);
  }
  return note;
}
