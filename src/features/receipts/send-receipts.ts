import type { Account } from '../../accounts/account.ts';
import type { AccountStore } from '../../accounts/account-store.ts';
import {
  type Mail,
  type Mailer,
  MailNotSentError,
  type ReceiptEnding,
  type ReceiptStore,
} from '../../mail/mail.ts';
import { UnknownStateError } from '../../payment/errors.ts';
import type { PaymentId } from '../../payment/payment.ts';
import type { PaymentStore, PaymentView } from '../../payment/payment-store.ts';

export interface SendReceiptsContext
  extends Readonly<{ receipts: ReceiptStore }>,
    Readonly<{ payments: Pick<PaymentStore, 'viewPayment'>; accounts: Pick<AccountStore, 'findAccount'> }> {
  readonly mailer: Mailer;
  /** The customer's receipt; null where there is no recipient. */
  readonly composeReceipt: (view: PaymentView, account: Account) => Mail | null;
  readonly nowMs: () => number;
  /** Called with each that failed, for the log. */
  readonly onFailure: (id: PaymentId, error: unknown) => void;
}

/** Receipts at a time. One of the background places for mails is left for alerts. */
const RECEIPTS_AT_A_TIME = 4;
/** A receipt that comes later than this surprises more than it helps, for example after mail was first configured. */
const MAXIMUM_RECEIPT_AGE_MS = 24 * 3_600_000;

/**
 * Sends receipts that wait: claimed durably before they are sent, each at most once. Resolves to whether more may wait.
 * Throws `MailNotSentError` when the mail server took none, which are then tried again.
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

/** Null where all went well. */
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
