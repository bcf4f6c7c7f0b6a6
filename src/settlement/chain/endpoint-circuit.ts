import { ChainUnavailableError } from './chain.ts';
import { AnswerTooSlowError } from './json-rpc.ts';
import { aroundCalls, type NodeClient } from './node-answers.ts';

/** First pause after a timeout; each further timeout doubles it. */
const FIRST_PAUSE_MS = 5_000;
const MAXIMUM_PAUSE_MS = 30_000;

/**
 * Circuit breaker for one of several endpoints, so that callers do not wait for the same timeout each time. A timeout
 * opens it. After the pause, the next call still fails immediately and starts a probe in the background; everything but
 * another timeout closes the circuit. Other failures are quick and do not open it.
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
      // A timeout of another call in the meantime outweighs this answer, which may be a small one.
      if (pausedUntilMs === null) pauseMs = 0;
      return answer;
    } catch (error) {
      // The first of several concurrent timeouts opens the circuit; the others add nothing.
      if (error instanceof AnswerTooSlowError && pausedUntilMs === null) open();
      throw error;
    }
  }

  return {
    ...aroundCalls(rpc, guard),
    /** Whether every call fails immediately. */
    get isOpen() {
      return pausedUntilMs !== null;
    },
  };
}
