import type { Account } from '../../accounts/account.ts';
import type { ShopLogo } from '../../accounts/shop-profile.ts';
import type { ClaimedReceipt, Mail } from '../../mail/mail.ts';
import { chargingProviders, checkoutViewOf } from '../../pages/checkout/checkout-view.ts';
import { wordsOf } from '../../pages/checkout/choose-words.ts';
import { type ExplorerTransactionUrl, transfersOf } from '../../pages/checkout/facts-and-transactions.ts';
import { receiptRows } from '../../pages/checkout/receipt.ts';
import type { PaymentView } from '../../payment/payment-store.ts';
import type { ProviderSession } from '../../payment/provider-session.ts';
import type { ProviderAdapters } from '../../providers/provider.ts';
import {
  fillText,
  formatMoneyAndCode,
  formatTime,
  type Language,
  languageNamed,
} from '../../web/checkout-layout/languages.ts';
import { LOGO_CID, type ReceiptContent, type ReceiptRow, receiptHtml } from './receipt-html.ts';

export interface ReceiptLinks {
  readonly baseUrl: string;
  readonly explorerTransactionUrl: ExplorerTransactionUrl;
  readonly adapters?: ProviderAdapters;
}

/**
 * Composes the email about the end of a payment; null if none is due. An address entered on the checkout page also gets
 * an email about an unpaid end, in that page's language. Omits the merchant's note, callback URL and API fields.
 */
export function receiptMail(
  { email: given, language: pageLanguage }: Pick<ClaimedReceipt, 'email' | 'language'>,
  view: PaymentView,
  { account, logo }: { readonly account: Account; readonly logo: ShopLogo | null },
  links: ReceiptLinks,
): Mail | null {
  const { payment } = view;
  const to = given ?? payment.email;
  const isPaid = payment.status === 'paid';
  if (to === null || payment.status === 'unpaid' || (given === null && !isPaid)) return null;
  const language = given === null ? languageOf(view.sessions) : languageNamed(pageLanguage);
  const { mail, title, shortLink } = language.words;
  const amount = formatMoneyAndCode(language, payment.amountCents, payment.currency);
  const values = { amount, shop: account.name };
  const end = checkoutViewOf(view, payment.createdAtMs, links.adapters);
  const outcome = wordsOf({ view: end, payment, charge: payment, account, offers: [] }, language).text;
  const heading = isPaid ? fillText(mail.paid, values) : outcome.heading;
  const pageUrl = `${links.baseUrl}/pay/${payment.id}`;
  const content: ReceiptContent = {
    amount,
    heading,
    sentence: isPaid ? (outcome.notice ?? null) : outcome.sentence,
    rows: [...rowsOf(view, language, links)],
    page: { term: isPaid ? mail.page : shortLink.see, value: pageUrl, url: pageUrl },
    questions:
      account.supportUrl === null
        ? null
        : {
            term: mail.questions,
            value: account.supportUrl.replace(/^mailto:/, ''),
            url: account.supportUrl,
          },
    closing: [mail.warning, ...(given === null ? [] : [mail.asked])],
  };
  const subject = isPaid ? fillText(mail.subject, values) : fillText(title, { ...values, heading });
  const html = receiptHtml(content, subject, { account, hasLogo: logo !== null }, language);
  const inline = logo === null ? [] : [{ cid: LOGO_CID, png: logo.bytes }];
  return { to, subject, text: textOf(content), html, inline };
}

function textOf({ heading, sentence, rows, page, questions, closing }: ReceiptContent): string {
  const line = ({ term, value, url }: ReceiptRow) =>
    `${term}: ${url?.startsWith('http') === true ? url : value}`;
  const links = [page, ...(questions === null ? [] : [questions])];
  const parts = [
    [heading, ...(sentence === null ? [] : [sentence])],
    rows.map(line),
    links.map(line),
    closing,
    [],
  ];
  return parts
    .map((lines) => lines.join('\n'))
    .join('\n\n')
    .trimEnd()
    .concat('\n');
}

function* rowsOf(
  { payment, observations, sessions }: PaymentView,
  language: Language,
  { baseUrl, explorerTransactionUrl, adapters }: ReceiptLinks,
): Generator<ReceiptRow> {
  const { facts, assurances } = language.words;
  const { status, paidAtMs, txidOut } = payment;
  for (const [term, value] of receiptRows(payment, chargingProviders(sessions, adapters), language))
    yield { term, value };
  if (status === 'paid' && paidAtMs !== null)
    yield { term: facts.time, value: formatTime(language, paidAtMs) };
  for (const { name, amount, hash } of transfersOf(payment, observations, language)) {
    const term = amount === null ? name : `${name} (${amount})`;
    yield { term, value: hash, url: explorerTransactionUrl(hash) };
  }
  const proofUrl = `${baseUrl}/docs/api#check-where-the-money-can-go`;
  if (txidOut !== null) yield { term: assurances.check, value: proofUrl, url: proofUrl };
  yield { term: facts.reference, value: payment.id };
}

/** Returns the language of the last session whose language is known, or English. Expects sessions oldest first. */
function languageOf(sessions: readonly ProviderSession[]): Language {
  return languageNamed(sessions.findLast(({ language }) => language !== null)?.language ?? null);
}
