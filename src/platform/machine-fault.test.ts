import { expect, it } from 'vitest';
import { machineFaultOf } from './machine-fault.ts';

const failure = (code: string, syscall = 'connect') =>
  Object.assign(new Error(`${syscall} ${code}`), { code, syscall });

it.each([
  ['EMFILE', 'connect', /may not open more files: raise its limit .* \(EMFILE\)$/],
  ['EMFILE', 'listen', /may not open more files/],
  ['ENFILE', 'socket', /fs\.file-max/],
  ['ENOMEM', 'connect', /no memory left/],
  ['ENOBUFS', 'connect', /no memory left for connections/],
  ['EADDRNOTAVAIL', 'connect', /no free local port/],
])('%s in %s is mended on this machine', (code, syscall, sentence) => {
  const error = failure(code, syscall);
  for (const wrapped of [
    error,
    new Error('fetch failed', { cause: error }),
    new Error('not reached', { cause: new AggregateError([failure('ECONNREFUSED'), error], 'both') }),
  ])
    expect(machineFaultOf(wrapped)).toMatch(sentence);
});

it.each([
  ['EADDRNOTAVAIL', 'listen'],
  ['EADDRINUSE', 'listen'],
  ['ECONNREFUSED', 'connect'],
  ['ENOTFOUND', 'getaddrinfo'],
  ['toString', 'connect'],
])('%s in %s is not', (code, syscall) => {
  expect(machineFaultOf(failure(code, syscall))).toBe(null);
});
