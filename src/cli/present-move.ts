/** What a table holds on one side of a move. */
interface PresentedContent {
  readonly rows: number;
  /** Hex digits. */
  readonly digest: string;
}

/** What came of a move. */
export interface PresentedMove {
  readonly tables: readonly {
    readonly table: string;
    readonly source: PresentedContent;
    readonly target: PresentedContent;
    readonly isEqual: boolean;
  }[];
  readonly isMoved: boolean;
}

/** So much of a digest tells two apart by eye; JSON has all of it. */
const SHOWN_DIGITS = 16;

/** For scripts. */
export function presentMove({ tables, isMoved }: PresentedMove) {
  return {
    moved: isMoved,
    tables: tables.map(({ table, source, target, isEqual }) => ({
      table,
      source_rows: source.rows,
      target_rows: target.rows,
      source_digest: source.digest,
      target_digest: target.digest,
      equal: isEqual,
    })),
  };
}

/** The same as lines of a table, and what it means in the last one. */
export function moveLines({ tables, isMoved }: PresentedMove): string[] {
  const rows = tables.map(({ table, source, target, isEqual }) => [
    ...[table, String(source.rows), String(target.rows)],
    ...[source.digest.slice(0, SHOWN_DIGITS), target.digest.slice(0, SHOWN_DIGITS)],
    isEqual ? 'equal' : 'DIFFERENT',
  ]);
  const all = [['table', 'rows', 'rows there', 'digest', 'digest there', ''], ...rows];
  const widths = (all[0] ?? []).map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  const lines = all.map((row) =>
    row
      // Numbers stand below each other by their last digit.
      .map((cell, column) =>
        column === 1 || column === 2 ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0),
      )
      .join('  ')
      .trimEnd(),
  );
  return [
    ...lines,
    isMoved
      ? 'Everything was carried over, and both sides are equal.'
      : 'The two sides differ. Nothing was carried over: the target is empty.',
  ];
}
