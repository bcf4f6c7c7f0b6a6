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
/** Maximum length of a stored failure message, which the provider chooses. */
const MAXIMUM_FAILURE_CHARACTERS = 300;

/**
 * How a call to a provider ended: `busy` was answered 429, or not made because of an earlier 429 or our own limit;
 * `circuit_open` was not made because the circuit is open.
 */
export type CallOutcome = 'answered' | 'declined' | 'busy' | 'failed' | 'circuit_open';

export interface CircuitBreakerOptions {
  readonly monotonicMs: () => number;
  readonly nowMs: () => number;
  /** Time for which the circuit stays open before the next trial. */
  readonly openMs: number;
  /** Limits of outgoing calls; absent for none. */
  readonly limits?: OutgoingLimits;
  /** Receives the outcome of each call, and whether the circuit is open after it. */
  readonly observe?: (provider: ProviderId, outcome: CallOutcome, isCircuitOpen: boolean) => void;
}

/**
 * Skips calls to a provider during an outage, so that no customer waits for its time limit again and again: after so many
 * failures in a row every call is `provider_unavailable` at once, until a later trial gets an answer. Quotes and sessions
 * each have a circuit of their own, so that page loads while quotes fail do not keep a customer's click from the provider.
 * While the circuit of sessions is open, quotes are skipped as well: their offer could not be used. A cached quote needs
 * no call, and is served whatever the circuit; while the provider is busy, also one that is a little older.
 *
 * A 429 never opens a circuit. Calls of that kind wait for as long as the answer says if that is short, and else are
 * `provider_unavailable` with these seconds. So are calls beyond our own limit (`createOutgoingLimiter`).
 *
 * A refusal (inactive, below the minimum, a request that was declined) is an answer, and so is whatever a request that names one
 * customer is answered below 500: their address or country must not take the provider from all others. Failures of calls
 * that ran at the same time count as one: they show the same moment.
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

  /** Records a failure. An error without a cause was refused before the call, and shows nothing of the provider. */
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
    // Others may have failed while this call waited for its turn.
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
      // A busy provider is there, and prices move little in a minute: an expired quote is better than none.
      const earlier = adapter.cachedQuotes?.expired(request) ?? null;
      if (earlier === null || !isBusy(error)) throw error;
      return earlier;
    }
  }

  return {
    // A webhook needs no call to the provider, so it passes whatever the circuit.
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

/** One kind of call: how often it failed in a row, and whether it is to be made at the moment. */
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
    /** No call may be made: it is too early for a trial, or there is one already. */
    isClosedToCalls: () => isBeforeTrial() || (isOpen() && isTrying),
    failuresInARow: () => failures,
    /** Makes calls wait for their account's turn; null without a rate. */
    limiter,
    /** 0 if a call may be made without a limiter, else the seconds after which to try again. */
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
        // Of several answers at the same time the longest time counts.
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

/** Whether the provider is there, although it did not do what it was asked for. */
function isAnswer(error: unknown): boolean {
  if (!(error instanceof ServiceError)) return false;
  return (
    error.errorName !== 'provider_unavailable' ||
    error.cause instanceof ProviderAnswerError ||
    error.cause instanceof ProviderBusyError
  );
}

/** An answer that says so: one that cannot be used is a failure to operators, although the circuit does not count it. */
function isDeclined(error: unknown): boolean {
  const { cause } = error as ServiceError;
  return (
    isAnswer(error) && (!(cause instanceof ProviderAnswerError) || cause instanceof DeclinedRequestError)
  );
}

function busyErrorOf(error: unknown): ProviderBusyError | null {
  return error instanceof ServiceError && error.cause instanceof ProviderBusyError ? error.cause : null;
}
