import { setTimeout as delay } from 'node:timers/promises';
import type { Account } from '../src/accounts/account.ts';
import * as argument from '../src/cli/arguments.ts';
import type { OperationArguments, OperationsContext } from '../src/cli/operations-context.ts';
import { invalidField, ServiceError } from '../src/payment/errors.ts';
import type { Payment } from '../src/payment/payment.ts';
import type { TestPayments } from '../src/payment/test-payments.ts';
import type { Webhook } from '../src/webhooks/send-webhook.ts';

const triggeredEvents = ['payment.paid', 'payment.forwarded'] as const;

const DEFAULT_AMOUNT_CENTS = 25_00;
/** Time limit for the event, far longer than a payment takes in the sandbox, but shorter than the caller's timeout. */
const PATIENCE_MS = 60_000;
const POLL_INTERVAL_MS = 100;
/** Time limit for the shop to create its order. */
const ORDER_TIMEOUT_MS = 10_000;

/**
 * Runs `trigger`: creates a payment and completes it on the local chain. This causes a real event, which is signed and
 * sent once. `payment.paid` comes from a card checkout, `payment.forwarded` from a direct payment.
 */
export async function triggerEvent(
  context: OperationsContext,
  testPayments: TestPayments,
  args: OperationArguments,
): Promise<unknown> {
  const event = triggeredEvents.find((known) => known === argument.required(args, 'event'));
  if (event === undefined) throw invalidField('event', `must be one of ${triggeredEvents.join(', ')}`);
  const { direct } = context;
  if (direct === null) throw new ServiceError('not_found', 'Creating a payment needs a running server.');
  const account = await accountOf(context, testPayments, args);
  const payment =
    (await paymentOfShop(context, account, args)) ??
    (await createPayment({ ...context, direct }, testPayments, { account, event, args }));
  await testPayments.pay(payment, null, null);
  const webhook = await waitForEvent(context, payment, event);
  return {
    event,
    payment_id: payment.id,
    ipn_token: direct.ipnTokenOf(payment),
    callback: payment.callbackUrl,
    delivery: webhook.status,
    http_status: webhook.result?.httpStatus ?? null,
    reason: webhook.result?.reason ?? null,
  };
}

/** Returns the payment of `--payment`, or one that the shop itself creates at `--order-url`, or else null. */
async function paymentOfShop(
  { payments }: OperationsContext,
  { id: accountId }: Account,
  args: OperationArguments,
): Promise<Payment | null> {
  const orderUrl = argument.optional(args, 'order-url');
  if (argument.optional(args, 'payment') !== null) {
    if (orderUrl !== null) throw invalidField('order-url', 'and --payment exclude each other');
    const payment = await payments.findPayment(accountId, argument.requiredPaymentId(args, 'payment'));
    if (payment === null) throw new ServiceError('payment_not_found');
    return payment;
  }
  if (orderUrl === null) return null;
  if (!URL.canParse(orderUrl)) throw invalidField('order-url', 'must be a URL');
  const [newest] = await payments.listPayments({ accountId }, null, 1);
  const options = {
    method: 'POST',
    redirect: 'manual',
    signal: AbortSignal.timeout(ORDER_TIMEOUT_MS),
  } as const;
  const status = await fetch(orderUrl, options).then(
    (answer) => String(answer.status),
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
  const [created] = await payments.listPayments({ accountId }, null, 1);
  if (created === undefined || created.id === newest?.id)
    throw invalidField(
      'order-url',
      `created no checkout in the account ${accountId}: the shop answered ${status}`,
    );
  return created;
}

async function createPayment(
  context: OperationsContext & { readonly direct: NonNullable<OperationsContext['direct']> },
  testPayments: TestPayments,
  { account, event, args }: { account: Account; event: Webhook['event']; args: OperationArguments },
): Promise<Payment> {
  const { direct } = context;
  if (account.wallet === null) throw invalidField('account', 'needs a wallet to receive the money');
  const request = {
    payoutAddress: account.wallet,
    callbackUrl: await callbackOf(context, testPayments, account, args),
    amountCents: argument.optionalAmountCents(args, 'amount') ?? DEFAULT_AMOUNT_CENTS,
    currency: 'USD',
    email: null,
    note: 'created by card-checkout trigger',
  } as const;
  return event === 'payment.forwarded'
    ? direct.create(account, request)
    : direct.createCheckout(account, request);
}

async function accountOf(
  context: OperationsContext,
  { defaults }: TestPayments,
  args: OperationArguments,
): Promise<Account> {
  const id = argument.optional(args, 'account') ?? defaults.accountId;
  const account = await context.accounts.findAccount(id);
  if (account === null) throw new ServiceError('not_found', `The account ${id} does not exist.`);
  return account;
}

async function callbackOf(
  context: OperationsContext,
  { defaults }: TestPayments,
  account: Account,
  args: OperationArguments,
): Promise<string> {
  const callback = argument.optional(args, 'callback') ?? account.defaultCallbackUrl ?? defaults.callbackUrl;
  const refusal = await context.callbacks.refusalOf(callback);
  if (refusal !== null) throw invalidField('callback', refusal);
  return callback;
}

/** Waits until the event's single delivery has ended, successfully or not. */
async function waitForEvent(
  { webhooks }: OperationsContext,
  { id }: Payment,
  event: Webhook['event'],
): Promise<Webhook> {
  const deadlineMs = performance.now() + PATIENCE_MS;
  for (;;) {
    const sent = (await webhooks.listWebhooks(id)).find((webhook) => webhook.event === event);
    if (sent !== undefined && sent.result !== null) return sent;
    if (performance.now() > deadlineMs) {
      throw new ServiceError(
        'payment_state_conflict',
        `The payment ${id} was created and paid, but ${event} was not sent within a minute. Check that the chain is up.`,
      );
    }
    await delay(POLL_INTERVAL_MS);
  }
}
