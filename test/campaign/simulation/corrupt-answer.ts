import type { Draws } from './draws.ts';

type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** Of no form that any value of any answer may have. */
const mistyped: readonly [Json, ...Json[]] = [
  5,
  -1,
  1e300,
  true,
  '',
  'x',
  '0xzz',
  `0x${'f'.repeat(65)}`,
  'a\u0000b',
  'half \ud800',
  {},
  { error: null },
  [[]],
  [null],
  [{ topics: [null, 5] }],
];

/** Quantities outside of what a field may be, by the field or, of a plain answer, by the method. */
const outOfRange: Readonly<Record<string, readonly string[]>> = {
  number: ['0x1ffffffffffff', `0x${'f'.repeat(64)}`],
  blockNumber: ['0x1ffffffffffff', `0x${'f'.repeat(64)}`],
  // Before there was a chain, in milliseconds, in microseconds, and of no integer that a database takes.
  timestamp: ['0x0', '0x19a00000000', '0x63f1000000000', `0x${'f'.repeat(16)}`],
  logIndex: ['0x7fffffff', '0xffffffffff'],
  status: ['0x2'],
  baseFeePerGas: [`0x${'f'.repeat(40)}`],
  reward: [`0x${'f'.repeat(40)}`],
  eth_chainId: ['0x0', `0x${'f'.repeat(64)}`],
  eth_getTransactionCount: ['0x1ffffffffffff', `0x${'f'.repeat(64)}`],
  eth_estimateGas: ['0x0', `0x${'f'.repeat(64)}`],
};

/** Of the right form, and about something that was not asked for. */
const unasked: Readonly<Record<string, string>> = {
  address: `0x${'ab'.repeat(20)}`,
  transactionHash: `0x${'ab'.repeat(31)}`,
  eth_sendRawTransaction: `0x${'ab'.repeat(32)}`,
};

const OVERSIZED = 3_000;

/** The answer with one of its values replaced: mistyped, out of range, oversized or about something else. */
export function corrupt(method: string, answer: unknown, draws: Draws): unknown {
  return replaceOne(answer as Json, method, draws);
}

function replaceOne(value: Json, name: string, draws: Draws): Json {
  const isInner = typeof value === 'object' && value !== null && Object.keys(value).length > 0;
  if (isInner && draws.chance(80)) {
    const key = draws.oneOf(Object.keys(value) as [string, ...string[]]);
    const inner = (value as Readonly<Record<string, Json>>)[key] as Json;
    if (Array.isArray(value)) return value.with(Number(key), replaceOne(inner, name, draws));
    return { ...(value as object), [key]: replaceOne(inner, key, draws) };
  }
  const others = [...(outOfRange[name] ?? []), ...[unasked[name] ?? []].flat(), ...oversized(value, name)];
  return draws.chance(50) && isFilled(others) ? draws.oneOf(others) : draws.oneOf(mistyped);
}

function isFilled(values: readonly Json[]): values is readonly [Json, ...Json[]] {
  return values.length > 0;
}

/** A text with an odd number of digits more, or a list with more entries than it may have. */
function oversized(value: Json, name: string): Json[] {
  if (typeof value === 'string') return [`${value}${'0'.repeat(OVERSIZED + 1)}`];
  const isBounded = ['topics', 'baseFeePerGas', 'reward'].includes(name);
  return isBounded && Array.isArray(value) ? [Array.from({ length: OVERSIZED }, () => value[0] as Json)] : [];
}
