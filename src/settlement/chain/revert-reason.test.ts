import { encodeErrorResult, parseAbi } from 'viem/utils';
import { expect, it } from 'vitest';
import { ChainUnavailableError } from './chain.ts';
import { JsonRpcAnswerError } from './json-rpc.ts';
import { revertReasonOf } from './revert-reason.ts';

function answer(code: number, message: string, data?: unknown): JsonRpcAnswerError {
  return new JsonRpcAnswerError('node', 'eth_call', { code, message, data });
}

const requireFailed = (text: string) =>
  encodeErrorResult({ abi: parseAbi(['error Error(string)']), errorName: 'Error', args: [text] });

it.each([
  [
    'the text of a require',
    answer(3, 'execution reverted', requireFailed('Pausable: paused')),
    'Pausable: paused',
  ],
  ['the same in an object', answer(-32_000, 'x', { data: requireFailed('no') }), 'no'],
  ['a custom error by its selector', answer(3, 'execution reverted', '0x12345678aabb'), 'error 0x12345678'],
  ['words only', answer(-32_000, 'execution reverted: Blacklistable'), 'Blacklistable'],
  ['no reason at all', answer(3, 'execution reverted', '0x'), 'reverted without a reason'],
  ['a failed assertion', answer(3, 'x', `0x4e487b71${'11'.padStart(64, '0')}`), 'panic 0x11'],
  ['broken data', answer(3, 'x', '0x08c379a0ff'), 'error 0x08c379a0'],
  ['control characters', answer(3, 'x', requireFailed('a\u0000\n\u202eb')), 'a b'],
])('a reverted call is told by %s', (_name, error, reason) => {
  expect(revertReasonOf(error)).toBe(reason);
});

it('is never longer than 200 characters', () => {
  expect(revertReasonOf(answer(3, 'x', requireFailed('a'.repeat(5_000))))).toHaveLength(200);
});

it('an error about the endpoint is no reverted call', () => {
  expect(revertReasonOf(answer(-32_005, 'rate limit exceeded'))).toBeNull();
  expect(revertReasonOf(new ChainUnavailableError('down'))).toBeNull();
  expect(revertReasonOf(new Error('execution reverted'))).toBeNull();
});
