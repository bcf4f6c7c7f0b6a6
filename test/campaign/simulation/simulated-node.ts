import { decodeFunctionData, encodeFunctionResult, keccak256, parseTransaction } from 'viem/utils';
import { type Address, checksumAddress } from '../../../src/payment/address.ts';
import { ChainUnavailableError } from '../../../src/settlement/chain/chain.ts';
import {
  AnswerTooSlowError,
  JsonRpcAnswerError,
  type JsonRpcClient,
} from '../../../src/settlement/chain/json-rpc.ts';
import { depositFactoryAbi } from '../../../src/settlement/chain/read-logs.ts';
import { MULTICALL3, multicallAbi, tokenAbi } from '../../../src/settlement/chain/token-reader.ts';
import { corrupt } from './corrupt-answer.ts';
import type { Draws } from './draws.ts';
import { findLogs, type LogFilter } from './node-logs.ts';
import type { Mood } from './node-mood.ts';
import type { NumberLie } from './number-lies.ts';
import { type Block, type SimulatedChain, TIP } from './simulated-chain.ts';
import { type Action, balanceOf, refusalOf, wordOf } from './token-state.ts';

export interface NodeOptions {
  readonly name: string;
  readonly mood: () => Mood;
  readonly chainId: number;
  /** Who signed a transaction, of all whose transactions this chain takes. */
  readonly signerOf: (rawTransaction: string) => Address | Promise<Address>;
  /** Blocks in one request for logs at most. */
  readonly maximumBlockRange: number;
  /** Refuses a transaction whose gas limit may cost more than this; null for any. */
  readonly feeCapWei: bigint | null;
  /** Stands between the service and the node: process death, turns of the event loop. */
  readonly pass: <T>(what: string, act: () => T | Promise<T>) => Promise<T>;
  /** Shown every signed transaction before the node has it. */
  readonly onBroadcast: (rawTransaction: string) => Promise<void>;
}

export function createSimulatedNode(
  chain: SimulatedChain,
  draws: Draws,
  options: NodeOptions,
): JsonRpcClient {
  /** Whether the node behind a load balancer that answers now is behind. */
  let isStale = false;

  function answer(method: string, params: readonly unknown[], signer: Address | null = null): unknown {
    const mood = options.mood();
    if (mood.kind === 'down') throw new ChainUnavailableError(`${options.name} is down`);
    if (mood.kind === 'hung') throw new AnswerTooSlowError(`${options.name} did not answer ${method}`);
    if (mood.kind === 'load balancer') isStale = draws.chance(50);
    const honestly = execute(method, params, signer);
    const isCorrupt =
      mood.kind === 'malformed' && (mood.method ?? method) === method && draws.chance(mood.percent);
    const result = isCorrupt ? corrupt(method, honestly, draws) : honestly;
    if (mood.kind === 'slow' && draws.chance(70)) {
      throw new AnswerTooSlowError(`${options.name} is slow to answer ${method}`);
    }
    return result;
  }

  /** What it lies about, where it is this. */
  function lieAbout<About extends NumberLie['about']>(about: About) {
    const mood = options.mood();
    if (mood.kind !== 'lying numbers' || mood.lie.about !== about) return null;
    return mood.lie as Extract<NumberLie, { about: About }>;
  }

  function refuse(method: string, code: number, message: string): never {
    throw new JsonRpcAnswerError(options.name, method, { code, message, data: undefined });
  }

  function lag(): number {
    const mood = options.mood();
    if (mood.kind === 'load balancer') return isStale ? mood.blocks : 0;
    return mood.kind === 'behind' ? mood.blocks : 0;
  }

  function head(): Block {
    return chain.blocks[Math.max(0, chain.latest.number - lag())] as Block;
  }

  function finalNumber(): number {
    if (options.mood().kind === 'early finality') return head().number;
    return Math.min(head().number, Math.max(0, chain.finalNumber - lag()));
  }

  function transactionCount(method: string, of: unknown, tag: unknown): number {
    const mood = options.mood();
    const address = String(of).toLowerCase();
    const isPending = tag === 'pending';
    const count = blockAt(method, isPending ? 'latest' : tag).state.nonces.get(address) ?? 0;
    const lie = lieAbout('transaction count');
    if (lie !== null) return lie.added === null ? 0 : count + lie.added;
    if (isPending) return pendingCount(address, count);
    if (tag !== 'latest') return count;
    if (mood.kind === 'lagging nonce') return Math.max(0, count - mood.transactions);
    return mood.kind === 'nonce gap' ? count + mood.transactions : count;
  }

  /** Up to the first nonce that the pool lacks. */
  function pendingCount(address: string, minedCount: number): number {
    const waiting = [...chain.pool.values()].filter(({ sender }) => sender?.address === address);
    const nonces = new Set(waiting.map(({ sender }) => sender?.nonce));
    let count = minedCount;
    while (nonces.has(count)) count++;
    return count;
  }

  function blockAt(method: string, tag: unknown): Block {
    if (tag === 'latest') return head();
    const number = tag === 'finalized' ? finalNumber() : Number(tag);
    const block = number <= head().number ? chain.blocks[number] : undefined;
    return block ?? refuse(method, -32_000, 'header not found');
  }

  function shownHash({ number, hash }: Block): string {
    const mood = options.mood();
    return mood.kind === 'lying hashes' && number >= mood.fromBlock ? `0xbad${hash.slice(5)}` : hash;
  }

  function rangeOfHash(blockHash: string): Pick<LogFilter, 'fromBlock' | 'toBlock'> {
    const known = chain.blocks.slice(0, head().number + 1);
    const block = known.findLast((one) => shownHash(one) === blockHash);
    if (block === undefined) return refuse('eth_getLogs', -32_000, 'unknown block');
    return { fromBlock: quantity(block.number), toBlock: quantity(block.number) };
  }

  function showBlock(tag: unknown): unknown {
    if (typeof tag === 'string' && tag.startsWith('0x') && Number(tag) > head().number) return null;
    const block = blockAt('eth_getBlockByNumber', tag);
    const { number, timestampMs } = block;
    const parent = chain.blocks[number - 1];
    return {
      number: quantity(number),
      hash: shownHash(block),
      parentHash: parent === undefined ? `0x${'0'.repeat(64)}` : shownHash(parent),
      timestamp: quantity(Math.floor(timestampMs / 1000)),
    };
  }

  function call(request: { from?: string; to: string; data: `0x${string}` }, tag: unknown): string {
    if (request.to === MULTICALL3) return callMany(request.data, tag);
    const { state } = blockAt('eth_call', tag);
    const { functionName, args } = decodeFunctionData({ abi: tokenAbi, data: request.data });
    const lie = lieAbout('releases')?.says;
    if (lie === 'paused' && functionName === 'paused') return `0x${wordOf(1n)}`;
    if (lie === 'paused' && functionName === 'transfer') refuse('eth_call', 3, 'execution reverted: paused');
    if (lie === 'empty' && functionName === 'balanceOf') return `0x${wordOf(0n)}`;
    if (functionName === 'paused') return `0x${wordOf(state.isPaused ? 1n : 0n)}`;
    if (functionName === 'balanceOf') return `0x${wordOf(balanceOf(state, args[0]))}`;
    if (functionName === 'isBlacklisted') {
      return `0x${wordOf(state.blocklisted.has(args[0].toLowerCase()) ? 1n : 0n)}`;
    }
    const refusal = refusalOf(state, request.from as string, args[0], args[1]);
    if (refusal !== null) refuse('eth_call', 3, `execution reverted: ${refusal}`);
    return `0x${wordOf(1n)}`;
  }

  function callMany(data: `0x${string}`, tag: unknown): string {
    const { args } = decodeFunctionData({ abi: multicallAbi, data });
    const result = args[0].map(({ target, callData }) => ({
      success: true,
      returnData: call({ to: target, data: callData }, tag) as `0x${string}`,
    }));
    return encodeFunctionResult({ abi: multicallAbi, functionName: 'aggregate3', result });
  }

  function execute(method: string, params: readonly unknown[], signer: Address | null): unknown {
    switch (method) {
      case 'eth_chainId':
        return quantity(options.mood().kind === 'lying chain' ? 1 : options.chainId);
      case 'eth_getBlockByNumber':
        return showBlock(params[0]);
      case 'eth_getLogs': {
        const asFiltered = params[0] as LogFilter & { blockHash?: string };
        const { blockHash } = asFiltered;
        const filter = blockHash === undefined ? asFiltered : { ...asFiltered, ...rangeOfHash(blockHash) };
        const asked = Number(filter.toBlock) - Number(filter.fromBlock) + 1;
        if (asked > options.maximumBlockRange) refuse(method, -32_005, 'query exceeds the block range');
        const blocks = chain.blocks.slice(0, head().number + 1);
        return findLogs({ blocks, contracts: chain.contracts }, filter, options.mood(), draws);
      }
      case 'eth_call':
        return call(params[0] as Parameters<typeof call>[0], params[1]);
      case 'eth_getTransactionCount':
        return quantity(transactionCount(method, params[0], params[1]));
      case 'eth_estimateGas': {
        const gas =
          lieAbout('gas')?.gas ?? gasOf(termsOf((params[0] as { data: `0x${string}` }).data).length);
        return gas === 'reverts' ? refuse(method, 3, 'execution reverted: no') : quantity(gas);
      }
      case 'eth_getTransactionReceipt': {
        const seen = chain.blocks.slice(0, head().number + 1);
        const block = seen.find(({ transactions }) => transactions.some(({ hash }) => hash === params[0]));
        const isMined = lieAbout('receipts')?.isMined ?? block !== undefined;
        if (!isMined) return null;
        const { number } = block ?? head();
        return { transactionHash: params[0], blockNumber: quantity(number), status: '0x1' };
      }
      case 'eth_feeHistory': {
        const lie = lieAbout('fees')?.wei;
        return { baseFeePerGas: [quantity(lie ?? chain.baseFee)], reward: [[quantity(lie ?? TIP)]] };
      }
      case 'eth_getBalance':
        return quantity(lieAbout('balance')?.wei ?? 10n ** 21n);
      case 'eth_sendRawTransaction':
        return take(params[0] as `0x${string}`, signer as Address);
      default:
        throw new TypeError(`the simulated node does not know ${method}`);
    }
  }

  /** Into the pool, by the rules of the nodes: no used nonce, and a replacement pays a tenth more. */
  function take(rawTransaction: `0x${string}`, signer: Address): string {
    const method = 'eth_sendRawTransaction';
    const parsed = parseTransaction(rawTransaction);
    const hash = keccak256(rawTransaction);
    const address = signer.toLowerCase();
    const sender = {
      address,
      nonce: parsed.nonce ?? 0,
      maxFeePerGas: parsed.maxFeePerGas ?? 0n,
      tip: parsed.maxPriorityFeePerGas ?? 0n,
    };
    const { feeCapWei } = options;
    if (feeCapWei !== null && (parsed.gas ?? 0n) * sender.maxFeePerGas > feeCapWei) {
      refuse(method, -32_000, `tx fee exceeds the configured cap (${feeCapWei} wei)`);
    }
    if (lieAbout('acceptance') !== null) return hash;
    const terms = (parsed.data ?? '0x') === '0x' ? [] : termsOf(parsed.data as `0x${string}`);
    const gas = parsed.gas ?? 0n;
    if (gas < intrinsicGasOf(terms.length)) refuse(method, -32_000, 'intrinsic gas too low');
    if (chain.pool.has(hash)) refuse(method, -32_000, 'already known');
    if (sender.nonce < (head().state.nonces.get(address) ?? 0)) refuse(method, -32_000, 'nonce too low');
    const rival = [...chain.pool.values()].find(
      (other) => other.sender?.nonce === sender.nonce && other.sender.address === address,
    );
    if (rival?.sender != null) {
      const isEnough = sender.maxFeePerGas * 10n >= rival.sender.maxFeePerGas * 11n;
      if (!isEnough || sender.tip * 10n < rival.sender.tip * 11n) {
        refuse(method, -32_000, 'replacement transaction underpriced');
      }
      chain.pool.delete(rival.hash);
    }
    // It says that it has the transaction, and nobody ever hears of it.
    if (options.mood().kind === 'swallowing' && draws.chance(30)) return hash;
    // What runs out of gas is mined and does nothing.
    const hasEffect = terms.length > 0 && gas >= gasOf(terms.length);
    const action: Action = hasEffect ? { kind: 'forward', terms } : { kind: 'nothing' };
    chain.pool.set(hash, { hash, action, sender });
    return hash;
  }

  return {
    label: options.name,
    call: (method, params) =>
      options.pass(method, async () => {
        if (method !== 'eth_sendRawTransaction') return answer(method, params);
        await options.onBroadcast(params[0] as string);
        return answer(method, params, await options.signerOf(params[0] as string));
      }),
    callBatch: (calls) =>
      options.pass(calls[0]?.method ?? 'an empty batch', () =>
        calls.map(({ method, params }) => answer(method, params)),
      ),
    close: async () => {},
  };
}

function termsOf(data: `0x${string}`) {
  const { functionName, args } = decodeFunctionData({ abi: depositFactoryAbi, data });
  if (functionName !== 'forward') throw new TypeError(`the simulated chain does not know ${functionName}`);
  return args[0].map(({ merchant, feeBps, feeTo, ref }) => ({
    merchant: checksumAddress(merchant.slice(2)),
    feeBasisPoints: feeBps,
    feeWallet: checksumAddress(feeTo.slice(2)),
    reference: ref,
  }));
}

/** Gas that releases need, and without which no node takes their transaction. */
function gasOf(releases: number): bigint {
  return 50_000n + 66_000n * BigInt(releases);
}

function intrinsicGasOf(releases: number): bigint {
  return 21_000n + 3_000n * BigInt(releases);
}

function quantity(value: number | bigint): string {
  return `0x${value.toString(16)}`;
}
