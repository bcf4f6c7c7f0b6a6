import { ChainUnavailableError } from '../domain/ports/chain.ts';

/**
 * A head that falls back further than any reorganisation is a node that was restored or swapped for one that is
 * behind. But when it stays there, the high head was the mistake, and it is forgotten.
 */
export interface HeadWatch {
  /** Throws `ChainUnavailableError` when the head has fallen back too far. */
  check(label: string, blockNumber: number): void;
}

/** Deeper than the reorganisations that Polygon has seen since it has finality within seconds. */
const MAXIMUM_FALLBACK_BLOCKS = 256;
/** At a poll every second or two this is about a minute. */
const CHECKS_TO_BELIEVE = 30;

export function createHeadWatch(): HeadWatch {
  let highest = 0;
  let fallbacks = 0;
  return {
    check(label, blockNumber) {
      if (blockNumber >= highest - MAXIMUM_FALLBACK_BLOCKS || fallbacks >= CHECKS_TO_BELIEVE) {
        highest = fallbacks >= CHECKS_TO_BELIEVE ? blockNumber : Math.max(highest, blockNumber);
        fallbacks = 0;
        return;
      }
      fallbacks++;
      throw new ChainUnavailableError(`${label} fell back from block ${highest} to ${blockNumber}`);
    },
  };
}
