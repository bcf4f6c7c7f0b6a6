import type { AccountStore } from '../../accounts/account-store.ts';
import { type Mailer, MailNotSentError, type ReceiptEnding, type ReceiptStore } from '../../mail/mail.ts';
import { UnknownStateError } from '../../payment/errors.ts';
import type { PaymentId } from '../../payment/payment.ts';
import type { PaymentStore } from '../../payment/payment-store.ts';
import { type ReceiptLinks, receiptMail } from './receipt-mail.ts';

interface SendReceiptsContext extends ReceiptLinks {
  readonly receipts: ReceiptStore;
  readonly payments: Pick<PaymentStore, 'viewPayment'>;
  readonly accounts: Pick<AccountStore, 'findAccount'>;
  readonly mailer: Mailer;
  readonly nowMs: () => number;
  readonly log: Readonly<{ warn: (fields: object, text: string) => void }>;
}

const RECEIPT_INTERVAL_MS = 2_000;

export function createReceiptTask(context: SendReceiptsContext) {
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
    if (ending === 'failed') context.log.warn({ err: error, paymentId: id }, 'receipt');
  }
  await context.receipts.recordReceipt(id, ending, context.nowMs());
  return failure;
}

async function composeReceipt(context: SendReceiptsContext, id: PaymentId) {
  const view = await context.payments.viewPayment(id);
  const account = view === null ? null : await context.accounts.findAccount(view.payment.accountId);
  if (view === null || account === null) throw new UnknownStateError(`${id} has a receipt, and is gone`);
  return receiptMail(view, account, context);
}
