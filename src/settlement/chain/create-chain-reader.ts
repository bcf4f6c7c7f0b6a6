import type { BlockReference } from '../settlement-store.ts';
import {
  type ChainLogs,
  type ChainReader,
  ChainUnavailableError,
  type ChainView,
  type EndpointHealth,
  type LatestBlock,
} from './chain.ts';
import { confirmFinalBlock, confirmLogs, type FinalityDoubt } from './confirm-finality.ts';
import {
  type ChainEndpoint,
  createEndpointRotation,
  type EndpointFaults,
  joinFailures,
} from './endpoint-rotation.ts';
import { createBlockRange, type LogSources, scanBlocks } from './read-logs.ts';

interface ChainReaderOptions {
  readonly endpoints: readonly ChainEndpoint[];
  readonly sources: LogSources;
  /** Whether the only endpoint is our own node (the sandbox), which may lose final blocks. */
  readonly isOwnNode?: boolean;
  /** Called whenever endpoints contradict or cannot confirm each other; must not throw. */
  readonly onDisagreement?: (doubt: FinalityDoubt) => void;
  /** Called with each endpoint's lag behind the highest final block, in blocks; must not throw. */
  readonly onLag?: (label: string, blocks: number) => void;
  /** Initial and maximum blocks per request, adjusted to what the endpoint allows. Defaults: 100 and 2,000. */
  readonly initialBlockRange?: number;
  readonly maximumBlockRange?: number;
  readonly monotonicMs?: () => number;
}

/** Maximum lag behind two other hosts, in final blocks, before the reader leaves an endpoint: about half a minute. */
const CRAWLING_BLOCKS = 16;

export function createChainReader(options: ChainReaderOptions): ChainReader {
  const { endpoints, sources, monotonicMs = () => performance.now() } = options;
  const { initialBlockRange = 100, maximumBlockRange = 2_000 } = options;
  const rotation = createEndpointRotation(endpoints);
  const known = new Map(
    endpoints.map((endpoint) => {
      const range = createBlockRange(initialBlockRange, maximumBlockRange);
      return [endpoint, { range, headWatch: createHeadWatch(monotonicMs) }] as const;
    }),
  );
  const disagreements = new Map<string, EndpointFaults>();
  let secondLooks = 0;

  const knownOf = (endpoint: ChainEndpoint) =>
    known.get(endpoint) as NonNullable<ReturnType<typeof known.get>>;
  const report = (doubt: FinalityDoubt) => {
    const { kind, endpoint, others = [], message } = doubt;
    // An endpoint that cannot be confirmed is not to blame.
    for (const label of kind === 'unconfirmed' ? [] : [endpoint, ...others]) {
      const count = (disagreements.get(label)?.count ?? 0) + 1;
      disagreements.set(label, { count, message, atMs: monotonicMs() });
    }
    options.onDisagreement?.(doubt);
  };
  /** Returns endpoints that can confirm an endpoint's answers. Several URLs on one host count as one host. */
  const othersOf = ({ host }: ChainEndpoint) => endpoints.filter((other) => other.host !== host);

  async function confirmBlock(
    endpoint: ChainEndpoint,
    block: BlockReference,
  ): Promise<BlockReference | null> {
    const verdict = await confirmFinalBlock(endpoint, othersOf(endpoint), block, report);
    // No host agrees and one contradicts, so this endpoint is probably wrong. The next pass uses another endpoint.
    if (verdict.block === null && verdict.isContradicted) rotation.leave(endpoint);
    return verdict.block;
  }

  async function areConfirmed(endpoint: ChainEndpoint, logs: ChainLogs, final: BlockReference) {
    const others = othersOf(endpoint).map((other) => ({ endpoint: other, range: knownOf(other).range }));
    if (others.length === 0 || Object.values(logs).every((some) => some.length === 0)) return true;
    const verdict = await confirmLogs({ others, sources, report }, endpoint, logs, final);
    if (verdict !== 'refuted') return verdict === 'confirmed';
    rotation.leave(endpoint);
    throw new ChainUnavailableError(`${endpoint.rpc.label} shows logs that two other hosts do not have`);
  }

  /** Returns whether two other hosts' final blocks are far above the endpoint's. One host may report a false height. */
  function isCrawling({ host }: ChainEndpoint, finalNumber: number): boolean {
    const isAhead = (other: ChainEndpoint) => (other.finalNumber ?? 0) - finalNumber > CRAWLING_BLOCKS;
    const ahead = endpoints.filter((other) => other.host !== host && isAhead(other));
    return new Set(ahead.map((other) => other.host)).size > 1;
  }

  function listEndpoints(): readonly EndpointHealth[] {
    const highest = endpoints.reduce((most, { finalNumber }) => Math.max(most, finalNumber ?? 0), 0);
    return endpoints.map(({ rpc: { label }, isPaused, speed, isFailing, finalNumber, malformed }) => {
      const contradicted = disagreements.get(label);
      const [last] = [contradicted, malformed].flatMap((one) => one ?? []).sort((a, b) => b.atMs - a.atMs);
      return {
        label,
        isPaused,
        isSlow: speed.isSlow,
        isFailing,
        lagBlocks: finalNumber === null ? null : highest - finalNumber,
        disagreements: (contradicted?.count ?? 0) + (malformed?.count ?? 0),
        lastDisagreement:
          last === undefined ? null : { message: last.message, agoMs: monotonicMs() - last.atMs },
      };
    });
  }

  function reportLags(): void {
    for (const { label, lagBlocks } of listEndpoints())
      if (lagBlocks !== null) options.onLag?.(label, lagBlocks);
  }

  /** @param asked the same endpoint, with a time limit on its answers */
  function createView(endpoint: ChainEndpoint, asked = endpoint): ChainView {
    const { range, headWatch } = knownOf(endpoint);
    const { label } = endpoint.rpc;
    let latestSeen: LatestBlock | undefined;
    let finalSeen: LatestBlock | undefined;
    /** Leaves an endpoint that stopped following the chain, even if it still answers. */
    const leaveIf = (isWrong: boolean) => {
      if (isWrong) rotation.leave(endpoint);
    };
    const view: ChainView = {
      source: label,
      async readLatest() {
        const latest = await asked.readBlock('latest');
        if (latest === null) throw new ChainUnavailableError(`${label} has no latest block`);
        leaveIf(headWatch.hasHeadStood(label, latest.number));
        latestSeen = latest;
        return latest;
      },
      async readFinal() {
        const final = await asked.readBlock('finalized');
        if (final === null) throw new ChainUnavailableError(`${label} has no finalized block`);
        const latest = latestSeen?.number ?? final.number;
        if (final.number > latest) {
          throw new ChainUnavailableError(`${label} calls block ${final.number} final, but is at ${latest}`);
        }
        finalSeen = final;
        leaveIf(headWatch.hasFinalStood(final.number));
        const confirmed = await confirmBlock(endpoint, final);
        leaveIf(isCrawling(endpoint, final.number));
        reportLags();
        return confirmed;
      },
      readBlock: (blockNumber) => asked.readBlock(blockNumber),
      readLogs: (query) =>
        scanBlocks({ endpoint: asked, range, sources, seen: [latestSeen, finalSeen] }, query),
      async readTransactionBlock(transactionHash) {
        const receipt = await asked.rpc.call('eth_getTransactionReceipt', [transactionHash]);
        return receipt?.blockNumber ?? null;
      },
      confirmLogs: (logs, final) => areConfirmed(endpoint, logs, final),
      async confirmBlock(block) {
        const confirmed = await confirmBlock(endpoint, block);
        return confirmed?.number === block.number && confirmed.hash === block.hash;
      },
      async confirmReplacement(block) {
        const others = othersOf(endpoint);
        for (const each of [endpoint, ...others]) each.forgetChain();
        await asked.ensureChain();
        if (others.length === 0) return options.isOwnNode === true ? 'confirmed' : 'alone';
        return (await view.confirmBlock(block)) ? 'confirmed' : 'unconfirmed';
      },
    };
    return view;
  }

  /** Asks endpoints one after the other. With `isOneEnough`, stops after the first answer. */
  async function askEach<T>(
    asked: readonly ChainEndpoint[],
    use: (view: ChainView) => Promise<T>,
    isOneEnough: boolean,
  ) {
    const answers: T[] = [];
    const failures: ChainUnavailableError[] = [];
    for (const endpoint of asked) {
      try {
        await endpoint.ensureChain();
        answers.push(await use(createView(endpoint)));
        if (isOneEnough) break;
      } catch (error) {
        if (!(error instanceof ChainUnavailableError)) throw error;
        endpoint.suspect();
        failures.push(error);
      }
    }
    if (answers.length > 0) return answers;
    throw joinFailures(failures);
  }

  const withView: ChainReader['withView'] = (use) =>
    rotation.usePass((endpoint, asked) => use(createView(endpoint, asked)));
  return {
    listEndpoints,
    withView,
    async withOtherView(use) {
      const others = othersOf(rotation.current);
      if (others.length === 0) return withView(use);
      const first = secondLooks++ % others.length;
      const [answer] = await askEach([...others.slice(first), ...others.slice(0, first)], use, true);
      return answer as Awaited<ReturnType<typeof use>>;
    },
    withEachView: (use) => askEach(endpoints, use, false),
  };
}

/** Maximum blocks that a head may fall back. Reorganizations are shorter, because Polygon finalizes within seconds. */
const MAXIMUM_FALLBACK_BLOCKS = 256;
/** Time after which a lower head is accepted. Not a number of checks, because pauses after failed passes grow. */
const ACCEPT_FALLBACK_AFTER_MS = 60_000;

/** Time without progress (about ten blocks), after which the node has lost its peers or the chain has halted. */
const STALL_MS = 20_000;

/** Detects a head or final block that stands still, and a head that falls back further than any reorganization. */
export function createHeadWatch(monotonicMs = () => performance.now()) {
  let highest = 0;
  let fellBackAtMs: number | null = null;
  const hasStood = createStallCheck(monotonicMs);

  return {
    hasFinalStood: createStallCheck(monotonicMs),
    /** Returns whether the head stands still. Throws `ChainUnavailableError` if it has fallen back too far. */
    hasHeadStood(label: string, blockNumber: number): boolean {
      const nowMs = monotonicMs();
      const isAccepted = fellBackAtMs !== null && nowMs - fellBackAtMs >= ACCEPT_FALLBACK_AFTER_MS;
      if (blockNumber >= highest - MAXIMUM_FALLBACK_BLOCKS || isAccepted) {
        highest = isAccepted ? blockNumber : Math.max(highest, blockNumber);
        fellBackAtMs = null;
        return hasStood(blockNumber);
      }
      fellBackAtMs ??= nowMs;
      throw new ChainUnavailableError(`${label} fell back from block ${highest} to ${blockNumber}`);
    },
  };
}

function createStallCheck(monotonicMs: () => number): (blockNumber: number) => boolean {
  let last = { blockNumber: -1, sinceMs: 0 };
  return (blockNumber) => {
    const nowMs = monotonicMs();
    const isStanding = last.blockNumber === blockNumber && nowMs - last.sinceMs >= STALL_MS;
    // Returns true once per period, so that the reader tries every node while the chain itself is halted.
    if (isStanding || last.blockNumber !== blockNumber) last = { blockNumber, sinceMs: nowMs };
    return isStanding;
  };
}
