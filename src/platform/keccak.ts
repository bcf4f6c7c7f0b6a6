import { createKeccak } from 'hash-wasm';

// One WebAssembly instance for the process: creating one takes milliseconds, a hash one microsecond, and the
// synchronous init, update and digest leave no state between calls.
const hasher = await createKeccak(256);

/** keccak-256 of bytes, as 64 lower-case hex digits without a prefix. */
export function keccak256Hex(data: Uint8Array): string {
  return hasher.init().update(data).digest('hex');
}
