import { randomBytes } from 'node:crypto';
import type { PaymentId } from './payment.ts';

const uuid7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

export function isPaymentId(value: unknown): value is PaymentId {
  return typeof value === 'string' && uuid7.test(value);
}

const hexNumber = (digits: string) => Number.parseInt(digits, 16);

export function paymentIdTimeMs(id: PaymentId): number {
  return hexNumber(id.slice(0, 8) + id.slice(9, 13));
}

/**
 * Creates UUIDv7s that never decrease within this process, because time-ordered keys are several times cheaper to
 * insert (`crypto.randomUUIDv7` is not ordered within a millisecond). After the 48-bit time: a 10-bit counter within
 * the millisecond, then 64 random bits, so that ids stay unguessable.
 */
export function createPaymentIdGenerator(nowMs: () => number): () => PaymentId {
  let lastMs = 0;
  let time = '';
  let counter = 0;

  function moveTo(timeMs: number): void {
    lastMs = timeMs;
    time = timeMs.toString(16).padStart(12, '0');
    counter = 0;
  }

  return () => {
    const currentMs = nowMs();
    if (currentMs > lastMs) moveTo(currentMs);
    // Borrows from the next millisecond after 1,024 ids, or when the clock went back.
    else if (++counter > 0x3ff) moveTo(lastMs + 1);
    const random = randomBytes(8).toString('hex');
    const randomHigh = hexNumber(random.slice(0, 2));
    // 12 bits: the counter and the first two random bits; then the two variant bits; then 62 random bits.
    const counterAndTwoBits = ((counter << 2) | (randomHigh >> 6)).toString(16).padStart(3, '0');
    const variantNibble = (0x8 | ((randomHigh >> 4) & 0x3)).toString(16);
    return `${time.slice(0, 8)}-${time.slice(8)}-7${counterAndTwoBits}-${variantNibble}${random.slice(1, 4)}-${random.slice(4)}`;
  };
}

export const AFTER_ALL_IDS = '~';

/** Text that sorts before all payment ids of this millisecond and later, and after all earlier ones. */
export function firstIdAtMs(timeMs: number): string {
  const digits = Math.max(0, timeMs).toString(16).padStart(12, '0');
  return `${digits.slice(0, 8)}-${digits.slice(8)}`;
}

/**
 * The short code is the payment id without its fixed bits, in unambiguous letters (Crockford's base 32: no i, l, o, u).
 * It keeps the id's 64 random bits.
 */
const crockford = '0123456789abcdefghjkmnpqrstvwxyz';

/** Start of the time in short codes, whose 41 bits last until 2093. */
const EPOCH_MS = Date.UTC(2024, 0, 1);
const TIME_BITS = 41n;
/** 41 bits of time and the id's 74 bits of counter and randomness, five per letter. */
const SHORT_CODE_LENGTH = 23;

const shortCodePattern = new RegExp(`^[${crockford}]{${SHORT_CODE_LENGTH}}$`);

/** Letter pairs for each value of ten bits: half as many steps as letter by letter. */
const letterPairs = Array.from(
  { length: 1024 },
  (_, value) => `${crockford[value >> 5]}${crockford[value & 31]}`,
);

/**
 * Short code of a payment id, derived because a random code would need a unique index over random values, which slows
 * every insert. 41 bits of time, 12 of the counter, 62 random ones, highest first. Split into exact JavaScript numbers,
 * because one number of 115 bits would take twice as long.
 */
export function shortCodeOf(id: PaymentId): string {
  const timeMs = paymentIdTimeMs(id) - EPOCH_MS;
  const counterBits = hexNumber(id.slice(15, 18));
  const randomHigh14 = hexNumber(id.slice(19, 23)) & 0x3fff;
  const randomLow48 = hexNumber(id.slice(24));

  const counter13 = (timeMs % 2) * 2 ** 12 + counterBits;
  const random17 = ((counter13 & 0b111) << 14) | randomHigh14;
  const last50 = (random17 & 0b11) * 2 ** 48 + randomLow48;
  return (
    letters(Math.floor(timeMs / 2), 4) +
    letters(counter13 >> 3, 1) +
    crockford[random17 >> 12] +
    letters((random17 >> 2) & 0x3ff, 1) +
    letters(last50, 5)
  );
}

function letters(value: number, pairs: number): string {
  let text = '';
  for (let rest = value, pair = 0; pair < pairs; pair++) {
    text = letterPairs[rest % 1024] + text;
    rest = Math.floor(rest / 1024);
  }
  return text;
}

export function paymentIdOfShortCode(code: string): PaymentId | null {
  if (!shortCodePattern.test(code)) return null;
  let bits = 0n;
  for (const letter of code) bits = (bits << 5n) | BigInt(crockford.indexOf(letter));
  const offsetMs = bits >> 74n;
  if (offsetMs >> TIME_BITS !== 0n) return null;
  const time = (Number(offsetMs) + EPOCH_MS).toString(16).padStart(12, '0');
  const counter = ((bits >> 62n) & 0xfffn).toString(16).padStart(3, '0');
  const random = ((bits & ((1n << 62n) - 1n)) | (0b10n << 62n)).toString(16);
  const id = `${time.slice(0, 8)}-${time.slice(8)}-7${counter}-${random.slice(0, 4)}-${random.slice(4)}`;
  return isPaymentId(id) ? id : null;
}
