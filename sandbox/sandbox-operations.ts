import * as argument from '../src/cli/arguments.ts';
import type {
  OperationArguments,
  OperationsContext,
  SandboxOperations,
} from '../src/cli/operations-context.ts';
import type { RefundStore } from '../src/features/refunds/refund.ts';
import { requireRefundStatus } from '../src/features/refunds/refund.ts';
import { readRefund } from '../src/features/refunds/refunds.ts';
import { ServiceError } from '../src/payment/errors.ts';
import { formatUnits } from '../src/payment/money.ts';
import type { TestPayments } from '../src/payment/test-payments.ts';
import { readFault, readFaultTarget, readProviderFault } from './fault-arguments.ts';
import { triggerEvent } from './trigger-event.ts';

export function createSandboxOperations(
  testPayments: TestPayments,
  store: { readonly refunds: Pick<RefundStore, 'findRefund'> },
): SandboxOperations {
  return {
    'sandbox pay': async (context, args) => {
      const payment = await context.payments.findPaymentById(argument.requiredPaymentId(args, 'payment'));
      if (payment === null) throw new ServiceError('payment_not_found');
      const paid = await testPayments.pay(
        payment,
        argument.optional(args, 'provider'),
        argument.optionalUnits(args, 'usdc'),
      );
      return {
        provider: paid.provider,
        usdc: formatUnits(paid.deliveryUnits),
        transaction_hash: paid.transactionHash,
      };
    },
    'sandbox refund': async (context, args) => {
      const { accountId } = testPayments.defaults;
      const refund = await readRefund(store, accountId, argument.required(args, 'refund'));
      requireRefundStatus(refund, context.nowMs(), 'awaiting_transfer');
      const { destination, units } = refund;
      if (destination === null) throw new Error(`refund ${refund.id} has no address`);
      const { transactionHash } = await testPayments.transfer(destination, units);
      return { to: destination, usdc: formatUnits(units), transaction_hash: transactionHash };
    },
    'sandbox fault': async (_context, args) => {
      const target = readFaultTarget(args);
      if (target === 'provider') {
        const provider = argument.requiredProvider(args, 'provider');
        const fault = readProviderFault(args);
        await testPayments.setProviderFault(provider, fault);
        return { target, provider, fault };
      }
      const fault = readFault(args);
      await testPayments.setFault(target, fault);
      return { target, provider: null, fault };
    },
    trigger: (context, args) => triggerEvent(context, testPayments, args),
    listen: (context, args) => readEvents(context, testPayments, args),
  };
}

/** Reads the events after a cursor, each with the token that verifies it. `listen` polls this operation. */
async function readEvents(context: OperationsContext, testPayments: TestPayments, args: OperationArguments) {
  const page = await testPayments.readEvents(argument.optional(args, 'cursor'));
  const events = page.events.map(async ({ url, body, signature, headers, atMs }) => {
    const { event, paymentId } = JSON.parse(body) as { event: string; paymentId: string };
    const payment = await context.payments.findPaymentById(
      argument.requiredPaymentId({ payment: paymentId }, 'payment'),
    );
    const ipnToken = payment === null ? null : (context.direct?.ipnTokenOf(payment) ?? null);
    return {
      event,
      payment_id: paymentId,
      callback: url,
      body,
      signature,
      headers,
      ipn_token: ipnToken,
      at: new Date(atMs).toISOString(),
    };
  });
  return { cursor: page.cursor, missed: page.missed, events: await Promise.all(events) };
}
