import type { Account } from '../../accounts/account.ts';
import type { Mail } from '../../mail/mail.ts';
import { chargingProviders } from '../../pages/checkout/checkout-view.ts';
import type { ExplorerTransactionUrl } from '../../pages/checkout/payment-facts.ts';
import { nameOf } from '../../pages/checkout/state-words.ts';
import type { Payment } from '../../payment/payment.ts';
import type { PaymentView } from '../../payment/payment-store.ts';
import type { ProviderSession } from '../../payment/provider-session.ts';
import {
  fillText,
  formatList,
  formatMoneyAndCode,
  formatTime,
  type Language,
  languageNamed,
} from '../../web/checkout-frame/languages.ts';

export interface ReceiptLinks {
  /** Public base URL of the service, without a trailing slash. */
  readonly baseUrl: string;
  readonly explorerTransactionUrl: ExplorerTransactionUrl;
}

/**
 * Receipt of a paid payment, in the language of the last provider session, or in English; null for a payment that is
 * not paid or has no email address. Omits the merchant's note, the callback and all API fields.
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
    ...(payment.orderLine === null ? [] : [payment.orderLine]),
    '',
    ...rows.flatMap(([term, value]) => (value === null ? [] : [`${term}: ${value}`])),
    '',
    `${mail.page}: ${links.baseUrl}/pay/${payment.id}`,
    ...(account.supportUrl === null
      ? []
      : [`${mail.questions}: ${account.supportUrl.replace(/^mailto:/, '')}`]),
    '',
    mail.warning,
    '',
  ].join('\n');
  return { to: email, subject: fillText(mail.subject, values), text };
}

/** Language of the last session that has one, otherwise English. Expects the oldest session first. */
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
