import { ServiceError } from '../payment/errors.ts';
import type { ProviderId } from '../payment/provider-catalog.ts';
import {
  busy,
  countRequests,
  DeclinedRequestError,
  ProviderAnswerError,
  ProviderBusyError,
  unavailable,
} from './adapters/provider-http.ts';
import { type CallBudget, callKinds, createOutgoingLimiter } from './outgoing-limiter.ts';
import type { ProviderAdapter, ProviderHealth, Quote, QuoteRequest } from './provider.ts';

/** Number of payments that must fail in a row to count as an outage. A single payment may cause its own failures. */
const FAILURES_TO_OPEN = 5;
/** Time within which failed quotes for one amount, or failed catalog reads, count as one payment. */
const ONE_QUOTE_MS = 10_000;
/** Maximum length of a stored failure message, because the provider controls its text. */
const MAXIMUM_FAILURE_CHARACTERS = 300;

/** `busy`: answered with 429, or skipped after a 429 or beyond the budget. `circuit_open`: skipped during an outage. */
export const callOutcomes = ['answered', 'declined', 'busy', 'failed', 'circuit_open'] as const;
type CallOutcome = (typeof callOutcomes)[number];

export interface CircuitBreakerOptions {
  readonly monotonicMs: () => number;
  readonly nowMs: () => number;
  /** Time after which an open circuit allows a trial call. */
  readonly openMs: number;
  readonly budget?: CallBudget;
  readonly observe?: (provider: ProviderId, outcome: CallOutcome, isCircuitOpen: boolean) => void;
}

/**
 * Skips calls to a provider during an outage, so that customers do not wait for timeouts. After several consecutive
 * failures, calls fail immediately with `provider_unavailable` until a trial call is answered. Quotes, sessions and
 * catalogs have separate circuits, so that failing quotes do not block a customer's click. While the session circuit is
 * open, quotes are skipped as well, because they could not be used. Cached quotes are always served.
 *
 * A 429 never opens a circuit. Later calls of the same kind wait if the stated delay is short, and otherwise fail with
 * `provider_unavailable` and that delay. The same applies beyond the call budget (`createOutgoingLimiter`). All calls
 * to the provider share the budget, except those caused by webhooks. A payment has several webhooks, which must not
 * delay the next customer.
 *
 * Refusals (inactive, below the minimum, declined) count as answers. So does any status below 500 for a request with
 * one customer's data, because that customer's IP address or country must not block others. For the same reason, all
 * failures of one payment count as a single failure. Concurrent failures also count as a single failure.
 */
export function withCircuitBreaker(
  adapter: ProviderAdapter,
  options: CircuitBreakerOptions,
): ProviderAdapter {
  let last: Pick<ProviderHealth, 'lastAnswerAtMs' | 'lastFailureAtMs' | 'lastFailure'> = {
    lastAnswerAtMs: null,
    lastFailureAtMs: null,
    lastFailure: null,
  };
  const { budget, monotonicMs } = options;
  const quotes = createCircuit(options);
  const sessions = createCircuit(options);
  const catalogs = createCircuit(options);
  const limiterOf = (kind: keyof typeof callKinds, pausedMs: () => number) =>
    budget === undefined
      ? null
      : createOutgoingLimiter({ ...callKinds[kind], budget, monotonicMs, pausedMs });
  const limiters = {
    quotes: limiterOf('quotes', quotes.pausedMs),
    sessions: limiterOf('sessions', sessions.pausedMs),
    background: limiterOf('background', () => Math.max(quotes.pausedMs(), catalogs.pausedMs())),
  };
  const isCircuitOpen = () => quotes.isOpen() || sessions.isOpen();

  function report(outcome: CallOutcome, error?: unknown): void {
    if (outcome === 'answered') last = { ...last, lastAnswerAtMs: options.nowMs() };
    else if (outcome !== 'circuit_open') recordFailure(error);
    options.observe?.(adapter.id, outcome, isCircuitOpen());
  }

  /** Records a failed call. Skips errors without a cause, which are thrown before a call. */
  function recordFailure(error: unknown): void {
    const cause = error instanceof ServiceError ? error.cause : error;
    if (cause === undefined) return;
    if (cause instanceof ProviderBusyError && !cause.isStated) budget?.pause();
    const text = cause instanceof Error ? cause.message : String(cause);
    const lastFailure = text.slice(0, MAXIMUM_FAILURE_CHARACTERS);
    last = { ...last, lastFailureAtMs: options.nowMs(), lastFailure };
  }

  function refuse(circuit: Circuit): never {
    report('circuit_open');
    const failures = `${adapter.id} failed ${circuit.failuresInARow()} times in a row`;
    throw unavailable(adapter.id, new Error(`${failures}; its circuit breaker is open`));
  }

  async function guard<T>(
    circuit: Circuit,
    kind: keyof typeof limiters,
    { accountId = '', currency, amountCents, paymentId }: QuoteRequest & { readonly paymentId?: string },
    call: () => Promise<T>,
  ): Promise<T> {
    // Quotes have no payment id. With the time in this key, an outage is noticed even in a shop with a single price.
    const quoted = `${accountId} ${currency} ${amountCents} ${Math.floor(monotonicMs() / ONE_QUOTE_MS)}`;
    const payment = paymentId ?? quoted;
    if (circuit.isClosedToCalls(payment)) refuse(circuit);
    const limiter = limiters[kind];
    const busySeconds =
      limiter === null ? Math.ceil(circuit.pausedMs() / 1000) : await limiter.acquire(accountId);
    if (busySeconds > 0) {
      const error = busy(adapter.id, busySeconds);
      report('busy', error);
      throw error;
    }
    // Checks again, because other calls may have failed while this call was queued.
    if (circuit.isClosedToCalls(payment)) refuse(circuit);
    let requests = 0;
    const count = () => {
      if (++requests > 1) budget?.addRequest();
    };
    return circuit.run(payment, () => countRequests(count, call), report);
  }

  async function quote(request: QuoteRequest): Promise<Quote> {
    if (sessions.isBeforeTrial()) refuse(sessions);
    const kind = request.isBackground === true ? 'background' : 'quotes';
    return guard(quotes, kind, request, () => adapter.quote(request));
  }

  const { readCatalog } = adapter;
  return {
    ...adapter,
    quote,
    startSession: (request) => guard(sessions, 'sessions', request, () => adapter.startSession(request)),
    ...(readCatalog && {
      readCatalog: (request: QuoteRequest) =>
        guard(catalogs, 'background', request, () => readCatalog(request)),
    }),
    unguarded: adapter,
    isSkipped: () => quotes.isBeforeTrial() || sessions.isBeforeTrial(),
    health: () => ({
      ...last,
      isCircuitOpen: isCircuitOpen(),
      failuresInARow: Math.max(quotes.failuresInARow(), sessions.failuresInARow()),
    }),
  };
}

type Circuit = ReturnType<typeof createCircuit>;

/** Counts consecutive failures of one kind of call, and decides whether calls are allowed. */
function createCircuit({ monotonicMs, openMs }: Pick<CircuitBreakerOptions, 'monotonicMs' | 'openMs'>) {
  let failures = 0;
  /** Payments that failed in a row, at most as many as open the circuit. */
  const failed = new Set<string>();
  let trialAtMs = 0;
  /** Payment of the last failure. Its next trial is later, so that other payments get a trial first. */
  let lastFailed = '';
  let isTrying = false;
  let busyUntilMs = 0;
  const isOpen = () => failed.size >= FAILURES_TO_OPEN;
  const isBeforeTrial = (payment?: string) =>
    isOpen() && monotonicMs() < trialAtMs + (payment === lastFailed ? openMs : 0);
  const close = () => {
    failures = 0;
    failed.clear();
  };
  return {
    isOpen,
    isBeforeTrial,
    /** Returns whether a call is refused, because it is too early for a trial or a trial is running. */
    isClosedToCalls: (payment: string) => isBeforeTrial(payment) || (isOpen() && isTrying),
    failuresInARow: () => failures,
    /** Returns the rest of the pause that the provider requested, or 0. */
    pausedMs: () => Math.max(0, busyUntilMs - monotonicMs()),
    async run<T>(
      payment: string,
      call: () => Promise<T>,
      report: (outcome: CallOutcome, error?: unknown) => void,
    ): Promise<T> {
      const isTrial = isOpen();
      if (isTrial) isTrying = true;
      const failuresBefore = failures;
      try {
        const answer = await call();
        close();
        report('answered');
        return answer;
      } catch (error) {
        const { cause = null } = error instanceof ServiceError ? error : {};
        const busyError = cause instanceof ProviderBusyError ? cause : null;
        // The longest of several concurrent delays applies.
        if (busyError !== null)
          busyUntilMs = Math.max(busyUntilMs, monotonicMs() + busyError.retryAfterSeconds * 1000);
        if (isAnswer(error)) close();
        else if (failures === failuresBefore) {
          failures++;
          if (!isTrial) failed.add(payment);
          lastFailed = payment;
          trialAtMs = monotonicMs() + openMs;
        }
        report(busyError !== null ? 'busy' : isDeclined(error) ? 'declined' : 'failed', error);
        throw error;
      } finally {
        if (isTrial) isTrying = false;
      }
    },
  };
}

/** Returns whether an error shows that the provider is up. */
function isAnswer(error: unknown): boolean {
  if (!(error instanceof ServiceError)) return false;
  return (
    error.errorName !== 'provider_unavailable' ||
    error.cause instanceof ProviderAnswerError ||
    error.cause instanceof ProviderBusyError
  );
}

/** Returns whether the provider declined. An unusable answer is reported as a failure, but closes the circuit. */
function isDeclined(error: unknown): boolean {
  const { cause } = error as ServiceError;
  return (
    isAnswer(error) && (!(cause instanceof ProviderAnswerError) || cause instanceof DeclinedRequestError)
  );
}
