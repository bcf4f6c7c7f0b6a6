import { ChainUnavailableError } from './chain.ts';
import { AnswerTooSlowError } from './json-rpc.ts';
import { aroundCalls, type NodeClient } from './node-answers.ts';

/** The first pause after a timeout; it doubles with each further one. */
const FIRST_PAUSE_MS = 5_000;
const MAXIMUM_PAUSE_MS = 30_000;

/**
 * A circuit breaker for one of several endpoints, so that callers do not wait for the same timeout each time. A timeout
 * opens it. When the pause is over, the next call still fails at once and starts a probe behind it; an answer closes
 * the circuit, so that no caller ever waits for a probe. Any other failure is quick and opens nothing.
 */
export function withCircuit(rpc: NodeClient, monotonicMs: () => number) {
  let pauseMs = 0;
  /** Null while the circuit is closed. */
  let pausedUntilMs: number | null = null;
  let isProbing = false;

  function open(): void {
    pauseMs = Math.min(Math.max(pauseMs * 2, FIRST_PAUSE_MS), MAXIMUM_PAUSE_MS);
    pausedUntilMs = monotonicMs() + pauseMs;
  }

  function close(): void {
    pauseMs = 0;
    pausedUntilMs = null;
  }

  async function probe(): Promise<void> {
    isProbing = true;
    try {
      await rpc.call('eth_chainId', []);
      close();
    } catch (error) {
      if (error instanceof AnswerTooSlowError) open();
      else close();
    } finally {
      isProbing = false;
    }
  }

  async function guard<T>(act: () => Promise<T>): Promise<T> {
    if (pausedUntilMs !== null) {
      if (!isProbing && monotonicMs() >= pausedUntilMs) void probe();
      throw new ChainUnavailableError(`${rpc.label} is not asked for a while: it did not answer in time`);
    }
    try {
      const answer = await act();
      // A timeout of another call in the meantime says more than this answer, which may be a small one.
      if (pausedUntilMs === null) pauseMs = 0;
      return answer;
    } catch (error) {
      // Of several calls that hang together, the first timeout opens the circuit and the others add nothing.
      if (error instanceof AnswerTooSlowError && pausedUntilMs === null) open();
      throw error;
    }
  }

  return {
    ...aroundCalls(rpc, guard),
    /** While it is open, every call fails at once. */
    get isOpen() {
      return pausedUntilMs !== null;
    },
  };
}
