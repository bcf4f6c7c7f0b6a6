import { hash } from 'node:crypto';
import { type Currency, parseAmountCents } from './money.ts';
import type { Payment } from './payment.ts';
import { isPaymentId, type PaymentId } from './payment-id.ts';
import type { ForwardStatus, PaymentStatus } from './payment-states.ts';
import { paymentIdOfShortCode } from './short-code.ts';

/** Which payments of an account a list is of. What is absent leaves nothing out. */
export interface PaymentQuery {
  readonly accountId: string;
  readonly status?: PaymentStatus;
  readonly forwardStatus?: ForwardStatus;
  readonly provider?: Payment['provider'];
  readonly currency?: Currency;
  /** Created at this moment or later. */
  readonly fromMs?: number;
  /** Created before this moment. */
  readonly beforeMs?: number;
  readonly search?: PaymentSearch;
}

/** What somebody typed into the search, understood. */
export type PaymentSearch =
  | { readonly kind: 'id'; readonly id: PaymentId }
  | { readonly kind: 'transaction'; readonly hash: string }
  /** All of the words have to be there; each as any one of its terms. */
  | { readonly kind: 'words'; readonly words: readonly (readonly string[])[] };

/** Longer texts are cut off: no id, address or sensible phrase is. */
const MAXIMUM_SEARCH_CHARACTERS = 320;
const MAXIMUM_SEARCH_WORDS = 8;
/** Of a note; 500 characters hold more only when nobody would search for them. */
const MAXIMUM_NOTE_WORDS = 40;
const MAXIMUM_WORD_CHARACTERS = 64;

const transactionHash = /^0x[0-9a-f]{64}$/;
/** The end of a checkout's or short link's address. */
const linkEnd = /\/(?:pay|s)\/([0-9a-z-]+)(?:[?#].*)?$/;

/** What a typed text asks for, or null when there is nothing in it to search for. */
export function parsePaymentSearch(typed: string): PaymentSearch | null {
  const text = normalise(typed.slice(0, MAXIMUM_SEARCH_CHARACTERS)).trim();
  const name = linkEnd.exec(text)?.[1] ?? text;
  const id = isPaymentId(name) ? name : paymentIdOfShortCode(name);
  if (id !== null) return { kind: 'id', id };
  if (transactionHash.test(text)) return { kind: 'transaction', hash: text };
  const words = text.split(/\s+/).flatMap(wordTerms).slice(0, MAXIMUM_SEARCH_WORDS);
  return words.length === 0 ? null : { kind: 'words', words };
}

/** What one typed word may stand for: an e-mail address, or an amount or word of a note, or several such words. */
function wordTerms(word: string): string[][] {
  if (word.includes('@')) return [[emailTerm(word)]];
  const cents = parseAmountCents(word.replace(/^[$€₹]/u, '').replace(/^(\d{1,2}),(\d{3})(?=\.|$)/, '$1$2'));
  if (cents !== null) return [[amountTerm(cents), ...noteWords(word).map(noteTerm)]];
  return noteWords(word).map((part) => [noteTerm(part)]);
}

/** All that a payment is found by, besides its id and its transactions. */
export function termsOfPayment(
  payment: Pick<Payment, 'amountCents' | 'originalAmountCents' | 'email' | 'note'>,
): string[] {
  const terms = new Set([amountTerm(payment.amountCents)]);
  if (payment.originalAmountCents !== null) terms.add(amountTerm(payment.originalAmountCents));
  if (payment.email !== null) terms.add(emailTerm(payment.email));
  for (const word of noteWords(payment.note ?? '')) terms.add(noteTerm(word));
  return [...terms];
}

/** Whether a payment has all of the words: a number of a term can be another term's as well. */
export function hasWords(
  payment: Pick<Payment, 'amountCents' | 'originalAmountCents' | 'email' | 'note'>,
  words: readonly (readonly string[])[],
): boolean {
  const terms = new Set(termsOfPayment(payment));
  return words.every((alternatives) => alternatives.some((term) => terms.has(term)));
}

/** The number that a term of an account is kept under: 48 bits, so that an index of a million payments stays small. */
export function numberOfTerm(accountId: string, term: string): number {
  return Number.parseInt(hash('sha256', `${accountId}\0${term}`).slice(0, 12), 16);
}

const emailTerm = (email: string) => `email ${normalise(email)}`;
const amountTerm = (cents: number) => `amount ${cents}`;
const noteTerm = (word: string) => `note ${word}`;

/** Letters and digits of any language, as people write them; punctuation separates. */
function noteWords(text: string): string[] {
  const words = normalise(text).match(/[\p{L}\p{N}\p{M}]+/gu) ?? [];
  return [...new Set(words.map((word) => word.slice(0, MAXIMUM_WORD_CHARACTERS)))].slice(
    0,
    MAXIMUM_NOTE_WORDS,
  );
}

function normalise(text: string): string {
  return text.normalize('NFKC').toLowerCase();
}
