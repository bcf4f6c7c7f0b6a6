import { hash } from 'node:crypto';
import type { DisplayStatus } from './display-status.ts';
import { type Currency, isCurrency } from './money.ts';
import type { AmountMismatch, Payment, PaymentId } from './payment.ts';
import { idsOfReceiptNumber, isPaymentId, paymentIdOfShortCode } from './payment-id.ts';
import { readTypedAmount } from './typed-input.ts';

/** Filter of an account's payment list. Absent fields do not filter. */
export interface PaymentQuery
  extends Partial<Pick<Payment, 'status' | 'forwardStatus' | 'provider' | 'currency'>> {
  readonly reference?: string;
  readonly accountId: string;
  readonly amountMismatch?: AmountMismatch;
  /** Display status at `nowMs`, because the expiry of a session changes the status without a write. */
  readonly display?: { readonly status: DisplayStatus; readonly nowMs: number };
  /** Earliest creation time, inclusive. */
  readonly fromMs?: number;
  /** Latest creation time, exclusive. */
  readonly beforeMs?: number;
  readonly paid?: { readonly fromMs: number; readonly beforeMs: number };
  readonly search?: PaymentSearch;
}

export type PaymentSearch =
  | { readonly kind: 'id'; readonly id: PaymentId }
  | { readonly kind: 'receipt'; readonly ids: readonly [PaymentId, PaymentId] }
  | { readonly kind: 'transaction'; readonly hash: string }
  /** A payment must match every word, in any meaning of the word. */
  | { readonly kind: 'words'; readonly words: readonly (readonly Meaning[])[] };

export type Meaning =
  /** Prefixes of words in the note, order line, reference or email's local part. Short ones match only whole words. */
  | { readonly kind: 'words'; readonly beginnings: readonly string[] }
  | { readonly kind: 'amount'; readonly cents: number; readonly currency: Currency | null }
  /** Prefix of an email address. Once the domain contains a dot, it must match the whole address. */
  | { readonly kind: 'email'; readonly beginning: string };

/** Length to which search texts are truncated. No id, email address or sensible phrase is longer. */
const MAXIMUM_SEARCH_CHARACTERS = 320;
const MAXIMUM_SEARCH_WORDS = 8;
/** Maximum number of indexed words of a note, an order line or a reference. Searches do not find further words. */
const MAXIMUM_TEXT_WORDS = 40;
/** Maximum number of indexed words of an email address's local part. */
const MAXIMUM_EMAIL_WORDS = 8;
const MAXIMUM_WORD_CHARACTERS = 64;
/**
 * Lengths of the indexed prefixes, because an index of all prefixes would have three times as many rows. A search looks
 * up the longest of these prefixes of the typed word, and then compares the whole word.
 */
const INDEXED_BEGINNINGS = [8, 5, 3] as const;
const SHORTEST_BEGINNING = 3;

const wholeEmail = /@[^@]+\.[^@.]+$/;
const transactionHash = /^0x[0-9a-f]{64}$/;
/** End of a checkout page's URL or of a short link. */
const linkEnd = /\/(?:pay|s)\/([0-9a-z-]+)(?:[?#].*)?$/;

/** Parses a search text; null if it has no search terms. */
export function parsePaymentSearch(typed: string): PaymentSearch | null {
  const text = normalize(typed.slice(0, MAXIMUM_SEARCH_CHARACTERS)).trim();
  const name = linkEnd.exec(text)?.[1] ?? text;
  const id = isPaymentId(name) ? name : paymentIdOfShortCode(name);
  if (id !== null) return { kind: 'id', id };
  const ids = idsOfReceiptNumber(text);
  if (ids !== null) return { kind: 'receipt', ids };
  if (transactionHash.test(text)) return { kind: 'transaction', hash: text };
  const words = meaningsOf(text.split(/\s+/)).slice(0, MAXIMUM_SEARCH_WORDS);
  return words.length === 0 ? null : { kind: 'words', words };
}

/** Returns the possible meanings of each typed word. An amount with a following currency code counts as one word. */
function meaningsOf(typed: readonly string[]): Meaning[][] {
  const meanings: Meaning[][] = [];
  for (let index = 0; index < typed.length; index++) {
    const word = typed[index] as string;
    const cents = amountIn(word);
    const code = typed[index + 1]?.toUpperCase() ?? '';
    const currency = isCurrency(code) ? code : null;
    if (word.includes('@')) {
      meanings.push([{ kind: 'email', beginning: word }]);
    } else if (cents === null) {
      meanings.push(...wordsIn(word).map((part): Meaning[] => [{ kind: 'words', beginnings: [part] }]));
    } else {
      if (currency !== null) index++;
      const beginnings = wordsIn(currency === null ? word : `${word} ${currency}`);
      meanings.push([
        { kind: 'amount', cents, currency },
        { kind: 'words', beginnings },
      ]);
    }
  }
  return meanings;
}

/** Parses an amount in any common notation (€1,234.50, 1.234,50, 42,5) as cents; null for other text. */
function amountIn(word: string): number | null {
  const cents = readTypedAmount(word, null);
  // Amounts have at most two decimals, so three digits after a separator are thousands.
  const amount = cents === 'unclear' ? readTypedAmount(word.replaceAll(/[.,٫。،]/g, ''), null) : cents;
  return amount === 'unclear' ? null : amount;
}

type Searched = Pick<
  Payment,
  'amountCents' | 'originalAmountCents' | 'currency' | 'email' | 'note' | 'orderLine' | 'reference'
>;

/** Returns a payment's index terms, without its id and transactions. */
export function termsOfPayment(payment: Searched): string[] {
  const terms = new Set(amountsOf(payment).map(amountTerm));
  if (payment.email !== null) terms.add(emailTerm(normalize(payment.email)));
  for (const word of wordsOf(payment)) {
    for (const beginning of indexedBeginnings(word)) terms.add(wordTerm(beginning));
  }
  return [...terms];
}

/** Returns the most selective index term that all payments with this meaning have. */
export function termOfMeaning(meaning: Meaning): string {
  switch (meaning.kind) {
    case 'amount':
      return amountTerm(meaning.cents);
    case 'words':
      return wordTerm(longestIndexed(meaning.beginnings));
    case 'email': {
      const words = emailWords(meaning.beginning);
      const isWhole = words.length === 0 || wholeEmail.test(meaning.beginning);
      return isWhole ? emailTerm(meaning.beginning) : wordTerm(longestIndexed(words));
    }
  }
}

/** Returns whether a payment matches all words. An index term alone may also cover other payments. */
export function hasWords(payment: Searched, words: readonly (readonly Meaning[])[]): boolean {
  const own = wordsOf(payment);
  const email = payment.email === null ? null : normalize(payment.email);
  const has = (meaning: Meaning): boolean => {
    switch (meaning.kind) {
      case 'amount':
        return (
          amountsOf(payment).includes(meaning.cents) &&
          (meaning.currency === null || meaning.currency === payment.currency)
        );
      case 'words':
        return meaning.beginnings.every((beginning) => own.some((word) => beginsWith(word, beginning)));
      case 'email':
        return wholeEmail.test(meaning.beginning)
          ? email === meaning.beginning
          : email?.startsWith(meaning.beginning) === true;
    }
  };
  return words.every((meanings) => meanings.some(has));
}

function beginsWith(word: string, beginning: string): boolean {
  return beginning.length < SHORTEST_BEGINNING ? word === beginning : word.startsWith(beginning);
}

/** Returns a word's indexed prefixes, longest first. A word shorter than every prefix is indexed whole. */
function indexedBeginnings(word: string): string[] {
  if (word.length < SHORTEST_BEGINNING) return [word];
  return INDEXED_BEGINNINGS.filter((length) => length <= word.length).map((length) => word.slice(0, length));
}

function amountsOf({ amountCents, originalAmountCents }: Searched): number[] {
  return originalAmountCents === null ? [amountCents] : [amountCents, originalAmountCents];
}

function wordsOf({ note, orderLine, reference, email }: Searched): string[] {
  const inTexts = [note, orderLine, reference].flatMap((text) =>
    wordsIn(text ?? '').slice(0, MAXIMUM_TEXT_WORDS),
  );
  return email === null ? inTexts : [...inTexts, ...emailWords(normalize(email))];
}

function emailWords(email: string): string[] {
  return wordsIn(email.slice(0, Math.max(0, email.lastIndexOf('@')))).slice(0, MAXIMUM_EMAIL_WORDS);
}

function longestIndexed(words: readonly string[]): string {
  const longest = words.reduce((one, other) => (other.length > one.length ? other : one));
  return indexedBeginnings(longest)[0] as string;
}

/** Hashes an account's term to the 48-bit number that the index stores instead of the text, to save space. */
export function numberOfTerm(accountId: string, term: string): number {
  return Number.parseInt(hash('sha256', `${accountId}\0${term}`).slice(0, 12), 16);
}

const emailTerm = (email: string) => `email ${email}`;
const amountTerm = (cents: number) => `amount ${cents}`;
const wordTerm = (beginning: string) => `word ${beginning}`;

/** Returns a text's distinct words: runs of letters, marks and digits in any script. */
function wordsIn(text: string): string[] {
  const words = normalize(text).match(/[\p{L}\p{N}\p{M}]+/gu) ?? [];
  return [...new Set(words.map((word) => word.slice(0, MAXIMUM_WORD_CHARACTERS)))];
}

function normalize(text: string): string {
  return text.normalize('NFKC').toLowerCase();
}
