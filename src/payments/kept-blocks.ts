import type { ForwardedLog, RescuedLog, TransferLog } from '../domain/ports/chain.ts';
import type { BlockReference, RowOwner } from '../domain/ports/settlement-store.ts';

/** Logs of our payments. */
export interface OwnRows {
  readonly deposits: readonly (TransferLog & RowOwner)[];
  readonly releases: readonly (ForwardedLog & RowOwner)[];
  readonly rescues: readonly (RescuedLog & RowOwner)[];
}

export const NO_ROWS: OwnRows = { deposits: [], releases: [], rescues: [] };

/** Blocks that are not final and were read already, so that the next pass reads only what came after them. */
export interface KeptBlocks {
  /** The newest of them; null while there are none. */
  readonly top: BlockReference | null;
  readonly hasRows: boolean;
  /** Whether the store may have other rows than these. */
  isDirty: boolean;
  /** When the cursor was last moved as far as finality allows, on a monotonic clock. */
  finalAskedAtMs: number;
  /**
   * Begins a pass. Forgets what another endpoint showed, because a second endpoint has to confirm what the first one
   * shows, and the blocks that the cursor has passed.
   */
  begin(source: string, cursor: BlockReference | null): void;
  /** Adds the blocks that follow on the newest one, or any first ones. */
  add(fromBlock: number, to: BlockReference, rows: OwnRows): void;
  /** Forgets the newest reading: the chain no longer has its last block. */
  dropTop(): void;
  clear(): void;
  rowsAbove(blockNumber: number): OwnRows;
}

/** One reading: blocks [fromBlock, to]. As long as the chain has the block `to`, it has those before it as well. */
interface Reading {
  readonly fromBlock: number;
  readonly to: BlockReference;
  readonly rows: OwnRows;
}

export function createKeptBlocks(): KeptBlocks {
  let source: string | null = null;
  let readings: Reading[] = [];

  const kept: KeptBlocks = {
    isDirty: true,
    finalAskedAtMs: Number.NEGATIVE_INFINITY,
    get top() {
      return readings.at(-1)?.to ?? null;
    },
    get hasRows() {
      return readings.some(({ rows }) => countOf(rows) > 0);
    },
    begin(newSource, cursor) {
      if (source !== newSource || cursor === null) kept.clear();
      source = newSource;
      if (cursor === null) return;
      readings = readings.filter(({ to }) => to.number > cursor.number);
      // The cursor went back: what is between it and these blocks would never be read.
      if ((readings[0]?.fromBlock ?? 0) > cursor.number + 1) kept.clear();
    },
    add(fromBlock, to, rows) {
      readings.push({ fromBlock, to, rows });
      if (countOf(rows) > 0) kept.isDirty = true;
    },
    dropTop() {
      const dropped = readings.pop();
      if (dropped !== undefined && countOf(dropped.rows) > 0) kept.isDirty = true;
    },
    clear() {
      readings = [];
      kept.isDirty = true;
    },
    rowsAbove(blockNumber) {
      const isAbove = (row: { readonly blockNumber: number }) => row.blockNumber > blockNumber;
      return joinRows(
        readings.map(({ rows }) => ({
          deposits: rows.deposits.filter(isAbove),
          releases: rows.releases.filter(isAbove),
          rescues: rows.rescues.filter(isAbove),
        })),
      );
    },
  };
  return kept;
}

/** All these rows, in their order. */
export function joinRows(all: readonly OwnRows[]): OwnRows {
  return {
    deposits: all.flatMap(({ deposits }) => deposits),
    releases: all.flatMap(({ releases }) => releases),
    rescues: all.flatMap(({ rescues }) => rescues),
  };
}

function countOf({ deposits, releases, rescues }: OwnRows): number {
  return deposits.length + releases.length + rescues.length;
}
