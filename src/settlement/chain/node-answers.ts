import { keccak256 } from 'viem/utils';
import type { LatestBlock } from './chain.ts';
import { type JsonRpcClient, MalformedAnswerError } from './json-rpc.ts';

// Checks each method's answer, because nodes are not trusted. An answer that has the wrong shape, is out of range or
// was not requested is a failure of the endpoint.

/** Client that calls only the methods in `answers` and returns only valid answers. */
export interface NodeClient {
  readonly label: string;
  /** Throws `MalformedAnswerError` for an invalid answer, and otherwise like `JsonRpcClient.call`. */
  call<Method extends NodeMethod>(method: Method, params: readonly unknown[]): Promise<NodeAnswer<Method>>;
  callBatch<Method extends NodeMethod>(
    calls: readonly NodeCall<Method>[],
  ): Promise<readonly NodeAnswer<Method>[]>;
  close(): Promise<void>;
}

export interface NodeCall<Method extends NodeMethod = NodeMethod> {
  readonly method: Method;
  readonly params: readonly unknown[];
}

export type NodeMethod = keyof typeof answers;
export type NodeAnswer<Method extends NodeMethod> = ReturnType<(typeof answers)[Method]>;

/** Log of the requested contracts, topics and blocks. Topics and the transaction hash are lower-case hex. */
export interface NodeLog {
  readonly address: string;
  readonly topics: readonly string[];
  readonly data: `0x${string}`;
  readonly blockNumber: string;
  readonly logIndex: string;
  readonly transactionHash: string;
}

export function checkAnswers(client: JsonRpcClient): NodeClient {
  function checked<Method extends NodeMethod>(
    { method, params }: NodeCall<Method>,
    answer: unknown,
  ): NodeAnswer<Method> {
    try {
      return answers[method](answer, params) as NodeAnswer<Method>;
    } catch (error) {
      if (!(error instanceof Misfit)) throw error;
      throw new MalformedAnswerError(`${client.label} answered ${method} with ${error.message}`);
    }
  }
  return {
    label: client.label,
    call: async (method, params) => checked({ method, params }, await client.call(method, params)),
    async callBatch(calls) {
      const results = await client.callBatch(calls);
      return calls.map((call, index) => checked(call, results[index]));
    },
    close: () => client.close(),
  };
}

/** Wraps each request of the client in `around`, which gets the number of calls and the first one's method. */
export function aroundCalls(
  client: NodeClient,
  around: <T>(act: () => Promise<T>, calls: number, method: string) => Promise<T>,
): NodeClient {
  return {
    ...client,
    call: (method, params) => around(() => client.call(method, params), 1, method),
    callBatch: (calls) => around(() => client.callBatch(calls), calls.length, calls[0]?.method ?? ''),
  };
}

/** Defect of an answer, worded to follow "answered with". */
class Misfit extends Error {}

/** Enough for 68 years at two blocks per second. */
const MAXIMUM_BLOCK_NUMBER = 2 ** 32;
/** Time in seconds before Polygon's first block. With the maximum, it rejects times in milliseconds or microseconds. */
const MINIMUM_BLOCK_TIME = Date.UTC(2020, 0) / 1000;
const MAXIMUM_BLOCK_TIME = Date.UTC(2100, 0) / 1000;
/** Fifty times the logs that fit into a block, at 375 gas or more per log. */
const MAXIMUM_LOG_INDEX = 2 ** 23;
const MAXIMUM_TRANSACTION_COUNT = 2 ** 32;
const MAXIMUM_TOPICS = 4;
/** Only a sanity bound, because the relayer compares lower values with our own figure. */
const MAXIMUM_GAS = 2n ** 40n;
/** A million gwei. The default of bor's `targetBaseFee` is 500 gwei. */
const MAXIMUM_FEE_WEI = 10n ** 15n;
const MAXIMUM_FEE_BLOCKS = 1_024;
const MAXIMUM_WORD = 2n ** 256n - 1n;

/** Checks of answers by method. The keys are all methods called at chain endpoints. */
export const answers = {
  eth_chainId: (answer: unknown) => count(answer, 'chain id', 1, Number.MAX_SAFE_INTEGER),
  eth_getBlockByNumber: readBlock,
  eth_getLogs: readLogs,
  eth_call: (answer: unknown) => bytes(answer, 'call result'),
  eth_getCode: (answer: unknown) => bytes(answer, 'code'),
  eth_getBalance: (answer: unknown) => quantity(answer, 'balance', 0n, MAXIMUM_WORD),
  eth_getTransactionCount: (answer: unknown) =>
    count(answer, 'transaction count', 0, MAXIMUM_TRANSACTION_COUNT),
  eth_estimateGas: (answer: unknown) => quantity(answer, 'gas estimate', 1n, MAXIMUM_GAS),
  eth_feeHistory: readFeeHistory,
  eth_getTransactionReceipt: readReceipt,
  eth_sendRawTransaction(answer: unknown, [rawTransaction]: readonly unknown[]) {
    const sent = hash(answer, 'transaction hash');
    if (sent !== keccak256(rawTransaction as `0x${string}`))
      throw new Misfit('the hash of another transaction');
    return sent;
  },
} satisfies Record<string, (answer: unknown, params: readonly unknown[]) => unknown>;

/** Returns null if the endpoint has no such block. */
function readBlock(answer: unknown, [asked]: readonly unknown[]): LatestBlock | null {
  if (answer === null) return null;
  const block = record(answer, 'block');
  const number = count(block['number'], 'block number', 0, MAXIMUM_BLOCK_NUMBER);
  if (isHex(asked) && Number(asked) !== number) throw new Misfit(`block ${number} for ${Number(asked)}`);
  const time = count(block['timestamp'], 'block time', MINIMUM_BLOCK_TIME, MAXIMUM_BLOCK_TIME);
  return {
    number,
    hash: hash(block['hash'], 'block hash'),
    parentHash: hash(block['parentHash'], 'parent hash'),
    timestampMs: time * 1000,
  };
}

/** Parameter of `eth_getLogs`. An address or topic is a single one or a list. A null topic matches any. */
interface LogFilter {
  readonly address: string | readonly string[];
  readonly topics: readonly (string | null | readonly string[])[];
  readonly fromBlock?: string;
  readonly toBlock?: string;
  readonly blockHash?: string;
}

/** Checks logs without converting them, because almost all logs of a whole-token scan are other people's transfers. */
function readLogs(answer: unknown, [asked]: readonly unknown[]): readonly NodeLog[] {
  if (!Array.isArray(answer)) throw new Misfit('something else than a list of logs');
  const filter = asked as LogFilter;
  const addresses = new Set([filter.address].flat().map((one) => one.toLowerCase()));
  const topics = filter.topics.map((wanted) => (wanted === null ? null : new Set([wanted].flat())));
  const [from, to] = [Number(filter.fromBlock ?? 0), Number(filter.toBlock ?? MAXIMUM_BLOCK_NUMBER)];
  for (const each of answer) {
    const log = record(each, 'log');
    if (!addresses.has(String(log['address']).toLowerCase())) throw new Misfit('a log of another contract');
    if (log['removed'] === true) throw new Misfit('a log of a removed block');
    checkTopics(log['topics'], topics);
    bytes(log['data'], 'log');
    const blockNumber = count(log['blockNumber'], 'block number', 0, MAXIMUM_BLOCK_NUMBER);
    const { blockHash = filter.blockHash } = log;
    const isOtherBlock = filter.blockHash !== undefined && blockHash !== filter.blockHash;
    if (blockNumber < from || blockNumber > to || isOtherBlock) throw new Misfit('a log of another block');
    count(log['logIndex'], 'log index', 0, MAXIMUM_LOG_INDEX);
    if (!isWord(log['transactionHash'])) throw new Misfit('a malformed transaction hash');
  }
  return answer as readonly NodeLog[];
}

function checkTopics(topics: unknown, wanted: readonly (ReadonlySet<string> | null)[]): void {
  if (!Array.isArray(topics) || topics.length > MAXIMUM_TOPICS)
    throw new Misfit('a malformed list of topics');
  for (let index = 0; index < topics.length; index++) {
    const topic: unknown = topics[index];
    if (!isWord(topic)) throw new Misfit('a malformed topic');
    if (wanted[index]?.has(topic) === false) throw new Misfit('another event than asked for');
  }
  if (topics.length < wanted.length) throw new Misfit('another event than asked for');
}

/** Returns the next block's base fee, and the tip of each recent block at the requested percentile. */
function readFeeHistory(answer: unknown) {
  const { baseFeePerGas, reward } = record(answer, 'fee history');
  const fees = list(baseFeePerGas, 'base fees').map((fee) => quantity(fee, 'base fee', 0n, MAXIMUM_FEE_WEI));
  const nextBaseFee = fees.at(-1);
  if (nextBaseFee === undefined) throw new Misfit('no base fee');
  const rows = reward === undefined || reward === null ? [] : list(reward, 'tips');
  const tips = rows.map((row) => quantity(list(row, 'tips')[0], 'tip', 0n, MAXIMUM_FEE_WEI));
  return { nextBaseFee, tips };
}

/** Returns a transaction's block and whether it succeeded; null while it is not mined. */
function readReceipt(answer: unknown, [asked]: readonly unknown[]) {
  if (answer === null) return null;
  const receipt = record(answer, 'receipt');
  if (hash(receipt['transactionHash'], 'receipt') !== String(asked).toLowerCase())
    throw new Misfit('the receipt of another transaction');
  // Some nodes return a receipt for a pending transaction.
  if (receipt['blockNumber'] === null) return null;
  return {
    blockNumber: count(receipt['blockNumber'], 'block number', 0, MAXIMUM_BLOCK_NUMBER),
    hasSucceeded: count(receipt['status'], 'status', 0, 1) === 1,
  };
}

function record(value: unknown, what: string): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw malformed(what);
  return value as Readonly<Record<string, unknown>>;
}

function list(value: unknown, what: string): readonly unknown[] {
  if (!Array.isArray(value) || value.length > MAXIMUM_FEE_BLOCKS) throw malformed(what);
  return value;
}

const quantityPattern = /^0x[0-9a-fA-F]{1,64}$/;
/** Character that is not a hex digit. A whole-string pattern overflows the regex stack on megabytes of input. */
const nonHexDigit = /[^0-9a-fA-F]/;
const wordPattern = /^0x[0-9a-f]{64}$/;

function isHex(value: unknown): value is string {
  return typeof value === 'string' && quantityPattern.test(value);
}

function isWord(value: unknown): value is string {
  return typeof value === 'string' && wordPattern.test(value);
}

function quantity(value: unknown, what: string, minimum: bigint, maximum: bigint): bigint {
  if (!isHex(value)) throw malformed(what);
  const number = BigInt(value);
  if (number < minimum || number > maximum) throw malformed(what);
  return number;
}

function count(value: unknown, what: string, minimum: number, maximum: number): number {
  if (!isHex(value)) throw malformed(what);
  const number = Number(value);
  if (number < minimum || number > maximum) throw malformed(what);
  return number;
}

function bytes(value: unknown, what: string): `0x${string}` {
  const isHex = typeof value === 'string' && value.length % 2 === 0 && value.startsWith('0x');
  if (!isHex || nonHexDigit.test(value.slice(2))) throw malformed(what);
  return value as `0x${string}`;
}

/** Returns 32 bytes as lower-case hex. */
function hash(value: unknown, what: string): string {
  const lower = typeof value === 'string' ? value.toLowerCase() : value;
  if (!isWord(lower)) throw malformed(what);
  return lower;
}

function malformed(what: string): Misfit {
  return new Misfit(`a malformed ${what}`);
}

/** Returns the block that a subscription message announces; null for any other message. */
export function readAnnouncement(text: string): LatestBlock | null {
  try {
    const { method, params } = record(JSON.parse(text), 'message');
    return method === 'eth_subscription' ? readBlock(record(params, 'message')['result'], []) : null;
  } catch {
    return null;
  }
}

/** Reads one 32-byte word. Rejects the empty answer that a call to an address without code returns. */
export function readWord(label: string, data: `0x${string}`): bigint {
  if (data.length === 66) return BigInt(data);
  throw new MalformedAnswerError(`${label} has no such contract, or not this version of it`);
}

export function toQuantity(count: number | bigint): `0x${string}` {
  return `0x${count.toString(16)}`;
}
