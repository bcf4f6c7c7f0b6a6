import { createKeccak } from 'hash-wasm';

// One WebAssembly instance for the process: it holds no state between calls (init, update and digest run to the
// end synchronously), and making one takes milliseconds while a hash takes one microsecond.
const hasher = await createKeccak(256);

/** The last hash, on its way into text: the library's own text takes a third of the time of a whole hash longer. */
const hashDigits = Buffer.alloc(64);

/** keccak-256 of bytes, as 64 lower-case hex digits without a prefix. */
export function keccak256Hex(data: Uint8Array): string {
  writeHexDigits(keccak256(data), hashDigits);
  return hashDigits.toString('latin1');
}

/** keccak-256 of bytes, as 32 bytes: where the hash is used on, its text need not be written and read again. */
export function keccak256(data: Uint8Array): Uint8Array {
  return hasher.init().update(data).digest('binary');
}

/**
 * Hex digits and bytes without texts in between: every checkout turns some two hundred digits over, and JavaScript's own
 * ways (`parseInt`, `Buffer.from(text, 'hex')`) leave the compiled code for each piece.
 */

const digitCodes = new TextEncoder().encode('0123456789abcdef');
const NO_DIGIT = 0xff;
const digitValues = new Uint8Array(256).fill(NO_DIGIT);
for (const [value, code] of digitCodes.entries()) {
  digitValues[code] = value;
  digitValues[String.fromCharCode(code).toUpperCase().charCodeAt(0)] = value;
}

/** The value of the digit at this place, in either case. */
function digitAt(text: string, index: number): number {
  return digitValues[text.charCodeAt(index)] ?? NO_DIGIT;
}

/** The number that at most thirteen digits write, so that it is exact; NaN where one of them is no digit. */
export function readHexNumber(text: string, from: number, to: number): number {
  let number = 0;
  for (let index = from; index < to; index++) {
    const value = digitAt(text, index);
    if (value === NO_DIGIT) return Number.NaN;
    number = number * 16 + value;
  }
  return number;
}

/**
 * Writes the bytes that digits stand for, those from a character of the text on, to where `bytes` begin.
 *
 * @throws RangeError where one of them is no digit
 */
export function writeHexBytes(text: string, from: number, bytes: Uint8Array): void {
  for (let index = 0; index < bytes.length; index++) {
    const high = digitAt(text, from + 2 * index);
    const low = digitAt(text, from + 2 * index + 1);
    if (high === NO_DIGIT || low === NO_DIGIT) throw new RangeError(`no hex digits for byte ${index}`);
    bytes[index] = (high << 4) | low;
  }
}

/** Writes the lower-case digits of bytes as ASCII, two for each. */
export function writeHexDigits(bytes: Uint8Array, digits: Uint8Array): void {
  for (let index = 0; index < bytes.length; index++) {
    const byte = bytes[index] as number;
    digits[2 * index] = digitCodes[byte >> 4] as number;
    digits[2 * index + 1] = digitCodes[byte & 0xf] as number;
  }
}
