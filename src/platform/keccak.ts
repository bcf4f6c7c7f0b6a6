import { createKeccak } from 'hash-wasm';

// One WebAssembly instance for the process: it holds no state between calls (init, update and digest run to the
// end synchronously), and making one takes milliseconds while a hash takes one microsecond.
const hasher = await createKeccak(256);

/** keccak-256 of bytes, as 64 lower-case hex digits without a prefix. */
export function keccak256Hex(data: Uint8Array): string {
  return hasher.init().update(data).digest('hex');
}
