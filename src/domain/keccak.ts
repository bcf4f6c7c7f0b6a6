import { createKeccak } from 'hash-wasm';
import { writeHexDigits } from './hex.ts';

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
