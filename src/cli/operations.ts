import { setTimeout as delay } from 'node:timers/promises';
import type { Account } from '../accounts/account.ts';
import { type KeyScope, keyScopes, parseScopes } from '../accounts/api-key.ts';
import { createKey, describeKey, revokeKey } from '../accounts/api-keys.ts';
import { SERVICE_LOG } from '../accounts/audit-entry.ts';
import { changeAccount, createAccount, findExistingAccount } from '../accounts/manage-accounts.ts';
import { operatorActor, recordAction } from '../accounts/people-context.ts';
import {
  auditCursor,
  parseAuditCursor,
  presentAuditEntry,
  readAuditPage,
} from '../accounts/read-audit-log.ts';
import { readSecretsInUse } from '../accounts/secrets-in-use.ts';
import type { Address } from '../payment/address.ts';
import { cancelPayment } from '../payment/cancel-payment.ts';
import { invalidField, ServiceError } from '../payment/errors.ts';
import { formatCents, formatUnits } from '../payment/money.ts';
import { shortCodeOf } from '../payment/payment-id.ts';
import type { PaymentView } from '../payment/payment-store.ts';
import { paymentUri } from '../payment/payment-uri.ts';
import { describeMistakenToken } from '../payment/provider-catalog.ts';
import { releasePayment } from '../payment/release-payment.ts';
import { settleScanned } from '../payment/settle.ts';
import { csvLine } from '../platform/csv.ts';
import { ChainUnavailableError } from '../settlement/chain/chain.ts';
import { findMistakenToken } from '../settlement/compare-balances.ts';
import { rebuildPayment } from '../settlement/rebuild-payment.ts';
import { parseRescuedToken } from '../settlement/rescue-token.ts';
import { rewindByHand } from '../settlement/rewind-final-blocks.ts';
import * as argument from './arguments.ts';
import type { Operation, OperationArguments, OperationsContext } from './operations-context.ts';
import {
  presentAccount,
  presentKey,
  presentPayment,
  presentPaymentInFull,
  presentVerification,
} from './present.ts';
import { providerOperations } from './provider-operations.ts';
import { emailOperations, userOperations } from './user-operations.ts';
import { verifyPayments } from './verify/verify-payments.ts';

export type DatabaseDescription = Awaited<ReturnType<typeof describeDatabase>>;

/** @param args `open_since_ms`: payments created earlier have expired */
async function describeDatabase(context: OperationsContext, args: OperationArguments) {
  const listed = await context.settlements.listSettlements();
  return {
    /** Settlements, each verified on the chain before it was stored. */
    settlements: listed.map(({ chainId, factory, token }) => ({ chainId, factory, token })),
    secrets: await readSecretsInUse(context, Number(args['open_since_ms'] ?? 0)),
    /** Time of the newest scanned block; null before the first one. */
    scannedAtMs: (await context.observations.readCursor())?.timestampMs ?? null,
  };
}

/** Describes a token other than USDC at the deposit address; null if there is none, or if it cannot be searched for. */
async function nameOtherToken({ chain, observations }: OperationsContext, view: PaymentView) {
  const cursor = await observations.readCursor();
  if (chain?.mistakenToken === undefined || cursor === null) return null;
  try {
    const [id] = await findMistakenToken(chain.mistakenToken, [view], cursor.number);
    return id === undefined ? null : describeMistakenToken(id, chain.mistakenToken.contract);
  } catch (error) {
    if (error instanceof ChainUnavailableError) return 'unknown: no endpoint answers';
    throw error;
  }
}

/** `payment create`: creates a direct payment and returns what the merchant must store and may show. */
async function createDirect(context: OperationsContext, args: OperationArguments): Promise<unknown> {
  const { direct } = context;
  if (direct === null) throw new ServiceError('not_found', 'Creating a payment needs a running server.');
  const account = await findExistingAccount(context, argument.required(args, 'account'));
  const amountCents = argument.optionalAmountCents(args, 'amount');
  if (amountCents === null) throw invalidField('amount', 'is missing');
  const callbackUrl = argument.required(args, 'callback');
  const refusal = await context.callbacks.refusalOf(callbackUrl);
  if (refusal !== null) throw invalidField('callback', refusal);
  const payoutAddress = payoutOf(args, account);

  const payment = await direct.create(account, {
    payoutAddress,
    callbackUrl,
    amountCents,
    currency: argument.optionalCurrency(args, 'currency') ?? 'USD',
    email: argument.optionalEmail(args, 'email'),
    note: argument.optionalNote(args, 'note'),
  });
  return {
    payment_id: payment.id,
    ipn_token: direct.ipnTokenOf(payment),
    page: `${context.baseUrl}/pay/${payment.id}`,
    short_url: `${context.baseUrl}/s/${shortCodeOf(payment.id)}`,
    address_in: payment.depositAddress,
    amount: formatCents(payment.amountCents),
    currency: payment.currency,
    usdc: formatUnits(payment.paidThresholdUnits),
    payment_uri: paymentUri({
      token: direct.token,
      chainId: payment.chainId,
      to: payment.depositAddress,
      units: payment.paidThresholdUnits,
    }),
    status: payment.status,
  };
}

function payoutOf(args: OperationArguments, { wallet }: Pick<Account, 'wallet'>): Address {
  const payoutAddress = argument.optionalWallet(args) ?? wallet;
  if (payoutAddress === null) throw invalidField('wallet', 'is required, because the account has no wallet');
  return payoutAddress;
}

/** Returns the default scopes if the option is absent. Refuses an empty list, as from an unset shell variable. */
function scopesOf(args: OperationArguments): readonly KeyScope[] {
  const text = argument.optional(args, 'scopes');
  if (text?.trim() === '') throw invalidField('scopes', `must be a list of ${keyScopes.join(', ')}`);
  return parseScopes(text ?? '');
}

const auditColumns = ['account_id', 'position', 'created_at', 'actor', 'action', 'target', 'address'];

export type AuditPortion = Awaited<ReturnType<typeof exportAuditLog>>;

/** Returns lines of an export and the cursor of the next lines, which is null after the last line. */
async function exportAuditLog(context: OperationsContext, args: OperationArguments) {
  const range = {
    fromMs: argument.optionalTime(args, 'from') ?? undefined,
    beforeMs: argument.optionalTime(args, 'before') ?? undefined,
  };
  const account = argument.optional(args, 'account');
  if (account !== null && account !== SERVICE_LOG) await findExistingAccount(context, account);
  const cursor = parseAuditCursor(argument.optional(args, 'cursor') ?? '');
  const { entries, next } = await readAuditPage(context, account, cursor, AUDIT_PORTION, range);
  const isCsv = args['csv'] === true;
  const lines = entries.map((entry) => {
    const row = { account_id: entry.accountId, ...presentAuditEntry(entry) };
    if (!isCsv) return `${JSON.stringify(row)}\n`;
    const { actor, action, target, address } = row;
    const who = [{ text: actor }, action, { text: target }, address];
    return csvLine([row.account_id, `${row.position}`, row.created_at, ...who]);
  });
  return {
    lines: (isCsv && cursor === null ? csvLine(auditColumns) : '') + lines.join(''),
    next: next && auditCursor(next),
  };
}

export const operations: Readonly<Record<string, Operation>> = {
  'account create': async (context, args) => {
    const account = await createAccount(context, await argument.newAccount(args));
    await recordAction(context, account.id, operatorActor, 'account.created', account.name);
    return { account_id: account.id };
  },
  'account list': async (context) => (await context.accounts.listAccounts()).map(presentAccount),
  'account update': async (context, args) => {
    const id = argument.required(args, 'account');
    return presentAccount(await changeAccount(context, id, argument.accountUpdate(args), operatorActor));
  },

  'key create': async (context, args) => {
    const { key, plainKey } = await createKey(context, argument.required(args, 'account'), {
      name: argument.optional(args, 'name') ?? 'API key',
      scopes: scopesOf(args),
    });
    await recordAction(context, key.accountId, operatorActor, 'key.created', describeKey(key));
    return { key_id: key.id, api_key: plainKey };
  },
  'key list': async (context, args) => {
    const { id } = await findExistingAccount(context, argument.required(args, 'account'));
    return (await context.accounts.listKeys(id)).map(presentKey);
  },
  'key revoke': async (context, args) => {
    const key = await revokeKey(context, argument.required(args, 'key'));
    await recordAction(context, key.accountId, operatorActor, 'key.revoked', describeKey(key));
    return presentKey(key);
  },

  ...userOperations,
  ...emailOperations,

  ...providerOperations,

  'payment list': async (context, args) => {
    const query = argument.paymentQuery(args, context.nowMs());
    if (query === null) {
      const all = await context.payments.listPayments(argument.paymentFilter(args), null, LISTED);
      return all.map(presentPayment);
    }
    const before =
      argument.optional(args, 'before') === null ? null : argument.requiredPaymentId(args, 'before');
    await findExistingAccount(context, query.accountId);
    const page = await context.search.searchPayments(query, before, LISTED);
    return page.payments.map(presentPayment);
  },
  'payment create': createDirect,
  'payment show': async (context, args) => {
    const id = argument.requiredPaymentId(args, 'payment');
    const view = await context.payments.viewPayment(id);
    if (view === null) throw new ServiceError('payment_not_found');
    const webhooks = await context.webhooks.listWebhooks(id);
    return {
      ...presentPaymentInFull(view, webhooks),
      ...(await context.featureRecords.show(id, context.nowMs())),
      other_token: await nameOtherToken(context, view),
    };
  },
  'event list': async (context, args) => {
    const after = Number(argument.optional(args, 'after') ?? 0);
    if (!Number.isSafeInteger(after) || after < 0) throw invalidField('after', 'must be a whole number');
    const { id } = await findExistingAccount(context, argument.required(args, 'account'));
    const page = await context.events.listEvents(id, after, LISTED);
    return page.events.map((event) => ({
      number: event.number,
      type: event.type,
      payment_id: event.paymentId,
      ...context.featureRecords.fieldsOf(event),
      created_at: new Date(event.atMs).toISOString(),
    }));
  },
  'audit export': exportAuditLog,
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
    const transactionHash = await context.rescue(id, parseRescuedToken(argument.required(args, 'token')));
    const payment = await context.payments.findPaymentById(id);
    if (payment !== null) {
      const { accountId } = payment;
      await recordAction(context, accountId, operatorActor, 'payment.rescued', `${id} by ${transactionHash}`);
    }
    return { transaction_hash: transactionHash };
  },
  'payment rebuild': async (context, args) => {
    const { chain, direct } = context;
    if (chain === null || direct === null)
      throw new ServiceError('not_found', 'Rebuilding a payment needs a running server.');
    const id = argument.requiredPaymentId(args, 'payment');
    const account = await findExistingAccount(context, argument.required(args, 'account'));
    const payoutAddress = payoutOf(args, account);
    const feeBasisPoints = argument.optionalPercent(args, 'fee-percent') ?? account.feeBasisPoints;
    const terms = { id, accountId: account.id, payoutAddress, feeBasisPoints };
    const payment = await rebuildPayment({ ...context, ...direct, chain }, terms);
    await recordAction(context, account.id, operatorActor, 'payment.rebuilt', id);
    return presentPayment(payment);
  },

  'chain rewind': async (context, args) => {
    const { chain, observations, nowMs } = context;
    if (chain === null) throw new ServiceError('not_found', 'No chain is available: set POLYGON_RPC_URL.');
    const decide = (view: PaymentView) => settleScanned(view, { nowMs: nowMs() });
    const block = argument.optionalBlock(args, 'block');
    const { from, to } = await chain.reader.withView((view) =>
      rewindByHand({ observations, decide }, view, block),
    );
    return { from_block: from.number, to_block: to.number, to_hash: to.hash };
  },

  'database show': describeDatabase,

  restore: async ({ restores }) => {
    await restores.markRestored();
    return { restored: true };
  },

  'webhook check': async ({ checkEndpoint }, args) => {
    if (checkEndpoint === null) throw new ServiceError('not_found', 'The test needs a running server.');
    const steps = await checkEndpoint(argument.required(args, 'url'));
    return { checks: steps.map((step) => ({ ...step, isFine: step.level !== 'fail' })) };
  },

  verify: async (context, args) => {
    const isOffline = args['offline'] === true;
    if (context.chain === null && !isOffline) {
      throw new ServiceError(
        'not_found',
        'No chain is available: start the service, set POLYGON_RPC_URL, or use --offline.',
      );
    }
    const chain = isOffline ? null : context.chain;
    return presentVerification(
      await verifyPayments({ ...context, chain, pause: () => delay(RETRY_INTERVAL_MS) }),
    );
  },
};

/** Interval between two reads of a payment with a discrepancy, longer than the service's slowest step. */
const RETRY_INTERVAL_MS = 500;

const LISTED = 100;

/** Entries per call of an export. */
const AUDIT_PORTION = 1_000;
