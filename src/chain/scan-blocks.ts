import { ChainUnavailableError, type ChainView } from '../domain/ports/chain.ts';
import type { BlockReference } from '../domain/ports/settlement-store.ts';
import type { ChainEndpoint } from './endpoint-rotation.ts';
import { AnswerTooLargeError, AnswerTooSlowError, JsonRpcAnswerError } from './json-rpc.ts';
import { type FoundLogs, type LogQuery, type LogSources, readLogs } from './read-logs.ts';

/** Context of a scan: one endpoint and its learned limits. */
interface ScanContext {
  readonly endpoint: ChainEndpoint;
  readonly range: BlockRange;
  readonly sources: LogSources;
  /** A block that this pass has already seen at the endpoint, or undefined. */
  readonly seenBlock: (blockNumber: number) => BlockReference | undefined;
}

/**
 * Reads the logs of the first part of the query's blocks that the endpoint grants. A node that is behind answers
 * with an empty list instead of an error; so it must show the last block before and after, with the same hash.
 */
export async function scanBlocks(
  context: ScanContext,
  asked: LogQuery,
): Promise<Awaited<ReturnType<ChainView['readLogs']>>> {
  if (asked.toBlock < asked.fromBlock) throw new RangeError('a scan needs at least one block');
  const { endpoint, range } = context;
  if (asked.block !== undefined) {
    const logs = await tryByHash(context, asked);
    if (logs !== null) return { ...logs, scannedTo: asked.block };
  }
  const { block: _, ...query } = asked;
  for (;;) {
    const toBlock = Math.min(query.toBlock, query.fromBlock + range.blocks - 1);
    const before = context.seenBlock(toBlock) ?? (await readKnownBlock(endpoint, toBlock));
    const logs = await tryRange(context, { ...query, toBlock });
    if (logs === null) continue;
    const after = await readKnownBlock(endpoint, toBlock);
    if (after.hash !== before.hash) {
      throw new ChainUnavailableError(`${endpoint.rpc.label} changed block ${toBlock} while it was scanned`);
    }
    // Only a full range says something about what the endpoint grants.
    if (toBlock - query.fromBlock + 1 === range.blocks) range.grow();
    return { ...logs, scannedTo: after };
  }
}

/** Null when the endpoint refuses: it does not know the block yet, or no such filter. */
async function tryByHash({ endpoint, sources }: ScanContext, query: LogQuery): Promise<FoundLogs | null> {
  try {
    return await readLogs(endpoint.rpc, sources, query);
  } catch (error) {
    if (error instanceof JsonRpcAnswerError) return null;
    throw error;
  }
}

/** Null when the range was too much and a smaller one is to be tried. */
async function tryRange(context: ScanContext, query: LogQuery): Promise<FoundLogs | null> {
  const triedBlocks = query.toBlock - query.fromBlock + 1;
  try {
    return await readLogs(context.endpoint.rpc, context.sources, query);
  } catch (error) {
    if (isTooMuch(error) && context.range.shrink(triedBlocks)) return null;
    // Not now: the pass has already waited. When this endpoint's turn comes again, it is asked for less.
    if (error instanceof AnswerTooSlowError) context.range.shrink(triedBlocks);
    throw error;
  }
}

/** Nodes word the refusal of a range in many ways, so every refusal counts save those that are known to be others. */
function isTooMuch(error: unknown): boolean {
  if (error instanceof AnswerTooLargeError) return true;
  if (!(error instanceof JsonRpcAnswerError)) return false;
  return error.code !== 429 && !/rate|too many requests|unauthori[sz]ed|api key/i.test(error.nodeMessage);
}

async function readKnownBlock(endpoint: ChainEndpoint, blockNumber: number): Promise<BlockReference> {
  const block = await endpoint.readBlock(blockNumber);
  if (block === null) {
    throw new ChainUnavailableError(`${endpoint.rpc.label} is behind: it does not know block ${blockNumber}`);
  }
  if (block.number !== blockNumber) {
    throw new ChainUnavailableError(
      `${endpoint.rpc.label} answered with block ${block.number} for ${blockNumber}`,
    );
  }
  return block;
}

/** Number of blocks per request, learned from what an endpoint allows (free plans allow as few as five). */
export interface BlockRange {
  readonly blocks: number;
  /** The whole range was answered. */
  grow(): void;
  /** So many were refused, too slow or the answer too large. False when it was a single block already. */
  shrink(triedBlocks: number): boolean;
}

/** Answers after which an old refusal is forgotten: it may have concerned a dense range of the chain. */
const ANSWERS_TO_FORGET_REFUSAL = 50;

/** `initial` and `maximum` in blocks. */
export function createBlockRange(initial: number, maximum: number): BlockRange {
  let blocks = Math.min(initial, maximum);
  /** The smallest range that was refused of late; growing into it again would waste a request each time. */
  let refused = Number.POSITIVE_INFINITY;
  let answers = 0;
  return {
    get blocks() {
      return blocks;
    },
    grow() {
      answers++;
      if (answers >= ANSWERS_TO_FORGET_REFUSAL) refused = Number.POSITIVE_INFINITY;
      const doubled = Math.min(blocks * 2, maximum);
      if (doubled < refused) blocks = doubled;
    },
    shrink(triedBlocks) {
      if (triedBlocks <= 1) return false;
      refused = triedBlocks;
      answers = 0;
      blocks = Math.floor(triedBlocks / 2);
      return true;
    },
  };
}
