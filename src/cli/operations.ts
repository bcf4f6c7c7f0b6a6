import { setTimeout as delay } from 'node:timers/promises';
import { changeAccount } from '../accounts/change-account.ts';
import { changeProvider } from '../accounts/change-provider.ts';
import { createAccount, DEFAULT_FEE_BASIS_POINTS } from '../accounts/create-account.ts';
import { createKey, describeKey, listKeys, revokeKey } from '../accounts/manage-keys.ts';
import { operatorActor, recordAction } from '../accounts/people-context.ts';
import { ServiceError } from '../domain/errors.ts';
import { providerIds } from '../domain/provider-catalogue.ts';
import { cancelPayment } from '../payments/cancel-payment.ts';
import { releasePayment } from '../payments/release-payment.ts';
import { verifyPayments } from '../payments/verify/verify-payments.ts';
import * as argument from './arguments.ts';
import { checkOperation } from './check-operation.ts';
import { createDirect } from './create-direct.ts';
import { emailOperations } from './email-operations.ts';
import type { Operation } from './operations-context.ts';
import {
  presentAccount,
  presentKey,
  presentPayment,
  presentPaymentInFull,
  presentProvider,
  presentVerification,
} from './present.ts';
import { sandboxOperations } from './sandbox-operations.ts';
import { userOperations } from './user-operations.ts';

/** Every operation of the command line that works on the service's data, by the name it has on the socket. */
export const operations: Readonly<Record<string, Operation>> = {
  'account create': async (context, args) => {
    const account = await createAccount(context, {
      name: argument.required(args, 'name'),
      email: argument.optionalEmail(args, 'email'),
      feeBasisPoints: argument.optionalPercent(args, 'fee-percent') ?? DEFAULT_FEE_BASIS_POINTS,
      wallet: argument.optionalAddress(args, 'wallet'),
    });
    await recordAction(context, account.id, operatorActor, 'account.created', account.name);
    return { account_id: account.id };
  },
  'account list': async (context) => (await context.accounts.listAccounts()).map(presentAccount),
  'account update': async (context, args) => {
    const account = await changeAccount(
      context,
      argument.required(args, 'account'),
      argument.accountUpdate(args),
      operatorActor,
    );
    return presentAccount(account);
  },

  'key create': async (context, args) => {
    const { key, plainKey } = await createKey(
      context,
      argument.required(args, 'account'),
      argument.optional(args, 'name') ?? 'API key',
    );
    await recordAction(context, key.accountId, operatorActor, 'key.created', describeKey(key));
    return { key_id: key.id, api_key: plainKey };
  },
  'key list': async (context, args) =>
    (await listKeys(context, argument.required(args, 'account'))).map(presentKey),
  'key revoke': async (context, args) => {
    const key = await revokeKey(context, argument.required(args, 'key'));
    await recordAction(context, key.accountId, operatorActor, 'key.revoked', describeKey(key));
    return presentKey(key);
  },

  ...userOperations,
  ...emailOperations,

  'provider list': (context) => Promise.all(providerIds.map((id) => presentProvider(context.directory, id))),
  'provider check': checkOperation,
  'provider set': async (context, args) => {
    const provider = argument.requiredProvider(args, 'provider');
    await changeProvider(context, provider, argument.providerSettings(args), operatorActor);
    return presentProvider(context.directory, provider);
  },

  'payment list': async (context, args) => {
    const query = argument.paymentQuery(args);
    if (query === null) {
      const all = await context.payments.listPayments(argument.paymentFilter(args), null, LISTED_PAYMENTS);
      return all.map(presentPayment);
    }
    const before =
      argument.optional(args, 'before') === null ? null : argument.requiredPaymentId(args, 'before');
    const page = await context.search.searchPayments(query, before, LISTED_PAYMENTS);
    return page.payments.map(presentPayment);
  },
  'payment create': createDirect,
  'payment show': async (context, args) => {
    const id = argument.requiredPaymentId(args, 'payment');
    const view = await context.payments.viewPayment(id);
    if (view === null) throw new ServiceError('payment_not_found');
    return presentPaymentInFull(view, await context.webhooks.listWebhooks(id));
  },
  'payment cancel': async (context, args) => {
    const payment = await cancelPayment(context, argument.requiredPaymentId(args, 'payment'), 'operator');
    await recordAction(context, payment.accountId, operatorActor, 'payment.canceled', payment.id);
    return presentPayment(payment);
  },
  'payment release': async (context, args) => {
    const payment = await releasePayment(context, argument.requiredPaymentId(args, 'payment'));
    await recordAction(context, payment.accountId, operatorActor, 'payment.released', payment.id);
    return presentPayment(payment);
  },
  'payment rescue': async (context, args) => {
    if (context.rescue === null) throw new ServiceError('not_found', 'A rescue needs a running server.');
    const id = argument.requiredPaymentId(args, 'payment');
    const transactionHash = await context.rescue(id, argument.rescuedToken(args));
    const payment = await context.payments.findPaymentById(id);
    if (payment !== null) {
      const { accountId } = payment;
      await recordAction(context, accountId, operatorActor, 'payment.rescued', `${id} by ${transactionHash}`);
    }
    return { transaction_hash: transactionHash };
  },

  verify: async (context, args) => {
    const isOffline = args['offline'] === true;
    if (context.chain === null && !isOffline) {
      throw new ServiceError(
        'not_found',
        'There is no chain to ask: start the service, set POLYGON_RPC_URL, or say --offline.',
      );
    }
    const chain = isOffline ? null : context.chain;
    return presentVerification(
      await verifyPayments({ ...context, chain, pause: () => delay(LOOK_AGAIN_MS) }),
    );
  },

  ...sandboxOperations,
};

/** Between two looks at a payment that does not agree: the slowest step of the service is done by then. */
const LOOK_AGAIN_MS = 500;

/** How many payments `payment list` shows. */
const LISTED_PAYMENTS = 100;
