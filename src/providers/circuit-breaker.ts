import { isBusy, ServiceError } from '../payment/errors.ts';
import type { ProviderId } from '../payment/provider-catalog.ts';
import {
  busy,
  DeclinedRequestError,
  ProviderAnswerError,
  ProviderBusyError,
  unavailable,
} from './adapters/provider-http.ts';
import { type CallRate, createOutgoingLimiter, type OutgoingLimits } from './outgoing-limiter.ts';
import type { ProviderAdapter, ProviderHealth, Quote, QuoteRequest } from './provider.ts';

/** Failures in a row that count as an outage; a single one may have any cause. */
const FAILURES_TO_OPEN = 5;
/** Maximum length of a stored failure message, which the provider controls. */
const MAXIMUM_FAILURE_CHARACTERS = 300;

/**
 * Result of a call to a provider. `busy`: answered 429, or skipped because of an earlier 429 or our own limit.
 * `circuit_open`: skipped because the circuit is open.
 */
export type CallOutcome = 'answered' | 'declined' | 'busy' | 'failed' | 'circuit_open';

export interface CircuitBreakerOptions {
  readonly monotonicMs: () => number;
  readonly nowMs: () => number;
  /** Time until an open circuit allows a trial. */
  readonly openMs: number;
  /** Limits of outgoing calls; absent for none. */
  readonly limits?: OutgoingLimits;
  /** Receives the outcome of each call, and whether the circuit is open afterwards. */
  readonly observe?: (provider: ProviderId, outcome: CallOutcome, isCircuitOpen: boolean) => void;
}

/**
 * Skips calls to a provider during an outage, so that customers do not wait for its time limit: after several failures
 * in a row, calls fail with `provider_unavailable` at once until a later trial is answered. Quotes and sessions have
 * separate circuits, so that failing quotes do not block a customer's click. While sessions are blocked, quotes are
 * skipped as well, because they could not be used; cached quotes are always served, even slightly older ones while the
 * provider is busy.
 *
 * A 429 never opens a circuit: calls of that kind wait if the answer's delay is short, and otherwise fail with
 * `provider_unavailable` and these seconds. The same applies beyond our own limit (`createOutgoingLimiter`).
 *
 * Refusals (inactive, below the minimum, declined) count as answers, and so does any status below 500 for a request
 * with one customer's data, whose address or country must not block others. Concurrent failures count as one.
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
  const quotes = createCircuit(options, options.limits?.quotes);
  const sessions = createCircuit(options, options.limits?.sessions);
  const isCircuitOpen = () => quotes.isOpen() || sessions.isOpen();

  function report(outcome: CallOutcome, error?: unknown): void {
    if (outcome === 'answered') last = { ...last, lastAnswerAtMs: options.nowMs() };
    else if (outcome !== 'circuit_open') recordFailure(error);
    options.observe?.(adapter.id, outcome, isCircuitOpen());
  }

  /** Records a failure. An error without a cause was refused before the call. */
  function recordFailure(error: unknown): void {
    const cause = error instanceof ServiceError ? error.cause : error;
    if (cause === undefined) return;
    const text = cause instanceof Error ? cause.message : String(cause);
    const lastFailure = text.slice(0, MAXIMUM_FAILURE_CHARACTERS);
    last = { ...last, lastFailureAtMs: options.nowMs(), lastFailure };
  }

  function refuse(circuit: Circuit): never {
    report('circuit_open');
    const failures = `${adapter.id} failed ${circuit.failuresInARow()} times in a row`;
    throw unavailable(adapter.id, new Error(`${failures}; its circuit breaker is open`));
  }

  async function guard<T>(circuit: Circuit, { accountId }: QuoteRequest, call: () => Promise<T>): Promise<T> {
    if (circuit.isClosedToCalls()) refuse(circuit);
    const { limiter } = circuit;
    const busySeconds = limiter === null ? circuit.pausedSeconds() : await limiter.acquire(accountId ?? '');
    if (busySeconds > 0) {
      const error = busy(adapter.id, busySeconds);
      report('busy', error);
      throw error;
    }
    // Others may have failed while this call was queued.
    if (circuit.isClosedToCalls()) refuse(circuit);
    return circuit.run(call, report);
  }

  async function quote(request: QuoteRequest): Promise<Quote> {
    const cached = adapter.cachedQuotes?.fresh(request) ?? null;
    if (cached !== null) return cached;
    if (sessions.isBeforeTrial()) refuse(sessions);
    try {
      return await guard(quotes, request, () => adapter.quote(request));
    } catch (error) {
      // A busy provider is up, and prices change little in a minute, so an expired quote is better than none.
      const earlier = adapter.cachedQuotes?.expired(request) ?? null;
      if (earlier === null || !isBusy(error)) throw error;
      return earlier;
    }
  }

  return {
    // Webhooks require no call to the provider, so they ignore the circuit.
    ...adapter,
    quote,
    startSession: (request) => guard(sessions, request, () => adapter.startSession(request)),
    unguarded: adapter,
    health: () => ({
      ...last,
      isCircuitOpen: isCircuitOpen(),
      failuresInARow: Math.max(quotes.failuresInARow(), sessions.failuresInARow()),
    }),
  };
}

type Circuit = ReturnType<typeof createCircuit>;

/** Failures in a row of one kind of call, and whether calls are allowed. */
function createCircuit(
  { monotonicMs, openMs }: Pick<CircuitBreakerOptions, 'monotonicMs' | 'openMs'>,
  rate: CallRate | undefined,
) {
  let failures = 0;
  let trialAtMs = 0;
  let isTrying = false;
  let busyUntilMs = 0;
  const pausedMs = () => Math.max(0, busyUntilMs - monotonicMs());
  const limiter = rate === undefined ? null : createOutgoingLimiter({ ...rate, monotonicMs, pausedMs });
  const isOpen = () => failures >= FAILURES_TO_OPEN;
  const isBeforeTrial = () => isOpen() && monotonicMs() < trialAtMs;
  return {
    isOpen,
    isBeforeTrial,
    /** No call is allowed: it is too early for a trial, or one is running. */
    isClosedToCalls: () => isBeforeTrial() || (isOpen() && isTrying),
    failuresInARow: () => failures,
    /** Queues calls by account; null without a rate. */
    limiter,
    /** 0 if a call is allowed without a limiter, otherwise seconds to wait. */
    pausedSeconds: () => Math.ceil(pausedMs() / 1000),
    async run<T>(
      call: () => Promise<T>,
      report: (outcome: CallOutcome, error?: unknown) => void,
    ): Promise<T> {
      const isTrial = isOpen();
      if (isTrial) isTrying = true;
      const failuresBefore = failures;
      try {
        const answer = await call();
        failures = 0;
        report('answered');
        return answer;
      } catch (error) {
        const busyError = busyErrorOf(error);
        // The longest of several concurrent delays counts.
        if (busyError !== null)
          busyUntilMs = Math.max(busyUntilMs, monotonicMs() + busyError.retryAfterSeconds * 1000);
        if (isAnswer(error)) failures = 0;
        else if (failures === failuresBefore) {
          failures++;
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

/** Whether the provider is up, although it did not fulfill the request. */
function isAnswer(error: unknown): boolean {
  if (!(error instanceof ServiceError)) return false;
  return (
    error.errorName !== 'provider_unavailable' ||
    error.cause instanceof ProviderAnswerError ||
    error.cause instanceof ProviderBusyError
  );
}

/**
 * Whether the provider declined. An unusable answer is a failure to operators, although the circuit does not count it.
 */
function isDeclined(error: unknown): boolean {
  const { cause } = error as ServiceError;
  return (
    isAnswer(error) && (!(cause instanceof ProviderAnswerError) || cause instanceof DeclinedRequestError)
  );
}

function busyErrorOf(error: unknown): ProviderBusyError | null {
  return error instanceof ServiceError && error.cause instanceof ProviderBusyError ? error.cause : null;
}
