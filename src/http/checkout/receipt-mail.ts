import type { Account } from '../../domain/account.ts';
import type { Payment } from '../../domain/payment.ts';
import type { Mail } from '../../domain/ports/mailer.ts';
import type { PaymentView } from '../../domain/ports/payment-store.ts';
import type { ProviderSession } from '../../domain/provider-session.ts';
import { chargingProviders } from './checkout-view.ts';
import { fillText } from './fill-in.ts';
import { formatList, formatMoneyAndCode, formatTime } from './format-money.ts';
import { type Language, languageNamed } from './languages.ts';
import type { ExplorerTransactionUrl } from './receipt.ts';
import { nameOf } from './state-words.ts';

/** Where the receipt's links lead. */
export interface ReceiptLinks {
  /** The payment's own page. */
  readonly checkoutUrl: string;
  readonly explorerTransactionUrl: ExplorerTransactionUrl;
}

/**
 * The receipt of a paid payment for its customer, in the language in which they went to a provider the last time, or in
 * English; null where there is nobody to send it to. The merchant's note, its callback and anything of the API stay out
 * of it.
 */
export function receiptMail(view: PaymentView, account: Account, links: ReceiptLinks): Mail | null {
  const { payment } = view;
  const { email, currency, paidAtMs } = payment;
  if (email === null || payment.status !== 'paid' || paidAtMs === null) return null;
  const language = languageOf(view.sessions);
  const { facts, mail } = language.words;
  const values = {
    amount: formatMoneyAndCode(language, payment.amountCents, currency),
    shop: account.name,
  };
  const providers = chargingProviders(view.sessions).map(nameOf);
  const rows: readonly (readonly [string, string | null])[] = [
    [facts.paidTo, account.name],
    [facts.amount, values.amount],
    [facts.madeUpOf, madeUpOf(payment, language)],
    [facts.chargedBy, providers.length === 0 ? null : formatList(language, providers)],
    [facts.time, formatTime(language, paidAtMs)],
    [facts.arrivedWith, linked(payment.txidIn, links)],
    [facts.sentWith, linked(payment.txidOut, links)],
    [facts.reference, payment.id],
  ];
  const text = [
    fillText(mail.paid, values),
    '',
    ...rows.flatMap(([term, value]) => (value === null ? [] : [`${term}: ${value}`])),
    '',
    `${mail.page}: ${links.checkoutUrl}`,
    ...(account.supportUrl === null
      ? []
      : [`${mail.questions}: ${account.supportUrl.replace(/^mailto:/, '')}`]),
    '',
    mail.warning,
    '',
  ].join('\n');
  return { to: email, subject: fillText(mail.subject, values), text };
}

/** Sessions are in the order of their age. */
function languageOf(sessions: readonly ProviderSession[]): Language {
  return languageNamed(sessions.findLast(({ language }) => language !== null)?.language ?? null);
}

function madeUpOf(payment: Payment, language: Language): string | null {
  const { originalAmountCents, customerFeeCents, currency } = payment;
  if (originalAmountCents === null || customerFeeCents === null) return null;
  return fillText(language.words.summary.parts, {
    net: formatMoneyAndCode(language, originalAmountCents, currency),
    fee: formatMoneyAndCode(language, customerFeeCents, currency),
  });
}

function linked(hash: string | null, { explorerTransactionUrl }: ReceiptLinks): string | null {
  return hash === null ? null : (explorerTransactionUrl(hash) ?? hash);
}
