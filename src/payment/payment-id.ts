import { randomBytes } from 'node:crypto';
import type { PaymentId } from './payment.ts';

const uuid7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

export function isPaymentId(value: unknown): value is PaymentId {
  return typeof value === 'string' && uuid7.test(value);
}

export function paymentIdTimeMs(id: PaymentId): number {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
}

/**
 * Creates UUIDv7s that always increase within this process, because ordered keys are cheaper to insert. An id has 48
 * bits of time in ms, a 10-bit counter within the millisecond, and 64 random bits, which make it unguessable.
 */
export function createPaymentIdGenerator(nowMs: () => number): () => PaymentId {
  let lastMs = 0;
  let counter = 0;

  return () => {
    const currentMs = nowMs();
    if (currentMs > lastMs) [lastMs, counter] = [currentMs, 0];
    // Until the clock advances, uses 1,024 ids per millisecond, even if the clock was set back.
    else if (++counter > 0x3ff) [lastMs, counter] = [lastMs + 1, 0];
    const bytes = randomBytes(16);
    bytes.writeUIntBE(lastMs, 0, 6);
    // Writes the version, the counter and two random bits, and then the two variant bits, followed by 62 random bits.
    bytes.writeUInt16BE(0x7000 | (counter << 2) | (bytes.readUInt8(7) & 0x3), 6);
    bytes.writeUInt8(0x80 | (bytes.readUInt8(8) & 0x3f), 8);
    return idOf(bytes.toString('hex'));
  };
}

export function idOf(hex: string): PaymentId {
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

export const AFTER_ALL_IDS = '~';

/** Returns an id prefix that sorts before all payment ids from this millisecond on, and after all earlier ids. */
export function firstIdAtMs(timeMs: number): string {
  const digits = Math.max(0, timeMs).toString(16).padStart(12, '0');
  return `${digits.slice(0, 8)}-${digits.slice(8)}`;
}

/** Digits of Crockford's base 32, without i, l, o and u. A short code encodes a payment id without its fixed bits. */
const crockford = '0123456789abcdefghjkmnpqrstvwxyz';

/** Epoch of short codes. Their 41 bits of milliseconds suffice until 2093. */
const EPOCH_MS = Date.UTC(2024, 0, 1);
const TIME_BITS = 41n;
/** Length at five bits per character, for 41 bits of time and the id's 74 bits of counter and randomness. */
const SHORT_CODE_LENGTH = 23;

const shortCodePattern = new RegExp(`^[${crockford}]{${SHORT_CODE_LENGTH}}$`);

/** Mask of the id's last 62 bits. */
const RANDOM_MASK = (1n << 62n) - 1n;

/** Returns the short code of a payment id: 41 bits of time, 10 bits of counter and 64 random bits, highest first. */
export function shortCodeOf(id: PaymentId): string {
  const hex = BigInt(`0x${id.replaceAll('-', '')}`);
  const time = BigInt(paymentIdTimeMs(id) - EPOCH_MS);
  let bits = (time << 74n) | (((hex >> 64n) & 0xfffn) << 62n) | (hex & RANDOM_MASK);
  let code = '';
  for (; code.length < SHORT_CODE_LENGTH; bits >>= 5n) code = `${crockford[Number(bits & 31n)]}${code}`;
  return code;
}

/** Characters for time, counter and 4 random bits. A receipt number must not open the checkout, which takes all 64. */
const RECEIPT_CHARACTERS = 11;

/** Returns a receipt number for customers to quote, such as "R1AE-X7CY-GQH1": "R" and the start of the short code. */
export function receiptNumberOf(id: PaymentId): string {
  const characters = `R${shortCodeOf(id).slice(0, RECEIPT_CHARACTERS)}`.toUpperCase();
  return characters.replace(/.{4}(?=.)/g, '$&-');
}

/** Returns the first and last possible payment ids of a lower-case receipt number; null for any other text. */
export function idsOfReceiptNumber(text: string): readonly [PaymentId, PaymentId] | null {
  const code = /^r(\w{3})-(\w{4})-(\w{4})$/.exec(text)?.slice(1).join('');
  const idWith = (rest: string) => paymentIdOfShortCode(code?.padEnd(SHORT_CODE_LENGTH, rest) ?? '');
  const [first, last] = [idWith('0'), idWith('z')];
  return first === null || last === null ? null : [first, last];
}

export function paymentIdOfShortCode(code: string): PaymentId | null {
  if (!shortCodePattern.test(code)) return null;
  let bits = 0n;
  for (const letter of code) bits = (bits << 5n) | BigInt(crockford.indexOf(letter));
  const offsetMs = bits >> 74n;
  if (offsetMs >> TIME_BITS !== 0n) return null;
  const time = (Number(offsetMs) + EPOCH_MS).toString(16).padStart(12, '0');
  const counter = ((bits >> 62n) & 0xfffn).toString(16).padStart(3, '0');
  const random = ((bits & RANDOM_MASK) | (0b10n << 62n)).toString(16);
  const id = idOf(`${time}7${counter}${random}`);
  return isPaymentId(id) ? id : null;
}
