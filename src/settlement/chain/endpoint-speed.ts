export type EndpointSpeed = ReturnType<typeof createEndpointSpeed>;

/** Factor over the usual time, or over another host's, from which an answer is slow. */
const FACTOR = 4;
const REMEMBERED_ANSWERS = 32;

/** Methods that a pass calls at the current endpoint, and a confirmation or second scan at all others. */
const comparedMethods: ReadonlySet<string> = new Set(['eth_getBlockByNumber', 'eth_getLogs']);
/** Two slow answers of three make a host slow; one does not. */
const COMPARED_ANSWERS = 3;

/**
 * Measures how long an endpoint takes to answer. Unanswered calls do not count: they would lend patience to an endpoint
 * that hangs.
 *
 * @param others speeds of the other endpoints that can be asked now @param minimumMs shorter answers are never slow
 */
export function createEndpointSpeed(
  monotonicMs: () => number,
  others: () => readonly EndpointSpeed[] = () => [],
  minimumMs = 500,
) {
  const tookMs: number[] = [];
  const tookByMethod = new Map<string, number[]>();
  /** In start order. */
  const waiting = new Set<{ readonly startedAtMs: number }>();
  const speed = {
    /**
     * Time that a call may take before another endpoint is asked as well: a multiple of the slowest recent answer, so
     * that no endpoint is abandoned too soon where all are slow.
     */
    get patienceMs(): number {
      return Math.max(minimumMs, FACTOR * Math.max(0, ...tookMs));
    },
    /** Whether a call exceeds `patienceMs`. */
    get isOverdue(): boolean {
      const [oldest] = waiting;
      return oldest !== undefined && monotonicMs() - oldest.startedAtMs >= speed.patienceMs;
    },
    /** Whether another endpoint answers the same method several times as fast. */
    get isSlow(): boolean {
      return [...comparedMethods].some((method) => {
        const fastestMs = Math.min(...others().map((other) => other.usualMs(method) ?? Infinity));
        return (speed.usualMs(method) ?? 0) >= Math.max(minimumMs, FACTOR * fastestMs);
      });
    },
    /** Median of the method's recent answers; null before the first one. */
    usualMs(method: string): number | null {
      const took = tookByMethod.get(method) ?? [];
      return took.toSorted((one, other) => one - other)[took.length >> 1] ?? null;
    },
    /** Runs a call and records how long its answer took. */
    async measure<T>(method: string, act: () => Promise<T>): Promise<T> {
      const call = { startedAtMs: monotonicMs() };
      waiting.add(call);
      try {
        const answer = await act();
        const answerMs = monotonicMs() - call.startedAtMs;
        push(tookMs, answerMs, REMEMBERED_ANSWERS);
        if (comparedMethods.has(method)) {
          const took = tookByMethod.get(method) ?? [];
          tookByMethod.set(method, push(took, answerMs, COMPARED_ANSWERS));
        }
        return answer;
      } finally {
        waiting.delete(call);
      }
    },
  };
  return speed;
}

function push(list: number[], value: number, maximum: number): number[] {
  list.push(value);
  if (list.length > maximum) list.shift();
  return list;
}
