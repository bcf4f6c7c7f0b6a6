import { ChainUnavailableError } from '../domain/ports/chain.ts';

/**
 * A head that falls back further than any reorganisation is a node that was restored or swapped for one that is
 * behind. But when it stays there, the high head was the mistake, and it is forgotten.
 */
export interface HeadWatch {
  /**
   * Whether the head has stood still for long, or is where it was long ago. Throws `ChainUnavailableError` when it has
   * fallen back too far.
   */
  check(label: string, blockNumber: number): 'moves' | 'stands still';
}

/** Deeper than the reorganisations that Polygon has seen since it has finality within seconds. */
const MAXIMUM_FALLBACK_BLOCKS = 256;
/** At a poll every second or two this is about a minute. */
const CHECKS_TO_BELIEVE = 30;

/** About ten blocks: a node that shows none in this time has lost its peers, or the chain stands. */
const STANDSTILL_MS = 20_000;

export function createHeadWatch(monotonicMs = () => performance.now()): HeadWatch {
  let highest = 0;
  let fallbacks = 0;
  let last = { blockNumber: 0, sinceMs: 0 };

  function hasStoodStill(blockNumber: number): boolean {
    const nowMs = monotonicMs();
    const isStanding = last.blockNumber === blockNumber && nowMs - last.sinceMs >= STANDSTILL_MS;
    // Said once in a while, so that each of several nodes has its turn while the chain itself stands.
    if (isStanding || last.blockNumber !== blockNumber) last = { blockNumber, sinceMs: nowMs };
    return isStanding;
  }

  return {
    check(label, blockNumber) {
      if (blockNumber >= highest - MAXIMUM_FALLBACK_BLOCKS || fallbacks >= CHECKS_TO_BELIEVE) {
        highest = fallbacks >= CHECKS_TO_BELIEVE ? blockNumber : Math.max(highest, blockNumber);
        fallbacks = 0;
        return hasStoodStill(blockNumber) ? 'stands still' : 'moves';
      }
      fallbacks++;
      throw new ChainUnavailableError(`${label} fell back from block ${highest} to ${blockNumber}`);
    },
  };
}
