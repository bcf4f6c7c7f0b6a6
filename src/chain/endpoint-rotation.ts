import { ChainUnavailableError } from '../domain/ports/chain.ts';
import type { ChainEndpoint } from './chain-endpoint.ts';

/** Which endpoint a user of the chain asks now. It stays with one until that one fails. */
export interface EndpointRotation {
  /** The endpoint that is asked now; one that is paused is passed over as long as another is not. */
  readonly current: ChainEndpoint;
  /** Asks the current endpoint only; when it fails, the next call uses the next endpoint. */
  useOne<T>(use: (endpoint: ChainEndpoint) => Promise<T>): Promise<T>;
  /** Asks the current endpoint and then the others, until one answers. */
  useAny<T>(use: (endpoint: ChainEndpoint) => Promise<T>): Promise<T>;
  /** Leaves an endpoint without a failure. */
  leave(endpoint: ChainEndpoint): void;
}

/** Only a `ChainUnavailableError` counts as a failure of the endpoint; anything else is the caller's. */
export function createEndpointRotation(endpoints: readonly ChainEndpoint[]): EndpointRotation {
  let current = 0;

  function currentEndpoint(): ChainEndpoint {
    const places = endpoints.map((_, step) => (current + step) % endpoints.length);
    current = places.find((place) => !endpoints[place]?.isPaused) ?? current;
    return endpoints[current] as ChainEndpoint;
  }

  function leave(endpoint: ChainEndpoint): void {
    // Two passes that fail together must not skip an endpoint.
    if (endpoints[current] === endpoint) current = (current + 1) % endpoints.length;
  }

  async function useOne<T>(use: (endpoint: ChainEndpoint) => Promise<T>): Promise<T> {
    const endpoint = currentEndpoint();
    try {
      await endpoint.ensureChain();
      return await use(endpoint);
    } catch (error) {
      if (error instanceof ChainUnavailableError) {
        endpoint.suspect();
        leave(endpoint);
      }
      throw error;
    }
  }

  async function useAny<T>(use: (endpoint: ChainEndpoint) => Promise<T>): Promise<T> {
    const failures: ChainUnavailableError[] = [];
    for (let attempt = 0; attempt < endpoints.length; attempt++) {
      try {
        return await useOne(use);
      } catch (error) {
        if (!(error instanceof ChainUnavailableError)) throw error;
        failures.push(error);
      }
    }
    const [only] = failures;
    if (failures.length === 1 && only !== undefined) throw only;
    const messages = failures.map((failure) => failure.message).join('; ');
    throw new ChainUnavailableError(`no endpoint answered: ${messages}`, { cause: failures.at(-1) });
  }

  return {
    get current() {
      return currentEndpoint();
    },
    useOne,
    useAny,
    leave,
  };
}
