import { ServiceError } from '../domain/errors.ts';
import type { ProviderAdapter } from '../domain/ports/provider.ts';
import { providerCatalogue } from '../domain/provider-catalogue.ts';
import { DeclinedRequestError } from './protocol-adapter.ts';

/** A single failure is anybody's; so many in a row are an outage. */
const FAILURES_TO_OPEN = 5;

export interface CircuitBreakerOptions {
  readonly monotonicMs: () => number;
  /** How long a provider that keeps failing is left alone before it is tried again. */
  readonly openMs: number;
}

/**
 * Leaves a provider alone while it is out of order, so that nobody waits for its time limit again and again: after
 * so many failures in a row every call is `provider_unavailable` at once, until one trial, later, gets an answer.
 * A refusal (inactive, below the minimum, a request that was declined) is an answer. Failures of calls that ran at the same time count as one:
 * they tell of the same moment.
 */
export function withCircuitBreaker(
  adapter: ProviderAdapter,
  options: CircuitBreakerOptions,
): ProviderAdapter {
  let failures = 0;
  let closedAgainAtMs = 0;
  let isTrying = false;

  async function guard<T>(call: () => Promise<T>): Promise<T> {
    const isTrial = failures >= FAILURES_TO_OPEN;
    if (isTrial && (isTrying || options.monotonicMs() < closedAgainAtMs)) throw refusal();
    if (isTrial) isTrying = true;
    const failuresBefore = failures;
    try {
      const answer = await call();
      failures = 0;
      return answer;
    } catch (error) {
      if (isAnswer(error)) failures = 0;
      else if (failures === failuresBefore) {
        failures++;
        closedAgainAtMs = options.monotonicMs() + options.openMs;
      }
      throw error;
    } finally {
      if (isTrial) isTrying = false;
    }
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
  };
}

/** Whether the provider is there, although it did not do what it was asked for. */
function isAnswer(error: unknown): boolean {
  if (!(error instanceof ServiceError)) return false;
  return error.errorName !== 'provider_unavailable' || error.cause instanceof DeclinedRequestError;
}
