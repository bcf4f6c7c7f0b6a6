import type { Account } from './account.ts';
import { formatCents } from './money.ts';
import type { Payment } from './payment.ts';
import { payingProvider } from './payment-statistics.ts';
import type { Mail } from './ports/mailer.ts';
import type { PaymentView } from './ports/payment-store.ts';
import { isProviderId, providerCatalogue } from './provider-catalogue.ts';

/** Where the receipt's links lead. */
export interface ReceiptLinks {
  /** The payment's own page. */
  readonly checkoutUrl: string;
  /** A transaction's page in an explorer, or null where there is none. */
  readonly explorerTransactionUrl: (transactionHash: string) => string | null;
}

/**
 * The receipt of a paid payment for its customer; null where there is nobody to send it to. The merchant's note, its
 * callback and anything of the API stay out of it. English, because the customer's language is not kept.
 */
export function receiptMail(view: PaymentView, account: Account, links: ReceiptLinks): Mail | null {
  const { payment } = view;
  const { email, currency, paidAtMs } = payment;
  if (email === null || payment.status !== 'paid' || paidAtMs === null) return null;
  const amount = `${formatCents(payment.amountCents)} ${currency}`;
  const provider = payingProvider(payment, view.sessions);
  const rows: readonly (readonly [string, string | null])[] = [
    ['Paid to', account.name],
    ['Amount', amount],
    ['Made up of', madeUpOf(payment)],
    ['Card charged by', isProviderId(provider) ? providerCatalogue[provider].name : null],
    ['Time', `${timeFormat.format(paidAtMs)} UTC`],
    ['Arrived with', linked(payment.txidIn, links)],
    ['Sent to the shop with', linked(payment.txidOut, links)],
    ['Reference', payment.id],
  ];
  const text = [
    `You have paid ${amount} to ${account.name}.`,
    '',
    ...rows.flatMap(([term, value]) => (value === null ? [] : [`${term}: ${value}`])),
    '',
    `This receipt as a page: ${links.checkoutUrl}`,
    ...(account.supportUrl === null
      ? []
      : [`Questions about your order: ${account.supportUrl.replace(/^mailto:/, '')}`]),
    '',
    'Nobody will ask you for card data or for another payment because of this e-mail.',
    '',
  ].join('\n');
  return { to: email, subject: `Receipt from ${account.name}: ${amount}`, text };
}

function madeUpOf({ originalAmountCents, customerFeeCents, currency }: Payment): string | null {
  if (originalAmountCents === null || customerFeeCents === null) return null;
  return `${formatCents(originalAmountCents)} + ${formatCents(customerFeeCents)} ${currency} fee`;
}

function linked(hash: string | null, { explorerTransactionUrl }: ReceiptLinks): string | null {
  return hash === null ? null : (explorerTransactionUrl(hash) ?? hash);
}

const timeFormat = new Intl.DateTimeFormat('en', { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' });
