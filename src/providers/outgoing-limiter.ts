import type { ProviderId } from '../payment/provider-catalog.ts';

/** The rate at which one kind of call, quotes or sessions, is made to a provider. */
export interface CallRate {
  /** Calls that begin within any second. */
  readonly callsPerSecond: number;
  /** Longest time that a call waits for its turn. */
  readonly waitMs: number;
}

/** The rates of both kinds of calls. */
export type OutgoingLimits = Readonly<Record<'quotes' | 'sessions', CallRate>>;

/** A page waits two seconds for its quotes. A customer who clicked waits longer than one who looks. */
const QUOTE_WAIT_MS = 1_500;
const SESSION_WAIT_MS = 3_000;

/**
 * Calls a second to providers that publish a limit. Wert: four conversions a second from one IP address (documentation);
 * a session converts once, so both kinds together stay within the four.
 */
const publishedRates: Readonly<Partial<Record<ProviderId, { quotes: number; sessions: number }>>> = {
  wert: { quotes: 3, sessions: 1 },
};
/** Own choice: the other providers publish no limit. */
const usualRates = { quotes: 20, sessions: 10 };

/** The limits of this process for calls to a provider. */
export function outgoingLimitsOf(provider: ProviderId): OutgoingLimits {
  const { quotes, sessions } = publishedRates[provider] ?? usualRates;
  return {
    quotes: { callsPerSecond: quotes, waitMs: QUOTE_WAIT_MS },
    sessions: { callsPerSecond: sessions, waitMs: SESSION_WAIT_MS },
  };
}

export interface OutgoingLimiterOptions extends CallRate {
  readonly monotonicMs: () => number;
  /** Remaining time for which the provider asked not to be called; 0 where it has not. */
  readonly pausedMs: () => number;
  /** Runs a function after a time; returns how to cancel it. */
  readonly schedule?: (run: () => void, delayMs: number) => () => void;
}

interface Waiting {
  readonly deadlineMs: number;
  readonly resolve: (retryAfterSeconds: number) => void;
}

const SECOND_MS = 1_000;
/** Waiting calls of all accounts, far more than can be served in time. */
const MAXIMUM_WAITING = 500;

/**
 * Limits one kind of call to a provider. Calls beyond the rate wait, briefly, in a queue of their account, and the queues
 * take turns: one account's burst delays another account's call by one turn, and never refuses it.
 */
export function createOutgoingLimiter(options: OutgoingLimiterOptions) {
  const { callsPerSecond, waitMs, monotonicMs, pausedMs, schedule = afterDelay } = options;
  /** More calls of one account than this cannot be served in time, even without any other account. */
  const maximumOfAccount = Math.max(1, Math.floor((callsPerSecond * waitMs) / SECOND_MS));
  /** Start times of the last calls, at most `callsPerSecond`. */
  const begunAtMs: number[] = [];
  /** Queues of accounts; the first one in the map has the next turn. */
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

  /** Makes room by refusing the last call of the longest queue; false where no account has two calls waiting. */
  function shortenLongestQueue(): boolean {
    let longest: Waiting[] = [];
    for (const queue of queues.values()) if (queue.length > longest.length) longest = queue;
    if (longest.length < 2) return false;
    longest.pop()?.resolve(retryAfterSeconds());
    waitingCalls--;
    return true;
  }

  return {
    /** Admits a call: 0 once it may begin, else the seconds after which it may be tried again. */
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
