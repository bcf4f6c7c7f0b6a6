import { ChainUnavailableError } from '../domain/ports/chain.ts';
import type { BlockReference } from '../domain/ports/ledger-store.ts';

/** Readers of what a node answers. A node is a stranger: a value of the wrong form is an error of the endpoint. */

const quantityPattern = /^0x[0-9a-fA-F]{1,64}$/;
const dataPattern = /^0x(?:[0-9a-fA-F]{2})*$/;
const hashPattern = /^0x[0-9a-fA-F]{64}$/;

function malformed(what: string): ChainUnavailableError {
  return new ChainUnavailableError(`the endpoint answered with a malformed ${what}`);
}

/** A JSON-RPC quantity ("0x1a"). */
export function readQuantity(value: unknown, what: string): bigint {
  if (typeof value !== 'string' || !quantityPattern.test(value)) throw malformed(what);
  return BigInt(value);
}

/** A quantity that is a count or a block number, and so fits a number. */
export function readCount(value: unknown, what: string): number {
  const count = Number(readQuantity(value, what));
  if (!Number.isSafeInteger(count)) throw malformed(what);
  return count;
}

/** JSON-RPC bytes, `0x` and an even number of digits. */
export function readData(value: unknown, what: string): `0x${string}` {
  if (typeof value !== 'string' || !dataPattern.test(value)) throw malformed(what);
  return value as `0x${string}`;
}

/** One 32-byte word. A call to an address without code succeeds and answers with nothing: that is no answer. */
export function readWord(label: string, value: unknown): bigint {
  const data = readData(value, 'call result');
  if (data.length !== 66)
    throw new ChainUnavailableError(`${label} has no such contract, or not this version of it`);
  return BigInt(data);
}

/** A 32-byte hash in lower case. */
export function readHash(value: unknown, what: string): string {
  if (typeof value !== 'string' || !hashPattern.test(value)) throw malformed(what);
  return value.toLowerCase();
}

/** A block's number, hash and time; null when the endpoint has no such block. */
export function readBlockReference(value: unknown): BlockReference | null {
  if (value === null) return null;
  if (typeof value !== 'object' || value === undefined) throw malformed('block');
  const { number, hash, timestamp } = value as { number?: unknown; hash?: unknown; timestamp?: unknown };
  return {
    number: readCount(number, 'block number'),
    hash: readHash(hash, 'block hash'),
    timestampMs: readCount(timestamp, 'block time') * 1000,
  };
}

/** A JSON-RPC quantity of a count. */
export function toQuantity(count: number | bigint): `0x${string}` {
  return `0x${count.toString(16)}`;
}
