import { encodeFunctionData, parseAbi, toEventSelector } from 'viem/utils';
import { type Address, checksumAddress, type DepositTerms } from '../../payment/address.ts';
import type { BlockReference } from '../settlement-store.ts';
import {
  type ChainLogs,
  ChainUnavailableError,
  type ForwardedLog,
  type LogQuery,
  type RelayCall,
  type RescuedLog,
  type ScannedLogs,
  type TransferLog,
} from './chain.ts';
import type { ChainEndpoint } from './endpoint-rotation.ts';
import {
  AnswerTooLargeError,
  AnswerTooSlowError,
  JsonRpcAnswerError,
  MalformedAnswerError,
  refusalStatuses,
} from './json-rpc.ts';
import { type NodeClient, type NodeLog, toQuantity } from './node-answers.ts';
import { TRANSFER_TOPIC } from './token-reader.ts';

/** The watched contracts: one token, and every factory whose deposits may still be released. */
export interface LogSources {
  readonly token: Address;
  readonly factories: readonly Address[];
}

/** Maximum recipients in a node's filter. With more, all transfers of the token are read and filtered locally. */
const MAXIMUM_FILTERED_RECIPIENTS = 1_000;

/** Reads the logs of a query in one batch request, each kind in chain order. */
async function readLogs(rpc: NodeClient, sources: LogSources, query: LogQuery): Promise<ChainLogs> {
  const range =
    query.block === undefined
      ? { fromBlock: toQuantity(query.fromBlock), toBlock: toQuantity(query.toBlock) }
      : { blockHash: query.block.hash };
  const filters: object[] = [];
  // Nodes treat an empty list as "any", so the request is left out.
  const asksTransfers = query.recipients === null || query.recipients.length > 0;
  if (asksTransfers)
    filters.push({ ...range, address: sources.token, topics: transferTopics(query.recipients) });
  const asksReleases = sources.factories.length > 0 && query.withReleases !== false;
  if (asksReleases)
    filters.push({ ...range, address: sources.factories, topics: [[FORWARDED_TOPIC, RESCUED_TOPIC]] });
  const calls = filters.map((filter) => ({ method: 'eth_getLogs' as const, params: [filter] }));
  const answers = calls.length === 0 ? [] : await rpc.callBatch(calls);
  const [transfers = [], releases = []] = asksTransfers ? answers : [[], ...answers];
  return {
    transfers: await readTransfers(rpc.label, transfers, query),
    ...readFactoryLogs(rpc.label, releases, query),
  };
}

function transferTopics(recipients: readonly Address[] | null): unknown[] {
  if (recipients === null || recipients.length > MAXIMUM_FILTERED_RECIPIENTS) return [TRANSFER_TOPIC];
  const topicOf = (address: Address) => `0x${'0'.repeat(24)}${address.slice(2).toLowerCase()}`;
  return [TRANSFER_TOPIC, null, recipients.map(topicOf)];
}

function wrongLog(label: string, problem: string): MalformedAnswerError {
  return new MalformedAnswerError(`${label} answered eth_getLogs with ${problem}`);
}

/** Returns a log's position. Throws if a block that was requested by hash has another number. */
function positionOf(label: string, log: NodeLog, { fromBlock, toBlock }: LogQuery) {
  const blockNumber = Number(log.blockNumber);
  if (blockNumber < fromBlock || blockNumber > toBlock) throw wrongLog(label, 'a log of another block');
  return { blockNumber, logIndex: Number(log.logIndex), transactionHash: log.transactionHash };
}

const topicPattern = /^0x0{24}[0-9a-f]{40}$/;
const oneWordPattern = /^0x[0-9a-fA-F]{64}$/;
const twoWordsPattern = /^0x[0-9a-fA-F]{128}$/;
const MAXIMUM_UNITS = 2n ** 256n - 1n;

async function readTransfers(
  label: string,
  logs: readonly NodeLog[],
  query: LogQuery,
): Promise<TransferLog[]> {
  const { recipients, ownOf } = query;
  const recipientOf = ({ topics: [, , recipient] }: NodeLog): string => {
    if (recipient === undefined) throw wrongLog(label, 'another event than asked for');
    return `0x${recipient.slice(26)}`;
  };
  const asked = new Set(recipients?.map((address) => address.toLowerCase()) ?? logs.map(recipientOf));
  const kept = recipients === null && ownOf !== undefined ? await ownOf(asked) : asked;
  const transfers: TransferLog[] = [];
  for (const log of logs) {
    const digits = recipientOf(log);
    // Almost every log of a whole-token scan ends here, so anything more expensive comes later.
    if (!kept.has(digits)) continue;
    const [, sender = '', recipient = ''] = log.topics;
    if (!topicPattern.test(recipient) || !oneWordPattern.test(log.data))
      throw wrongLog(label, 'a malformed transfer');
    const position = positionOf(label, log, query);
    const units = BigInt(log.data);
    // Anyone can send a zero-value transfer to any address for the price of gas.
    if (units === 0n) continue;
    transfers.push({
      recipient: checksumAddress(digits.slice(2)),
      ...(topicPattern.test(sender) ? { sender: checksumAddress(sender.slice(26)) } : {}),
      units,
      ...position,
    });
  }
  return inChainOrder(label, transfers);
}

function readFactoryLogs(
  label: string,
  logs: readonly NodeLog[],
  query: LogQuery,
): Pick<ChainLogs, 'forwarded' | 'rescued'> {
  const forwarded: ForwardedLog[] = [];
  const rescued: RescuedLog[] = [];
  for (const log of logs) {
    const { data } = log;
    const [event, deposit = '', token = ''] = log.topics;
    if (event === FORWARDED_TOPIC) {
      if (!topicPattern.test(deposit) || !twoWordsPattern.test(data))
        throw wrongLog(label, 'a malformed release');
      const [toMerchantUnits, feeUnits] = [BigInt(data.slice(0, 66)), BigInt(`0x${data.slice(66)}`)];
      if (toMerchantUnits + feeUnits > MAXIMUM_UNITS) throw wrongLog(label, 'more than an amount can be');
      forwarded.push({
        deposit: checksumAddress(deposit.slice(26)),
        toMerchantUnits,
        feeUnits,
        ...positionOf(label, log, query),
      });
    } else {
      const hasAddresses = topicPattern.test(deposit) && topicPattern.test(token);
      if (!hasAddresses || !oneWordPattern.test(data)) throw wrongLog(label, 'a malformed rescue');
      rescued.push({
        deposit: checksumAddress(deposit.slice(26)),
        token: checksumAddress(token.slice(26)),
        units: BigInt(data),
        ...positionOf(label, log, query),
      });
    }
  }
  return { forwarded: inChainOrder(label, forwarded), rescued: inChainOrder(label, rescued) };
}

/** Sorts logs. Throws if the endpoint reports the same position twice. */
function inChainOrder<T extends { readonly blockNumber: number; readonly logIndex: number }>(
  label: string,
  logs: T[],
): T[] {
  logs.sort((first, second) => first.blockNumber - second.blockNumber || first.logIndex - second.logIndex);
  for (const [index, log] of logs.entries()) {
    const previous = logs[index - 1];
    if (previous?.blockNumber === log.blockNumber && previous.logIndex === log.logIndex) {
      throw wrongLog(label, 'the same log twice');
    }
  }
  return logs;
}

/** The deposit factory's interface, as in contracts/src/DepositFactory.sol. */
export const depositFactoryAbi = parseAbi([
  'struct Terms { address merchant; uint16 feeBps; address feeTo; bytes32 ref; }',
  'function depositOf(Terms terms) view returns (address)',
  'function forward(Terms[] payments)',
  'function rescue(Terms terms, address other)',
  'function token() view returns (address)',
  'function implementation() view returns (address)',
]);

/** topics[0] of `Forwarded`. topics[1] is the deposit address. The data holds the merchant's part and the fee. */
export const FORWARDED_TOPIC = toEventSelector('Forwarded(address,bytes32,address,uint256,uint256)');

/** topics[0] of `Rescued`. topics[1] is the deposit address, topics[2] the token. The data holds the amount. */
const RESCUED_TOPIC = toEventSelector('Rescued(address,address,uint256)');

function toTuple(terms: DepositTerms) {
  return {
    merchant: terms.merchant,
    feeBps: terms.feeBasisPoints,
    feeTo: terms.feeWallet,
    ref: terms.reference,
  };
}

export function encodeDepositOf(terms: DepositTerms): `0x${string}` {
  return encodeFunctionData({ abi: depositFactoryAbi, functionName: 'depositOf', args: [toTuple(terms)] });
}

/** Encodes a relay call. Throws `RangeError` without terms, and for a rescue of several payments. */
export function encodeRelayCall(call: RelayCall): `0x${string}` {
  const [first] = call.terms;
  if (first === undefined) throw new RangeError('a relay call needs the terms of a payment');
  if (call.kind === 'forward') {
    return encodeFunctionData({
      abi: depositFactoryAbi,
      functionName: 'forward',
      args: [call.terms.map(toTuple)],
    });
  }
  if (call.terms.length > 1) throw new RangeError('the factory rescues one payment at a time');
  return encodeFunctionData({
    abi: depositFactoryAbi,
    functionName: 'rescue',
    args: [toTuple(first), call.token],
  });
}

interface ScanContext {
  readonly endpoint: ChainEndpoint;
  readonly range: BlockRange;
  readonly sources: LogSources;
  /** Blocks that this pass has already read at the endpoint. */
  readonly seen?: readonly (BlockReference | undefined)[];
}

/** Scans as many blocks as the endpoint allows. Requires the last one, because a lagging node omits logs silently. */
export async function scanBlocks(context: ScanContext, asked: LogQuery): Promise<ScannedLogs> {
  if (asked.toBlock < asked.fromBlock) throw new RangeError('a scan needs at least one block');
  const { endpoint, range } = context;
  if (asked.block !== undefined) {
    const logs = await tryByHash(context, asked);
    if (logs !== null) return { ...logs, scannedTo: asked.block };
  }
  const { block: _, ...query } = asked;
  for (;;) {
    const toBlock = Math.min(query.toBlock, query.fromBlock + range.blocks - 1);
    const seen = context.seen?.find((block) => block?.number === toBlock);
    const scannedTo = seen ?? (await readKnownBlock(endpoint, toBlock));
    const logs = await tryRange(context, { ...query, toBlock });
    if (logs === null) continue;
    // A range that was cut off by the end of the query does not show that the endpoint allows a larger one.
    if (toBlock - query.fromBlock + 1 === range.blocks) range.grow();
    return { ...logs, scannedTo };
  }
}

/** Returns null if the endpoint refuses, because it does not know the block yet or does not support the filter. */
async function tryByHash({ endpoint, sources }: ScanContext, query: LogQuery): Promise<ChainLogs | null> {
  try {
    return await readLogs(endpoint.rpc, sources, query);
  } catch (error) {
    if (error instanceof JsonRpcAnswerError && !isRefusalOfAll(error)) return null;
    throw error;
  }
}

/** Returns null if the range was too large and a smaller one is worth trying. */
async function tryRange(context: ScanContext, query: LogQuery): Promise<ChainLogs | null> {
  const triedBlocks = query.toBlock - query.fromBlock + 1;
  try {
    return await readLogs(context.endpoint.rpc, context.sources, query);
  } catch (error) {
    const isTooMuch = error instanceof JsonRpcAnswerError && !isRefusalOfAll(error);
    if ((isTooMuch || error instanceof AnswerTooLargeError) && context.range.shrink(triedBlocks)) return null;
    // The pass has waited long enough, so it fails. The next pass at this endpoint requests fewer blocks.
    if (error instanceof AnswerTooSlowError) context.range.shrink(triedBlocks);
    throw error;
  }
}

const wordsOfRange = /block|range|results|response size|too large|distance/i;
const wordsOfAll =
  /\brate\b|rate.?limit|too many req|per (?:second|minute|day)|request (?:limit|count)|compute unit|capacity|\brps\b|quota|throughput|credits|usage|upgrade|unauthori[sz]ed|forbidden|api key/i;

/** Returns whether a smaller range would be refused, too. Unclear messages count as "no", because wordings vary. */
function isRefusalOfAll({ status, code, nodeMessage }: JsonRpcAnswerError): boolean {
  if (refusalStatuses.includes(status) || refusalStatuses.includes(code)) return true;
  return !wordsOfRange.test(nodeMessage) && wordsOfAll.test(nodeMessage);
}

async function readKnownBlock(endpoint: ChainEndpoint, blockNumber: number): Promise<BlockReference> {
  const block = await endpoint.readBlock(blockNumber);
  if (block === null) {
    throw new ChainUnavailableError(`${endpoint.rpc.label} is behind: it does not know block ${blockNumber}`);
  }
  return block;
}

/** Number of answers after which an old refusal is forgotten, because it may have concerned a dense range. */
const ANSWERS_TO_FORGET_REFUSAL = 50;

export type BlockRange = ReturnType<typeof createBlockRange>;

/** Adapts the number of blocks per request to what an endpoint allows. Some free plans allow only five. */
export function createBlockRange(initial: number, maximum: number) {
  let blocks = Math.min(initial, maximum);
  /** Smallest range refused recently. Growing to it again would waste a request each time. */
  let refused = Number.POSITIVE_INFINITY;
  let answers = 0;
  return {
    get blocks() {
      return blocks;
    },
    /** Records that the whole range was answered. */
    grow(): void {
      answers++;
      if (answers >= ANSWERS_TO_FORGET_REFUSAL) refused = Number.POSITIVE_INFINITY;
      const doubled = Math.min(blocks * 2, maximum);
      if (doubled < refused) blocks = doubled;
    },
    /** Records that this many blocks were refused, too slow or too large. Returns false for a single block. */
    shrink(triedBlocks: number): boolean {
      if (triedBlocks <= 1) return false;
      refused = triedBlocks;
      answers = 0;
      blocks = Math.floor(triedBlocks / 2);
      return true;
    },
  };
}
