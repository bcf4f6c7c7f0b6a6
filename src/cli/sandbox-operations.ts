import { ServiceError } from '../domain/errors.ts';
import { formatUnits } from '../domain/money.ts';
import * as argument from './arguments.ts';
import type {
  Operation,
  OperationArguments,
  OperationsContext,
  SandboxControls,
} from './operations-context.ts';
import { triggerEvent } from './trigger-event.ts';

/** Operations that exist only in the sandbox. */
export const sandboxOperations: Readonly<Record<string, Operation>> = {
  'sandbox pay': async (context, args) => {
    const sandbox = requireSandbox(context);
    const payment = await context.payments.findPaymentById(argument.requiredPaymentId(args, 'payment'));
    if (payment === null) throw new ServiceError('payment_not_found');
    const paid = await sandbox.pay(
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
  'sandbox fault': async (context, args) => {
    const target = argument.faultTarget(args);
    if (target === 'provider') {
      const provider = argument.requiredProvider(args, 'provider');
      const fault = argument.providerFault(args);
      await requireSandbox(context).setProviderFault(provider, fault);
      return { target, provider, fault };
    }
    const fault = argument.fault(args);
    await requireSandbox(context).setFault(target, fault);
    return { target, provider: null, fault };
  },
  trigger: (context, args) => triggerEvent(context, requireSandbox(context), args),
  listen: (context, args) => readEvents(context, requireSandbox(context), args),
};

/** The events after a cursor, polled by `listen`, each with the token that verifies it. */
async function readEvents(context: OperationsContext, sandbox: SandboxControls, args: OperationArguments) {
  const page = await sandbox.readEvents(argument.optional(args, 'cursor'));
  const events = page.events.map(async ({ url, body, signature, atMs }) => {
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
      ipn_token: ipnToken,
      at: new Date(atMs).toISOString(),
    };
  });
  return { cursor: page.cursor, missed: page.missed, events: await Promise.all(events) };
}

function requireSandbox(context: OperationsContext): SandboxControls {
  if (context.sandbox !== null) return context.sandbox;
  // Only a server can create payments.
  const isLive = context.direct !== null;
  throw new ServiceError(
    'not_found',
    isLive
      ? 'This works only in the sandbox; this service runs in live mode.'
      : 'This works only while the sandbox runs.',
  );
}
