export type EndpointSpeed = ReturnType<typeof createEndpointSpeed>;

/** An answer that takes this many times as long as usual, or as at another host, is slow. */
const FACTOR = 4;
const REMEMBERED_ANSWERS = 32;

/** Methods that a pass asks of the current endpoint, and a confirmation or a second scan of every other one. */
const comparedMethods: ReadonlySet<string> = new Set(['eth_getBlockByNumber', 'eth_getLogs']);
/** Two slow answers of three make a host slow, one does not. */
const COMPARED_ANSWERS = 3;

/**
 * How long an endpoint takes to answer. Calls without an answer do not count: they would lend patience to an endpoint that
 * hangs.
 *
 * @param others speeds of the other endpoints that can be asked now
 * @param minimumMs shorter answers are never slow
 */
export function createEndpointSpeed(
  monotonicMs: () => number,
  others: () => readonly EndpointSpeed[] = () => [],
  minimumMs = 500,
) {
  const tookMs: number[] = [];
  const tookByMethod = new Map<string, number[]>();
  /** In the order in which they began. */
  const waiting = new Set<{ readonly startedAtMs: number }>();
  const speed = {
    /**
     * How long a call may take before another endpoint is asked as well: a multiple of the slowest of the last answers, so
     * that where all endpoints are slow, none is given up too soon.
     */
    get patienceMs(): number {
      return Math.max(minimumMs, FACTOR * Math.max(0, ...tookMs));
    },
    /** Whether a call has been waiting for longer. */
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
    /** The median of the method's last answers; null before the first one. */
    usualMs(method: string): number | null {
      const took = tookByMethod.get(method) ?? [];
      return took.toSorted((one, other) => one - other)[took.length >> 1] ?? null;
    },
    /** Runs a call, and remembers how long its answer took. */
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
