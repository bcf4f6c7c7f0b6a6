import { isPaymentId, type PaymentId, paymentIdTimeMs } from './payment-id.ts';

/**
 * The short code is the payment id without its fixed bits, in letters that cannot be mistaken for each other
 * (Crockford's base 32: no i, l, o, u). Being derived it needs no index of random values, which would slow the
 * inserts down, and it is found again by the primary key. It carries the id's 64 random bits.
 */
const crockford = '0123456789abcdefghjkmnpqrstvwxyz';
/** The digits that JavaScript itself uses for base 32, in the same order. */
const plainBase32 = '0123456789abcdefghijklmnopqrstuv';

/** Counting time from here leaves 41 bits, enough until 2093. */
const EPOCH_MS = Date.UTC(2024, 0, 1);
const TIME_BITS = 41n;
/** 41 bits of time and the id's 74 bits of counter and randomness, five to a letter. */
const SHORT_CODE_LENGTH = 23;

const shortCodePattern = new RegExp(`^[${crockford}]{${SHORT_CODE_LENGTH}}$`);

/** Our letter for each digit of `plainBase32`, by its character code. */
const letterOfDigit: string[] = [];
for (const [value, digit] of [...plainBase32].entries()) {
  letterOfDigit[digit.charCodeAt(0)] = crockford[value] as string;
}

/** The short code of a payment id. */
export function shortCodeOf(id: PaymentId): string {
  const timeMs = paymentIdTimeMs(id) - EPOCH_MS;
  const counterBits = BigInt(`0x${id.slice(15, 18)}`);
  const randomBits = BigInt(`0x${id.slice(19, 23)}${id.slice(24)}`) & ((1n << 62n) - 1n);
  const bits = (BigInt(timeMs) << 74n) | (counterBits << 62n) | randomBits;
  const digits = bits.toString(32).padStart(SHORT_CODE_LENGTH, '0');
  let code = '';
  for (let index = 0; index < SHORT_CODE_LENGTH; index++) code += letterOfDigit[digits.charCodeAt(index)];
  return code;
}

/** The payment id of a short code, or null when the text is none. */
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
