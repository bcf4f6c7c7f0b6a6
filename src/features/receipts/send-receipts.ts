import type { Account } from '../../accounts/account.ts';
import type { AccountStore } from '../../accounts/account-store.ts';
import {
  type Mail,
  type Mailer,
  MailNotSentError,
  type ReceiptEnding,
  type ReceiptStore,
} from '../../mail/mail.ts';
import type { ExplorerTransactionUrl } from '../../pages/checkout/payment-facts.ts';
import { UnknownStateError } from '../../payment/errors.ts';
import type { PaymentId } from '../../payment/payment.ts';
import type { PaymentStore, PaymentView } from '../../payment/payment-store.ts';
import { receiptMail } from './receipt-mail.ts';

export interface SendReceiptsContext
  extends Readonly<{ receipts: ReceiptStore }>,
    Readonly<{ payments: Pick<PaymentStore, 'viewPayment'>; accounts: Pick<AccountStore, 'findAccount'> }> {
  readonly mailer: Mailer;
  /** The customer's receipt; null if there is no recipient. */
  readonly composeReceipt: (view: PaymentView, account: Account) => Mail | null;
  readonly nowMs: () => number;
  readonly onFailure: (id: PaymentId, error: unknown) => void;
}

const RECEIPT_INTERVAL_MS = 2_000;

interface ReceiptTaskContext extends Omit<SendReceiptsContext, 'composeReceipt' | 'onFailure'> {
  /** Public base URL of the service, without a trailing slash. */
  readonly baseUrl: string;
  readonly explorerTransactionUrl: ExplorerTransactionUrl;
  readonly log: Readonly<{ warn: (fields: object, text: string) => void }>;
}

export function createReceiptTask({ baseUrl, explorerTransactionUrl, log, ...parts }: ReceiptTaskContext) {
  const context: SendReceiptsContext = {
    ...parts,
    composeReceipt: (view, account) =>
      receiptMail(view, account, {
        checkoutUrl: `${baseUrl}/pay/${view.payment.id}`,
        explorerTransactionUrl,
      }),
    onFailure: (paymentId, err) => log.warn({ err, paymentId }, 'receipt'),
  };
  return { name: 'receipts', intervalMs: RECEIPT_INTERVAL_MS, run: () => sendReceipts(context) };
}

/** Maximum receipts in progress. Leaves one background mail slot for alerts. */
const RECEIPTS_AT_A_TIME = 4;
/** Maximum age of a receipt, because a late one, for example after mail is first configured, would only confuse. */
const MAXIMUM_RECEIPT_AGE_MS = 24 * 3_600_000;

/**
 * Sends pending receipts. Claims each durably before sending, so that each is sent at most once. Resolves to whether
 * more may be waiting. Throws `MailNotSentError` if the mail server did not accept one, which is then retried.
 */
export async function sendReceipts(context: SendReceiptsContext): Promise<boolean> {
  const nowMs = context.nowMs();
  const claimed = await context.receipts.claimReceipts(
    nowMs - MAXIMUM_RECEIPT_AGE_MS,
    RECEIPTS_AT_A_TIME,
    nowMs,
  );
  const failures = await Promise.all(claimed.map((id) => sendReceipt(context, id)));
  const unsent = failures.find((failure) => failure instanceof MailNotSentError);
  if (unsent !== undefined) throw unsent;
  return claimed.length === RECEIPTS_AT_A_TIME;
}

/** Resolves to the error, or null on success. */
async function sendReceipt(context: SendReceiptsContext, id: PaymentId): Promise<unknown> {
  let ending: ReceiptEnding = 'sent';
  let failure: unknown = null;
  try {
    const mail = await composeReceipt(context, id);
    if (mail !== null) await context.mailer.send(mail, { isBackground: true });
  } catch (error) {
    failure = error;
    ending = error instanceof MailNotSentError ? 'pending' : 'failed';
    if (ending === 'failed') context.onFailure(id, error);
  }
  await context.receipts.recordReceipt(id, ending, context.nowMs());
  return failure;
}

async function composeReceipt(context: SendReceiptsContext, id: PaymentId) {
  const view = await context.payments.viewPayment(id);
  const account = view === null ? null : await context.accounts.findAccount(view.payment.accountId);
  if (view === null || account === null) throw new UnknownStateError(`${id} has a receipt, and is gone`);
  return context.composeReceipt(view, account);
}
