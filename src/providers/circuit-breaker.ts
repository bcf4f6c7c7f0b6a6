import { ServiceError } from '../domain/errors.ts';
import type { ProviderAdapter, ProviderHealth } from '../domain/ports/provider.ts';
import { type ProviderId, providerCatalogue } from '../domain/provider-catalogue.ts';
import { DeclinedRequestError } from './protocol-adapter.ts';

/** A single failure is anybody's; so many in a row are an outage. */
const FAILURES_TO_OPEN = 5;
/** What a failure said may be as long as the provider likes. */
const MAXIMUM_FAILURE_CHARACTERS = 300;

/** How a call to a provider ended: `resting` was not made, because the provider is left alone. */
export type CallOutcome = 'answered' | 'declined' | 'failed' | 'resting';

export interface CircuitBreakerOptions {
  readonly monotonicMs: () => number;
  readonly nowMs: () => number;
  /** How long a provider that keeps failing is left alone before it is tried again. */
  readonly openMs: number;
  /** Told how each call ended, and whether the provider is left alone after it. */
  readonly observe?: (provider: ProviderId, outcome: CallOutcome, isResting: boolean) => void;
}

/**
 * Leaves a provider alone while it is out of order, so that nobody waits for its time limit again and again: after
 * so many failures in a row every call is `provider_unavailable` at once, until one trial, later, gets an answer.
 * A refusal (inactive, below the minimum, a request that was declined) is an answer. Failures of calls that ran at the
 * same time count as one: they tell of the same moment.
 */
export function withCircuitBreaker(
  adapter: ProviderAdapter,
  options: CircuitBreakerOptions,
): ProviderAdapter {
  let failures = 0;
  let closedAgainAtMs = 0;
  let isTrying = false;
  let last: Pick<ProviderHealth, 'lastAnswerAtMs' | 'lastFailureAtMs' | 'lastFailure'> = {
    lastAnswerAtMs: null,
    lastFailureAtMs: null,
    lastFailure: null,
  };
  const isOpen = () => failures >= FAILURES_TO_OPEN;
  const tell = (outcome: CallOutcome) => options.observe?.(adapter.id, outcome, isOpen());

  async function guard<T>(call: () => Promise<T>): Promise<T> {
    const isTrial = isOpen();
    if (isTrial && (isTrying || options.monotonicMs() < closedAgainAtMs)) {
      tell('resting');
      throw refusal();
    }
    if (isTrial) isTrying = true;
    const failuresBefore = failures;
    try {
      const answer = await call();
      failures = 0;
      last = { ...last, lastAnswerAtMs: options.nowMs() };
      tell('answered');
      return answer;
    } catch (error) {
      noteFailure(error);
      if (isAnswer(error)) failures = 0;
      else if (failures === failuresBefore) {
        failures++;
        closedAgainAtMs = options.monotonicMs() + options.openMs;
      }
      tell(isAnswer(error) ? 'declined' : 'failed');
      throw error;
    } finally {
      if (isTrial) isTrying = false;
    }
  }

  /** What has no cause was refused before the provider was asked, and tells nothing of it. */
  function noteFailure(error: unknown): void {
    const cause = error instanceof ServiceError ? error.cause : error;
    if (cause === undefined) return;
    const words = cause instanceof Error ? cause.message : String(cause);
    last = {
      ...last,
      lastFailureAtMs: options.nowMs(),
      lastFailure: words.slice(0, MAXIMUM_FAILURE_CHARACTERS),
    };
  }

  function refusal(): ServiceError {
    const { name } = providerCatalogue[adapter.id];
    return new ServiceError('provider_unavailable', `${name} did not respond. Retry later or use "multi".`, {
      cause: new Error(`${adapter.id} failed ${failures} times in a row; its circuit breaker is open`),
    });
  }

  return {
    // What it tells of itself needs no answer of it, so it goes through however it is.
    ...adapter,
    quote: (request) => guard(() => adapter.quote(request)),
    startSession: (request) => guard(() => adapter.startSession(request)),
    unguarded: adapter,
    health: () => ({ ...last, isResting: isOpen(), failuresInARow: failures }),
  };
}

/** Whether the provider is there, although it did not do what it was asked for. */
function isAnswer(error: unknown): boolean {
  if (!(error instanceof ServiceError)) return false;
  return error.errorName !== 'provider_unavailable' || error.cause instanceof DeclinedRequestError;
}
