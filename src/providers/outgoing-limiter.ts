import type { ProviderId } from '../payment/provider-catalog.ts';

/** Rate of one kind of call (quotes or sessions) to a provider. */
export interface CallRate {
  /** Calls started within any second. */
  readonly callsPerSecond: number;
  /** Maximum queueing time of a call. */
  readonly waitMs: number;
}

export type OutgoingLimits = Readonly<Record<'quotes' | 'sessions', CallRate>>;

/** A page waits two seconds for its quotes; a customer who clicked waits longer. */
const QUOTE_WAIT_MS = 1_500;
const SESSION_WAIT_MS = 3_000;

/**
 * Calls per second to providers that publish a limit. Wert: four conversions per second from one IP address
 * (documentation); a session converts once, so both kinds share the four.
 */
const publishedRates: Readonly<Partial<Record<ProviderId, { quotes: number; sessions: number }>>> = {
  wert: { quotes: 3, sessions: 1 },
};
/** Our own choice for providers that publish no limit. */
const usualRates = { quotes: 20, sessions: 10 };

/** This process's limits of calls to a provider. */
export function outgoingLimitsOf(provider: ProviderId): OutgoingLimits {
  const { quotes, sessions } = publishedRates[provider] ?? usualRates;
  return {
    quotes: { callsPerSecond: quotes, waitMs: QUOTE_WAIT_MS },
    sessions: { callsPerSecond: sessions, waitMs: SESSION_WAIT_MS },
  };
}

export interface OutgoingLimiterOptions extends CallRate {
  readonly monotonicMs: () => number;
  /** Remaining pause that the provider asked for, or 0. */
  readonly pausedMs: () => number;
  /** Runs a function after a delay; returns its cancellation. */
  readonly schedule?: (run: () => void, delayMs: number) => () => void;
}

interface Waiting {
  readonly deadlineMs: number;
  readonly resolve: (retryAfterSeconds: number) => void;
}

const SECOND_MS = 1_000;
/** Queued calls of all accounts, far more than can be served in time. */
const MAXIMUM_WAITING = 500;

/**
 * Limits one kind of call to a provider. Calls beyond the rate wait briefly in their account's queue, and the queues
 * take turns: one account's burst delays another account's call by one turn, and never refuses it.
 */
export function createOutgoingLimiter(options: OutgoingLimiterOptions) {
  const { callsPerSecond, waitMs, monotonicMs, pausedMs, schedule = afterDelay } = options;
  /** More calls of one account could not be served in time, even without other accounts. */
  const maximumOfAccount = Math.max(1, Math.floor((callsPerSecond * waitMs) / SECOND_MS));
  /** Start times of the last calls, at most `callsPerSecond`. */
  const begunAtMs: number[] = [];
  /** Queues of accounts; the first one in the map is next. */
  const queues = new Map<string, Waiting[]>();
  let waitingCalls = 0;
  let cancelTimer: (() => void) | null = null;

  function delayMs(): number {
    const oldest = begunAtMs.length < callsPerSecond ? undefined : begunAtMs[0];
    const forRate = oldest === undefined ? 0 : oldest + SECOND_MS - monotonicMs();
    return Math.max(0, forRate, pausedMs());
  }

  function begin(): void {
    begunAtMs.push(monotonicMs());
    if (begunAtMs.length > callsPerSecond) begunAtMs.shift();
  }

  function retryAfterSeconds(): number {
    return Math.max(1, Math.ceil(delayMs() / SECOND_MS));
  }

  function removeExpired(): void {
    for (const [account, queue] of queues) {
      while (queue[0] !== undefined && queue[0].deadlineMs <= monotonicMs()) {
        queue.shift()?.resolve(retryAfterSeconds());
        waitingCalls--;
      }
      if (queue.length === 0) queues.delete(account);
    }
  }

  function takeTurn(): void {
    const next = queues.entries().next().value;
    if (next === undefined) return;
    const [account, queue] = next;
    queues.delete(account);
    const call = queue.shift();
    if (queue.length > 0) queues.set(account, queue);
    if (call === undefined) return;
    waitingCalls--;
    begin();
    call.resolve(0);
  }

  function serve(): void {
    cancelTimer?.();
    cancelTimer = null;
    removeExpired();
    while (waitingCalls > 0 && delayMs() === 0) takeTurn();
    if (waitingCalls === 0) return;
    const deadlineMs = Math.min(...[...queues.values()].map(([first]) => first?.deadlineMs ?? Infinity));
    cancelTimer = schedule(serve, Math.max(1, Math.min(delayMs(), deadlineMs - monotonicMs())));
  }

  /** Makes room by refusing the last call of the longest queue; false where no account has two queued calls. */
  function shortenLongestQueue(): boolean {
    let longest: Waiting[] = [];
    for (const queue of queues.values()) if (queue.length > longest.length) longest = queue;
    if (longest.length < 2) return false;
    longest.pop()?.resolve(retryAfterSeconds());
    waitingCalls--;
    return true;
  }

  return {
    /** Admits a call: 0 once it may start, otherwise the seconds after which to retry. */
    async acquire(account: string): Promise<number> {
      const delay = delayMs();
      if (waitingCalls === 0 && delay === 0) {
        begin();
        return 0;
      }
      const queue = queues.get(account) ?? [];
      const isFull = waitingCalls >= MAXIMUM_WAITING && (queue.length > 0 || !shortenLongestQueue());
      if (delay > waitMs || queue.length >= maximumOfAccount || isFull) return retryAfterSeconds();
      const turn = new Promise<number>((resolve) => {
        queue.push({ deadlineMs: monotonicMs() + waitMs, resolve });
      });
      queues.set(account, queue);
      waitingCalls++;
      serve();
      return turn;
    },
  };
}

function afterDelay(run: () => void, delayMs: number): () => void {
  const timer = setTimeout(run, delayMs);
  return () => clearTimeout(timer);
}
