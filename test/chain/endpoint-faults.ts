import type { Address } from '../../src/payment/address.ts';
import { FORWARDED_TOPIC } from '../../src/settlement/chain/read-logs.ts';
import { TRANSFER_TOPIC } from '../../src/settlement/chain/token-reader.ts';
import type { AlteringProxy } from './altering-proxy.ts';

/** What goes wrong with the node behind a proxy. `proxy.alter = null` ends it. */

interface LogFilter {
  readonly fromBlock: string;
  readonly toBlock: string;
  readonly address: string | readonly string[];
}

interface RawLog {
  readonly topics: readonly string[];
  readonly data: string;
}

type Alter = NonNullable<AlteringProxy['alter']>;
type Call = Parameters<Alter>[0];

/** The first and the last block of a filter, which may name one by its hash; null where the node has no such block. */
async function rangeOf(call: Call, ask: Parameters<Alter>[1]): Promise<readonly [number, number] | null> {
  const [{ fromBlock, toBlock, blockHash }] = call.params as [LogFilter & { blockHash?: string }];
  if (blockHash === undefined) return [Number(fromBlock), Number(toBlock)];
  const { result } = await ask({ ...call, method: 'eth_getBlockByHash', params: [blockHash, false] });
  const { number } = (result ?? {}) as { number?: string };
  return number === undefined ? null : [Number(number), Number(number)];
}

/** Answers like a node that knows no block above this one. */
export function lagAt(proxy: AlteringProxy, head: number): void {
  proxy.alter = async (call, ask) => {
    const [tag] = call.params as [unknown];
    if (call.method === 'eth_getLogs') {
      const [first = 0, last = 0] = (await rangeOf(call, ask)) ?? [];
      const [filter] = call.params as [{ blockHash?: string }];
      if (filter.blockHash !== undefined && last > head) {
        return { error: { code: -32_000, message: 'unknown block' } };
      }
      return first > head ? { result: [] } : ask(call);
    }
    if (call.method !== 'eth_getBlockByNumber') return ask(call);
    if (tag === 'latest') return ask({ ...call, params: [`0x${head.toString(16)}`, false] });
    if (tag === 'finalized') return ask({ ...call, params: [`0x${(head - 2).toString(16)}`, false] });
    return Number(tag) > head ? { result: null } : ask(call);
  };
}

export function forgeHashes(proxy: AlteringProxy): void {
  proxy.alter = async (call, ask) => {
    const answer = await ask(call);
    if (call.method !== 'eth_getBlockByNumber' || answer.result === null) return answer;
    return { result: { ...(answer.result as object), hash: `0x${'ab'.repeat(32)}` } };
  };
}

/** Honest blocks, and `finalized` is the one that `choose` makes of the final and the newest one. */
export function moveFinality(proxy: AlteringProxy, choose: (final: number, latest: number) => number): void {
  proxy.alter = async (call, ask) => {
    if (call.method !== 'eth_getBlockByNumber' || call.params[0] !== 'finalized') return ask(call);
    const numberOf = async (tag: string) =>
      Number(((await ask({ ...call, params: [tag, false] })).result as { number: string }).number);
    const chosen = choose(await numberOf('finalized'), await numberOf('latest'));
    return ask({ ...call, params: [`0x${chosen.toString(16)}`, false] });
  };
}

/** Takes every request and answers none. */
export function hang(proxy: AlteringProxy): void {
  proxy.alter = () => new Promise(() => {});
}

/** Leaves out every log that names this address, in ranges of more than so many blocks. */
export function omitLogsOf(proxy: AlteringProxy, address: Address, aboveBlocks = 0): void {
  const topic = topicOf(address);
  proxy.alter = async (call, ask) => {
    const answer = await ask(call);
    if (call.method !== 'eth_getLogs') return answer;
    const [first, last] = (await rangeOf(call, ask)) ?? [0, 0];
    if (last - first + 1 <= aboveBlocks) return answer;
    return { result: (answer.result as RawLog[]).filter(({ topics }) => !topics.includes(topic)) };
  };
}

export function halveTransfers(proxy: AlteringProxy): void {
  proxy.alter = async (call, ask) => {
    const answer = await ask(call);
    if (call.method !== 'eth_getLogs') return answer;
    const halve = (log: RawLog) =>
      log.data.length === 66
        ? { ...log, data: `0x${(BigInt(log.data) / 2n).toString(16).padStart(64, '0')}` }
        : log;
    return { result: (answer.result as RawLog[]).map(halve) };
  };
}

/** Honest blocks and hashes, and in one of them a deposit, and its release if asked for, that nobody made. */
export function fabricate(
  proxy: AlteringProxy,
  lie: {
    readonly deposit: Address;
    readonly units: bigint;
    /** `newest`: the last block of each question, so that the lie never becomes final. */
    readonly blockNumber: number | 'newest';
    readonly isReleased: boolean;
    readonly transactionHash?: string;
  },
): void {
  const deposit = topicOf(lie.deposit);
  const other = `0x${'12'.padStart(64, '0')}`;
  const word = lie.units.toString(16).padStart(64, '0');
  proxy.alter = async (call, ask) => {
    const answer = await ask(call);
    if (call.method !== 'eth_getLogs') return answer;
    const [{ address }] = call.params as [LogFilter];
    const range = await rangeOf(call, ask);
    if (range === null) return answer;
    const [first, last] = range;
    const blockNumber = lie.blockNumber === 'newest' ? last : lie.blockNumber;
    if (first > blockNumber || last < blockNumber) return answer;
    const place = {
      blockNumber: `0x${blockNumber.toString(16)}`,
      transactionHash: lie.transactionHash ?? `0x${'1e'.repeat(32)}`,
      removed: false,
    };
    const transfer = { topics: [TRANSFER_TOPIC, other, deposit], data: `0x${word}`, logIndex: '0x384' };
    const forwarded = {
      topics: [FORWARDED_TOPIC, deposit, other, other],
      data: `0x${word}${'0'.repeat(64)}`,
      logIndex: '0x385',
    };
    if (!Array.isArray(address)) {
      return { result: [...(answer.result as RawLog[]), { ...place, ...transfer, address }] };
    }
    if (!lie.isReleased) return answer;
    return { result: [...(answer.result as RawLog[]), { ...place, ...forwarded, address: address[0] }] };
  };
}

function topicOf(address: Address): string {
  return `0x${address.slice(2).toLowerCase().padStart(64, '0')}`;
}

/** Shows a fork: the chain's blocks, each with a hash of its own, by which it finds them again. */
export function fork(proxy: AlteringProxy): void {
  const known = new Map<string, string>();
  const forked = (hash: string) => {
    const own = `0xf0f0${hash.slice(6)}`;
    known.set(own, hash);
    return own;
  };
  proxy.alter = async (call, ask) => {
    const [given] = call.params as [unknown];
    const { blockHash } = (given ?? {}) as { blockHash?: string };
    const back = (hash: string) => known.get(hash) ?? hash;
    const asked =
      blockHash !== undefined
        ? { ...call, params: [{ ...(given as object), blockHash: back(blockHash) }] }
        : call.method === 'eth_getBlockByHash'
          ? { ...call, params: [back(given as string), ...call.params.slice(1)] }
          : call;
    const answer = await ask(asked);
    if (!/^eth_getBlockBy/.test(call.method) || answer.result === null) return answer;
    const block = answer.result as { hash: string; parentHash: string };
    return { result: { ...block, hash: forked(block.hash), parentHash: forked(block.parentHash) } };
  };
}

/** Denies every block up to this one: each has another hash than before. */
export function denyUpTo(proxy: AlteringProxy, last: number): void {
  proxy.alter = async (call, ask) => {
    const answer = await ask(call);
    const [block] = call.params as [unknown];
    const isDenied = call.method === 'eth_getBlockByNumber' && Number(block) <= last;
    if (!isDenied || answer.result === null) return answer;
    return { result: { ...(answer.result as object), hash: `0x${'ef'.repeat(32)}` } };
  };
}
