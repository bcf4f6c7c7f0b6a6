import { ChainUnavailableError } from '../domain/ports/chain.ts';

/**
 * A head that falls back further than any reorganisation is a node that was restored or swapped for one that is
 * behind. But when it stays there, the high head was the mistake, and it is forgotten.
 */
export interface HeadWatch {
  /**
   * Whether the head, or the final block, has stood still for long. Throws `ChainUnavailableError` when the head has
   * fallen back too far.
   */
  check(label: string, blockNumber: number, finalNumber: number): 'moves' | 'stands still';
}

/** Deeper than the reorganisations that Polygon has seen since it has finality within seconds. */
const MAXIMUM_FALLBACK_BLOCKS = 256;
/** At a poll every second or two this is about a minute. */
const CHECKS_TO_BELIEVE = 30;

/** About ten blocks: a node that shows none in this time has lost its peers, or the chain or its finality stands. */
const STANDSTILL_MS = 20_000;

export function createHeadWatch(monotonicMs = () => performance.now()): HeadWatch {
  let highest = 0;
  let fallbacks = 0;
  const [hasHeadStood, hasFinalStood] = [createStandstill(monotonicMs), createStandstill(monotonicMs)];

  return {
    check(label, blockNumber, finalNumber) {
      if (blockNumber >= highest - MAXIMUM_FALLBACK_BLOCKS || fallbacks >= CHECKS_TO_BELIEVE) {
        highest = fallbacks >= CHECKS_TO_BELIEVE ? blockNumber : Math.max(highest, blockNumber);
        fallbacks = 0;
        const standing = [hasHeadStood(blockNumber), hasFinalStood(finalNumber)];
        return standing.includes(true) ? 'stands still' : 'moves';
      }
      fallbacks++;
      throw new ChainUnavailableError(`${label} fell back from block ${highest} to ${blockNumber}`);
    },
  };
}

/** Whether a block number has been the same for long. */
function createStandstill(monotonicMs: () => number): (blockNumber: number) => boolean {
  let last = { blockNumber: -1, sinceMs: 0 };
  return (blockNumber) => {
    const nowMs = monotonicMs();
    const isStanding = last.blockNumber === blockNumber && nowMs - last.sinceMs >= STANDSTILL_MS;
    // Said once in a while, so that each of several nodes has its turn while the chain itself stands.
    if (isStanding || last.blockNumber !== blockNumber) last = { blockNumber, sinceMs: nowMs };
    return isStanding;
  };
}
