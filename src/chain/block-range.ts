/** How many blocks to ask for at once, learned from what an endpoint grants (free plans allow as few as five). */
export interface BlockRange {
  readonly blocks: number;
  /** The whole range was answered. */
  grow(): void;
  /** So many were refused, too slow or the answer too large. False when it was a single block already. */
  shrink(triedBlocks: number): boolean;
}

/** After so many answers an old refusal is forgotten: it may have been about a crowded stretch of the chain. */
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
