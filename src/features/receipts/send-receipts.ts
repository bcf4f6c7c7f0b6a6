import type { AccountStore } from '../../accounts/account-store.ts';
import {
  type ClaimedReceipt,
  type Mailer,
  MailNotSentError,
  type ReceiptEnding,
  type ReceiptStore,
} from '../../mail/mail.ts';
import { UnknownStateError } from '../../payment/errors.ts';
import type { PaymentStore } from '../../payment/payment-store.ts';
import { MAXIMUM_MAIL_DELAY_MS } from '../../payment/retention-periods.ts';
import { type ReceiptLinks, receiptMail } from './receipt-mail.ts';

interface SendReceiptsContext extends ReceiptLinks {
  readonly receipts: ReceiptStore;
  readonly payments: Pick<PaymentStore, 'viewPayment'>;
  readonly accounts: Pick<AccountStore, 'findAccount' | 'findLogo'>;
  readonly mailer: Mailer;
  readonly nowMs: () => number;
  readonly log: Readonly<{ warn: (fields: object, text: string) => void }>;
}

/** Maximum receipts sent concurrently, which leaves one of the mailer's background slots for alerts. */
const RECEIPTS_AT_A_TIME = 4;

export const receiptTask = (context: SendReceiptsContext) => ({
  name: 'receipts',
  intervalMs: 2_000,
  run: () => sendReceipts(context),
});

/**
 * Sends pending receipts, up to a day late. Claims each receipt durably before sending, so that each is sent at most
 * once. Resolves to whether more may be waiting. Throws `MailNotSentError` if a receipt must be retried.
 */
export async function sendReceipts(context: SendReceiptsContext): Promise<boolean> {
  const nowMs = context.nowMs();
  const claimed = await context.receipts.claimReceipts(
    nowMs - MAXIMUM_MAIL_DELAY_MS,
    RECEIPTS_AT_A_TIME,
    nowMs,
  );
  const failures = await Promise.all(claimed.map((receipt) => sendReceipt(context, receipt)));
  const unsent = failures.find((failure) => failure instanceof MailNotSentError);
  if (unsent !== undefined) throw unsent;
  return claimed.length === RECEIPTS_AT_A_TIME;
}

/** Sends a receipt and records the outcome. Resolves to the error, or null on success. */
async function sendReceipt(context: SendReceiptsContext, receipt: ClaimedReceipt): Promise<unknown> {
  const { id } = receipt;
  let ending: ReceiptEnding = 'sent';
  let failure: unknown = null;
  try {
    const mail = await composeReceipt(context, receipt);
    if (mail !== null) await context.mailer.send(mail, { isBackground: true });
  } catch (error) {
    failure = error;
    ending = error instanceof MailNotSentError ? 'pending' : 'failed';
    if (ending === 'failed') context.log.warn({ err: error, paymentId: id }, 'receipt');
  }
  await context.receipts.recordReceipt(id, ending, context.nowMs());
  return failure;
}

async function composeReceipt(context: SendReceiptsContext, receipt: ClaimedReceipt) {
  const { id } = receipt;
  const view = await context.payments.viewPayment(id);
  const account = view === null ? null : await context.accounts.findAccount(view.payment.accountId);
  if (view === null || account === null) throw new UnknownStateError(`${id} has a receipt, and is gone`);
  const { logoHash } = account;
  const logo = logoHash === null ? null : await context.accounts.findLogo(logoHash);
  return receiptMail(receipt, view, { account, logo }, context);
}
