import { randomFillSync } from 'node:crypto';
import { readHexNumber } from './hex.ts';

/** A UUIDv7 in its canonical lower-case text. */
export type PaymentId = string;

const uuid7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

export const PAYMENT_ID_CHARACTERS = 36;

export function isPaymentId(value: unknown): value is PaymentId {
  return typeof value === 'string' && uuid7.test(value);
}

/** The millisecond a payment id was made in, since 1970. */
export function paymentIdTimeMs(id: PaymentId): number {
  return readHexNumber(id, 0, 8) * 2 ** 16 + readHexNumber(id, 9, 13);
}

/**
 * Makes UUIDv7s that never go backwards within this process, because time-ordered keys are several times cheaper
 * to insert (and `crypto.randomUUIDv7` is not ordered within a millisecond). Layout after the 48-bit time:
 * a 10-bit counter within the millisecond, then 64 random bits, so that every id stays unguessable.
 */
export function createPaymentIdGenerator(nowMs: () => number): () => PaymentId {
  const pool = Buffer.alloc(8 * 256);
  let poolDigits = '';
  let poolOffset = 0;
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
    // More than 1,024 in a millisecond, or a clock that went back: borrow from the next millisecond.
    else if (++counter > 0x3ff) moveTo(lastMs + 1);
    if (poolOffset === poolDigits.length) {
      poolDigits = randomFillSync(pool).toString('hex');
      poolOffset = 0;
    }
    const random = poolDigits.slice(poolOffset, poolOffset + 16);
    const randomHigh = readHexNumber(random, 0, 2);
    poolOffset += 16;
    // 12 bits: the counter and the first two random bits; then the two variant bits; then 62 random bits.
    const counterAndTwoBits = ((counter << 2) | (randomHigh >> 6)).toString(16).padStart(3, '0');
    const variantNibble = (0x8 | ((randomHigh >> 4) & 0x3)).toString(16);
    return `${time.slice(0, 8)}-${time.slice(8)}-7${counterAndTwoBits}-${variantNibble}${random.slice(1, 4)}-${random.slice(4)}`;
  };
}

/** A text that sorts before all payment ids of this millisecond and later, and after all earlier ones. */
export function firstIdAtMs(timeMs: number): string {
  const digits = Math.max(0, timeMs).toString(16).padStart(12, '0');
  return `${digits.slice(0, 8)}-${digits.slice(8)}`;
}
