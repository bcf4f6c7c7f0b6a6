/** One contender's run in one round. */
export interface Sample {
  readonly label: string;
  /** Only runs of one round are compared, because they are close in time. */
  readonly round: number;
  readonly requests: number;
  readonly requestsPerSecond: number;
  readonly cpuMicrosecondsPerRequest: number;
  readonly p50Microseconds: number;
  readonly p99Microseconds: number;
  /** Null if nothing was written. */
  readonly rowsPerCommit: number | null;
}

/** Median. Throws for an empty list. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((left, right) => left - right);
  const upper = sorted[Math.floor(sorted.length / 2)];
  const lower = sorted[Math.ceil(sorted.length / 2) - 1];
  if (upper === undefined || lower === undefined) throw new RangeError('the median of nothing');
  return (lower + upper) / 2;
}

/** A contender as a share of another, paired within rounds: the median over the rounds, and the extremes. */
export interface PairedRatio {
  readonly median: number;
  readonly lowest: number;
  readonly highest: number;
}

/** Throws unless both have runs in the same rounds. */
export function pairedRatio(
  samples: readonly Sample[],
  label: string,
  ofLabel: string,
  measure: (sample: Sample) => number,
): PairedRatio {
  const references = new Map(
    samples.filter((sample) => sample.label === ofLabel).map((sample) => [sample.round, sample]),
  );
  const own = samples.filter((sample) => sample.label === label);
  if (own.length !== references.size) throw new RangeError(`${label} and ${ofLabel} are not paired`);
  const ratios = own.map((sample) => {
    const reference = references.get(sample.round);
    if (reference === undefined) throw new RangeError(`${ofLabel} has no round ${sample.round}`);
    return measure(sample) / measure(reference);
  });
  return { median: median(ratios), lowest: Math.min(...ratios), highest: Math.max(...ratios) };
}

/** Order of a round, reversed every second time, so that drift of the machine favors no contender. */
export function orderOfRound<T>(items: readonly T[], round: number): readonly T[] {
  return round % 2 === 0 ? items : items.toReversed();
}
