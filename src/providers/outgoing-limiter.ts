import type { ProviderId } from '../payment/provider-catalog.ts';

/** Number of calls that a provider accepts within any period of `perMs`. */
export interface CallWindow {
  readonly calls: number;
  readonly perMs: number;
}

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;

/** Published limits. Some apply to a single endpoint only, but all calls count together here. */
const publishedWindows: Readonly<Partial<Record<ProviderId, readonly CallWindow[]>>> = {
  // docs.rampnetwork.com/rate-limiting (2026-08-26): per IP address. Exceeding the second limit blocks for an hour.
  rampnetwork: [
    { calls: 100, perMs: MINUTE_MS },
    { calls: 1_000, perMs: 15 * MINUTE_MS },
  ],
  // Wert's documentation: conversions per IP address.
  wert: [{ calls: 4, perMs: SECOND_MS }],
  // MoonPay's platform documentation.
  moonpay: [{ calls: 30, perMs: SECOND_MS }],
  // docs.cdp.coinbase.com/pay-sdk/docs/api-overview: buy quotes per app.
  coinbase: [{ calls: 100, perMs: SECOND_MS }],
  // Banxa's documentation: per IP address in production. The sandbox accepts 120 a minute per merchant account.
  banxa: [{ calls: 500, perMs: MINUTE_MS }],
  // docs.stripe.com/rate-limits: for a single endpoint.
  stripe: [{ calls: 25, perMs: SECOND_MS }],
};
/** Limit assumed for providers that publish none. */
const usualWindows: readonly CallWindow[] = [{ calls: 120, perMs: 4 * SECOND_MS }];

/** Share of a published rate for steady use, and maximum share of a window. */
const STEADY_SHARE = 0.7;
const WINDOW_SHARE = 0.9;
/** Maximum pause after a refusal without `Retry-After`. A provider that blocks this service is retried every minute. */
const MAXIMUM_PAUSE_MS = MINUTE_MS;
/** Refill time that is never reached, so that the shared budget always counts a further request of a running call. */
const UNLIMITED_MS = 24 * 60 * MINUTE_MS;

/** Takes a call from the budget that all processes share. False while refilling takes more than `spareMs`. */
export type TakeSharedCall = (
  provider: ProviderId,
  call: { readonly intervalMs: number; readonly spareMs: number },
) => Promise<boolean>;

export type CallBudget = ReturnType<typeof createCallBudget>;

/** Creates a budget for a provider's published or assumed limits. Processes share only a published limit. */
export function callBudgetOf(
  provider: ProviderId,
  monotonicMs: () => number,
  takeShared: TakeSharedCall | undefined,
): CallBudget {
  const published = publishedWindows[provider];
  if (published === undefined) return createCallBudget(usualWindows, monotonicMs);
  const pauseMs = Math.min(MAXIMUM_PAUSE_MS, Math.max(...published.map(({ perMs }) => perMs)));
  const take =
    takeShared && ((spareMs: number, intervalMs: number) => takeShared(provider, { intervalMs, spareMs }));
  return createCallBudget(published, monotonicMs, pauseMs, take);
}

/** Creates a call budget: a burst, then one call per interval. A 429 without a delay causes a pause of `pauseMs`. */
export function createCallBudget(
  windows: readonly CallWindow[],
  monotonicMs: () => number,
  pauseMs = 0,
  takeShared?: (spareMs: number, intervalMs: number) => Promise<boolean>,
) {
  const intervalMs = Math.ceil(Math.max(...windows.map(({ calls, perMs }) => perMs / calls)) / STEADY_SHARE);
  const rooms = windows.map(({ calls, perMs }) => WINDOW_SHARE * calls - perMs / intervalMs);
  const burst = Math.max(2, Math.floor(Math.min(...rooms)));
  /** Time at which the whole burst is available again. */
  let fullAtMs = Number.NEGATIVE_INFINITY;
  const spareMsOf = (reservedShare: number) => (burst - 1 - Math.floor(burst * reservedShare)) * intervalMs;
  const take = () => {
    fullAtMs = Math.max(fullAtMs, monotonicMs()) + intervalMs;
  };
  const waitAtLeast = (ms: number, reservedShare: number) => {
    fullAtMs = Math.max(fullAtMs, monotonicMs() + ms + spareMsOf(reservedShare));
  };
  return {
    intervalMs,
    /** Returns the time until a call is available beyond the reserved share of the burst. */
    delayMs: (reservedShare: number) => Math.max(0, fullAtMs - spareMsOf(reservedShare) - monotonicMs()),
    take,
    /** Takes the call from the shared budget too. If that is used up, delays calls and returns false. */
    async takeShared(reservedShare: number): Promise<boolean> {
      // If the store is unreachable, this process relies on its own budget.
      const isTaken = await takeShared?.(spareMsOf(reservedShare), intervalMs).catch(() => true);
      if (isTaken === false) waitAtLeast(intervalMs, reservedShare);
      return isTaken !== false;
    },
    /** Counts a further request of a running call, without waiting for the budget. */
    addRequest() {
      take();
      void takeShared?.(UNLIMITED_MS, intervalMs).catch(() => {});
    },
    /** Pauses all calls after a 429 that states no delay. */
    pause: () => waitAtLeast(pauseMs, 0),
  };
}

/** Kinds of calls, with the share of the burst that each leaves to others and its maximum time in the queue. */
export const callKinds = {
  sessions: { reservedShare: 0, waitMs: 3_000 },
  quotes: { reservedShare: 0.5, waitMs: 1_500 },
  background: { reservedShare: 0.75, waitMs: 1_500 },
} as const;

export interface OutgoingLimiterOptions {
  readonly budget: CallBudget;
  readonly reservedShare: number;
  readonly waitMs: number;
  readonly monotonicMs: () => number;
  readonly pausedMs: () => number;
  /** Runs a function after a delay, and returns a function that cancels it. */
  readonly schedule?: (run: () => void, delayMs: number) => () => void;
}

interface Waiting {
  readonly account: string;
  readonly deadlineMs: number;
  readonly resolve: (retryAfterSeconds: number) => void;
}

/** Limits one kind of call to a provider. Accounts take turns, so that no account's burst blocks another's calls. */
export function createOutgoingLimiter(options: OutgoingLimiterOptions) {
  const { budget, reservedShare, waitMs, monotonicMs, pausedMs, schedule = afterDelay } = options;
  /** Maximum queued calls per account. More could not be served in time, even if no other account made calls. */
  const maximumOfAccount = Math.max(1, Math.floor(waitMs / budget.intervalMs));
  let waiting: readonly Waiting[] = [];
  let cancelTimer: (() => void) | null = null;

  const delayMs = () => Math.max(budget.delayMs(reservedShare), pausedMs());

  function retryAfterSeconds(): number {
    return Math.max(1, Math.ceil(delayMs() / SECOND_MS));
  }

  function serve(): void {
    cancelTimer?.();
    cancelTimer = null;
    const nowMs = monotonicMs();
    for (const call of waiting) if (call.deadlineMs <= nowMs) call.resolve(retryAfterSeconds());
    waiting = waiting.filter(({ deadlineMs }) => deadlineMs > nowMs);
    for (let [next, ...rest] = waiting; next !== undefined && delayMs() === 0; [next, ...rest] = waiting) {
      const { account, resolve } = next;
      // The account's other calls move behind those of all other accounts.
      waiting = rest.sort((one, other) => +(one.account === account) - +(other.account === account));
      budget.take();
      resolve(0);
    }
    if (waiting.length === 0) return;
    const deadlineMs = Math.min(...waiting.map((call) => call.deadlineMs));
    cancelTimer = schedule(serve, Math.max(1, Math.min(delayMs(), deadlineMs - nowMs)));
  }

  async function takeOwn(account: string, deadlineMs: number): Promise<number> {
    const delay = delayMs();
    if (waiting.length === 0 && delay === 0) {
      budget.take();
      return 0;
    }
    const queued = waiting.filter((call) => call.account === account).length;
    if (monotonicMs() + delay > deadlineMs || queued >= maximumOfAccount) return retryAfterSeconds();
    const { promise, resolve } = Promise.withResolvers<number>();
    waiting = [...waiting, { account, deadlineMs, resolve }];
    serve();
    return promise;
  }

  return {
    /** Admits a call. Resolves to 0 once it may start, or to the number of seconds after which to retry. */
    async acquire(account: string): Promise<number> {
      const deadlineMs = monotonicMs() + waitMs;
      for (;;) {
        const seconds = await takeOwn(account, deadlineMs);
        if (seconds > 0 || (await budget.takeShared(reservedShare))) return seconds;
      }
    },
  };
}

function afterDelay(run: () => void, delayMs: number): () => void {
  const timer = setTimeout(run, delayMs);
  return () => clearTimeout(timer);
}
