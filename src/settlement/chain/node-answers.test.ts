import { expect, it } from 'vitest';
import { type JsonRpcClient, MalformedAnswerError } from './json-rpc.ts';
import { checkAnswers, type NodeMethod } from './node-answers.ts';
import { TRANSFER_TOPIC } from './token-reader.ts';

const hash = `0x${'ab'.repeat(32)}`;
const contract = `0x${'cd'.repeat(20)}`;
const sender = `0x${'00'.repeat(12)}${'11'.repeat(20)}`;
const recipient = `0x${'00'.repeat(12)}${'22'.repeat(20)}`;
const filter = {
  address: contract,
  topics: [TRANSFER_TOPIC, null, [recipient]],
  fromBlock: '0x5',
  toBlock: '0x6',
};
const log = {
  address: contract,
  topics: [TRANSFER_TOPIC, sender, recipient],
  data: `0x${'00'.repeat(31)}05`,
  blockNumber: '0x5',
  blockHash: hash,
  logIndex: '0x0',
  transactionHash: hash,
  removed: false,
};
const block = { number: '0x5', hash, parentHash: hash, timestamp: '0x6553f100' };
const receipt = { transactionHash: hash, blockNumber: '0x5', status: '0x1' };
const fees = { baseFeePerGas: ['0x1', '0x2'], reward: [['0x3']] };
/** keccak256 of the empty input. */
const hashOfNothing = '0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470';
const huge = `0x${'f'.repeat(64)}`;

async function ask(method: NodeMethod, params: readonly unknown[], answer: unknown): Promise<unknown> {
  const client: JsonRpcClient = {
    label: 'node',
    call: async () => answer,
    callBatch: async (calls) => calls.map(() => answer),
    close: async () => {},
  };
  const alone = checkAnswers(client).call(method, params);
  // A batch is checked in the same way.
  const batch = checkAnswers(client).callBatch([{ method, params }]);
  const [one, other] = await Promise.allSettled([alone, batch]);
  expect(one.status).toBe(other.status);
  return alone;
}

it.each<readonly [NodeMethod, readonly unknown[], unknown, unknown]>([
  ['eth_chainId', [], '0x89', 137],
  ['eth_getBlockByNumber', ['latest', false], null, null],
  [
    'eth_getBlockByNumber',
    ['0x5', false],
    { ...block, hash: hash.toUpperCase().replace('X', 'x') },
    { number: 5, hash, parentHash: hash, timestampMs: 1_700_000_000_000 },
  ],
  ['eth_getLogs', [filter], [log], [log]],
  ['eth_getLogs', [filter], [], []],
  ['eth_call', [], '0x', '0x'],
  ['eth_getCode', [], '0x60', '0x60'],
  ['eth_getBalance', [], huge, 2n ** 256n - 1n],
  ['eth_getTransactionCount', [], '0x0', 0],
  ['eth_estimateGas', [], '0x5208', 21_000n],
  ['eth_feeHistory', [], fees, { nextBaseFee: 2n, tips: [3n] }],
  ['eth_feeHistory', [], { ...fees, reward: null }, { nextBaseFee: 2n, tips: [] }],
  ['eth_getTransactionReceipt', [hash], receipt, { blockNumber: 5, hasSucceeded: true }],
  ['eth_getTransactionReceipt', [hash], { ...receipt, blockNumber: null }, null],
  ['eth_sendRawTransaction', ['0x'], hashOfNothing, hashOfNothing],
])('%s of %j is answered by %j', async (method, params, answer, expected) => {
  expect(await ask(method, params, answer)).toEqual(expected);
});

const neverRight = [undefined, 5, -1, true, '', 'x', '0xzz', 'a\u0000b', {}, [null], [[]], [{}]];
const malformed: readonly (readonly [NodeMethod, readonly unknown[], readonly unknown[]])[] = [
  ['eth_chainId', [], [null, '0x0', huge]],
  [
    'eth_getBlockByNumber',
    ['0x5', false],
    [
      { ...block, number: '0x6' },
      { ...block, number: huge },
      { ...block, hash: '0x12' },
      { ...block, parentHash: undefined },
      ...['0x0', '0x18bcfe56800', '0x60a24181e4000', huge, 1_700_000_000].map((timestamp) => ({
        ...block,
        timestamp,
      })),
    ],
  ],
  [
    'eth_getLogs',
    [filter],
    [
      null,
      ...[
        { address: sender },
        { address: 5 },
        { topics: [TRANSFER_TOPIC, null, 5] },
        { topics: [TRANSFER_TOPIC, sender] },
        { topics: [TRANSFER_TOPIC, sender, sender] },
        { topics: [recipient, sender, recipient] },
        { topics: [TRANSFER_TOPIC, sender, recipient, hash, hash] },
        { topics: undefined },
        { data: '0x5' },
        { data: null },
        { blockNumber: '0x4' },
        { blockNumber: '0x7' },
        { blockNumber: 5 },
        { logIndex: '0x7fffffff' },
        { transactionHash: contract },
        { removed: true },
      ].map((change) => [log, { ...log, ...change }]),
    ],
  ],
  ['eth_getLogs', [{ ...filter, blockHash: hash }], [[{ ...log, blockHash: recipient }]]],
  ['eth_call', [], [null, '0x1']],
  ['eth_getCode', [], [null, '0x1']],
  ['eth_getBalance', [], [null, '0x', `${huge}0`]],
  ['eth_getTransactionCount', [], [null, '0x1ffffffffffff']],
  ['eth_estimateGas', [], [null, '0x0', huge]],
  [
    'eth_feeHistory',
    [],
    [
      null,
      { ...fees, baseFeePerGas: [] },
      { ...fees, baseFeePerGas: Array(2_000).fill('0x1') },
      { ...fees, baseFeePerGas: [huge] },
      { ...fees, reward: ['0x3'] },
      { ...fees, reward: [[]] },
    ],
  ],
  [
    'eth_getTransactionReceipt',
    [hash],
    [
      { ...receipt, transactionHash: recipient },
      { ...receipt, blockNumber: huge },
      { ...receipt, status: '0x2' },
    ],
  ],
  ['eth_sendRawTransaction', ['0x'], [null, hash]],
];

it.each(
  malformed.flatMap(([method, params, answers]) =>
    [...answers, ...neverRight].map((answer) => [method, params, answer] as const),
  ),
)('%s of %j is never answered by %j', async (method, params, answer) => {
  await expect(ask(method, params, answer)).rejects.toThrow(MalformedAnswerError);
  await expect(ask(method, params, answer)).rejects.toThrow(new RegExp(`^node answered ${method} with `));
});
