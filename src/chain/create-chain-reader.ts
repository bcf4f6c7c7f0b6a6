import type { ChainHeads, ChainReader, ChainView } from '../domain/ports/chain.ts';
import { ChainUnavailableError } from '../domain/ports/chain.ts';
import type { BlockReference } from '../domain/ports/ledger-store.ts';
import { type BlockRange, createBlockRange } from './block-range.ts';
import type { ChainEndpoint } from './chain-endpoint.ts';
import { confirmFinalBlock, type FinalityDoubt } from './confirm-final-block.ts';
import { createEndpointRotation } from './endpoint-rotation.ts';
import { createHeadWatch, type HeadWatch } from './head-watch.ts';
import type { LogSources } from './read-logs.ts';
import { readBlockReference } from './rpc-values.ts';
import { scanBlocks } from './scan-blocks.ts';

export interface ChainReaderOptions {
  readonly endpoints: readonly ChainEndpoint[];
  readonly sources: LogSources;
  /** Called whenever endpoints contradict or cannot confirm each other; must not throw. */
  readonly onDisagreement?: (doubt: FinalityDoubt) => void;
  /** Blocks asked for at first and at most; in between it follows what the endpoint grants. Default 100 and 2,000. */
  readonly initialBlockRange?: number;
  readonly maximumBlockRange?: number;
}

const DEFAULT_INITIAL_BLOCK_RANGE = 100;
const DEFAULT_MAXIMUM_BLOCK_RANGE = 2_000;

/** What the reader remembers of an endpoint from pass to pass. */
interface Known {
  readonly range: BlockRange;
  readonly headWatch: HeadWatch;
}

/** The watcher's reader: one endpoint for a pass, the next one after a failure. */
export function createChainReader(options: ChainReaderOptions): ChainReader {
  const { endpoints, sources } = options;
  const rotation = createEndpointRotation(endpoints);
  const initial = options.initialBlockRange ?? DEFAULT_INITIAL_BLOCK_RANGE;
  const maximum = options.maximumBlockRange ?? DEFAULT_MAXIMUM_BLOCK_RANGE;
  const known = new Map<ChainEndpoint, Known>(
    endpoints.map((endpoint) => [
      endpoint,
      { range: createBlockRange(initial, maximum), headWatch: createHeadWatch() },
    ]),
  );

  async function confirm(endpoint: ChainEndpoint, final: BlockReference): Promise<BlockReference | null> {
    const others = endpoints.filter((other) => other !== endpoint);
    const { block, doubts } = await confirmFinalBlock(endpoint, others, final);
    for (const doubt of doubts) options.onDisagreement?.(doubt);
    // Contradicted by all the others: it is likely to be the one that is wrong, so the next pass asks another.
    if (block === null && doubts.some(({ kind }) => kind === 'hash')) rotation.leave(endpoint);
    return block;
  }

  function createView(endpoint: ChainEndpoint): ChainView {
    const { range, headWatch } = known.get(endpoint) as Known;
    let latestSeen: BlockReference | undefined;
    return {
      async readHeads() {
        const { latest, final } = await readOwnHeads(endpoint);
        headWatch.check(endpoint.rpc.label, latest.number);
        latestSeen = latest;
        return { latest, final: await confirm(endpoint, final) };
      },
      readBlock: (blockNumber) => endpoint.readBlock(blockNumber),
      readLogs: (query) => {
        const seenBlock = (number: number) => (latestSeen?.number === number ? latestSeen : undefined);
        return scanBlocks({ endpoint, range, sources, seenBlock }, query);
      },
    };
  }

  return { withView: (use) => rotation.useOne((endpoint) => use(createView(endpoint))) };
}

async function readOwnHeads({ rpc }: ChainEndpoint): Promise<ChainHeads & { final: BlockReference }> {
  const tags = ['latest', 'finalized'];
  const blocks = await rpc.callBatch(
    tags.map((tag) => ({ method: 'eth_getBlockByNumber', params: [tag, false] })),
  );
  const [latest, final] = blocks.map(readBlockReference);
  if (!latest || !final) throw new ChainUnavailableError(`${rpc.label} has no latest or no finalized block`);
  if (final.number > latest.number) {
    throw new ChainUnavailableError(
      `${rpc.label} calls block ${final.number} final, but is at ${latest.number}`,
    );
  }
  return { latest, final };
}
