import { answersUntil, within } from '../../platform/outgoing-calls.ts';
import { hostIdentity } from '../../platform/public-address.ts';
import { ChainUnavailableError, type LatestBlock } from './chain.ts';
import {
  AnswerTooSlowError,
  createJsonRpcClient,
  HttpRefusalError,
  JsonRpcAnswerError,
  type JsonRpcClient,
  type JsonRpcOptions,
  MalformedAnswerError,
} from './json-rpc.ts';
import { aroundCalls, checkAnswers, toQuantity } from './node-answers.ts';

export type EndpointRotation = ReturnType<typeof createEndpointRotation>;

/** Reads before the rotation moves on. Otherwise, an endpoint with wrong but well-formed answers would stay current. */
const READS_OF_A_TURN = 50;

/** Chooses the endpoint to ask. Only a `ChainUnavailableError` counts as an endpoint's failure. */
export function createEndpointRotation(endpoints: readonly ChainEndpoint[]) {
  let current = 0;
  let readsInTurn = 0;

  /** Returns all endpoints from the current one on, with slow ones later and paused ones last. */
  function inOrder(): ChainEndpoint[] {
    const rank = ({ isPaused, speed }: ChainEndpoint) => (isPaused ? 2 : speed.isSlow ? 1 : 0);
    return endpoints
      .map((_, step) => endpoints[(current + step) % endpoints.length] as ChainEndpoint)
      .sort((one, other) => rank(one) - rank(other));
  }

  function leave(endpoint: ChainEndpoint): void {
    // Two passes that fail at the same endpoint must not skip the next one.
    if (endpoints[current] !== endpoint && inOrder()[0] !== endpoint) return;
    current = (endpoints.indexOf(endpoint) + 1) % endpoints.length;
  }

  async function useAt<T>(endpoint: ChainEndpoint, use: () => Promise<T>): Promise<T> {
    try {
      await endpoint.ensureChain();
      return await use();
    } catch (error) {
      if (error instanceof ChainUnavailableError) endpoint.suspect();
      throw error;
    }
  }

  /** Runs a pass at the current endpoint, with at most `patienceMs` per call. Repeats a failed pass at the next one. */
  async function usePass<T>(use: (endpoint: ChainEndpoint, asked: ChainEndpoint) => Promise<T>): Promise<T> {
    const failures: ChainUnavailableError[] = [];
    const order = inOrder();
    for (const [place, endpoint] of order.entries()) {
      const hasNext = order[place + 1]?.isPaused === false;
      const asked = hasNext ? withPatience(endpoint) : endpoint;
      try {
        return await useAt(asked, () => use(endpoint, asked));
      } catch (error) {
        if (!(error instanceof ChainUnavailableError)) throw error;
        leave(endpoint);
        failures.push(error);
        if (endpoint.isPaused && !hasNext) break;
      }
    }
    throw joinFailures(failures);
  }

  /** Runs a single read as a pass. Moves to the next endpoint every `READS_OF_A_TURN` reads. */
  function useAny<T>(use: (endpoint: ChainEndpoint) => Promise<T>): Promise<T> {
    readsInTurn = (readsInTurn + 1) % READS_OF_A_TURN;
    if (readsInTurn === 0) current = (current + 1) % endpoints.length;
    return usePass((_, asked) => use(asked));
  }

  /** Asks all hosts until two agree or time is up. Returns the answers or, if there are none, that of `useAny`. */
  async function useEach<T>(
    use: (endpoint: ChainEndpoint) => Promise<T>,
    isSame: (one: T, other: T) => boolean = (one, other) => one === other,
  ): Promise<readonly T[]> {
    const byHost = new Map(
      inOrder()
        .filter(({ isPaused }) => !isPaused)
        .reverse()
        .map((endpoint) => [endpoint.host, endpoint]),
    );
    if (byHost.size < 2) return [await useAny(use)];
    const answers: T[] = [];
    const pending = [...byHost.values()].map(async (endpoint) => {
      const asked = withPatience(endpoint);
      try {
        return { answer: await useAt(asked, () => use(asked)) };
      } catch (error) {
        if (error instanceof ChainUnavailableError) return null;
        throw error;
      }
    });
    await answersUntil(pending, (outcome) => {
      if (outcome === null) return 'not';
      const isConfirmed = answers.some((other) => isSame(outcome.answer, other));
      answers.push(outcome.answer);
      return isConfirmed ? 'enough' : 'not';
    });
    return answers.length > 0 ? [...answers] : [await useAny(use)];
  }

  return {
    /** Endpoint to ask now. Skips slow and paused ones while another one is available. */
    get current() {
      return inOrder()[0] as ChainEndpoint;
    },
    usePass,
    useAny,
    useEach,
    leave,
  };
}

/** Limits each call to `patienceMs`. A late call continues, and its outcome decides whether the endpoint is paused. */
function withPatience(endpoint: ChainEndpoint): ChainEndpoint {
  const { rpc, speed } = endpoint;
  const { patienceMs } = speed;
  const tooSlow = () => new AnswerTooSlowError(`${rpc.label} takes longer than ${Math.ceil(patienceMs)} ms`);
  const limit = <T>(answer: Promise<T>) => within(patienceMs, answer, tooSlow);
  const limited: Partial<ChainEndpoint> = {
    rpc: aroundCalls(rpc, (act) => limit(act())),
    ensureChain: () => limit(endpoint.ensureChain()),
    readBlock: (block) => limit(endpoint.readBlock(block)),
  };
  // The other properties are inherited, because their values change.
  return Object.create(endpoint, Object.getOwnPropertyDescriptors(limited)) as ChainEndpoint;
}

/** Returns the second-highest answer (or the only one): the lower of two, the middle of three. */
export function reachedByTwo<T extends number | bigint | boolean>(answers: readonly T[]): T {
  const [highest, second = highest] = answers.toSorted((one, other) =>
    one > other ? -1 : one < other ? 1 : 0,
  );
  return second as T;
}

export function joinFailures(failures: readonly ChainUnavailableError[]): ChainUnavailableError {
  const [only] = failures;
  if (failures.length === 1 && only !== undefined) return only;
  const messages = failures.map((failure) => failure.message).join('; ');
  return new ChainUnavailableError(`no endpoint can be used: ${messages}`, { cause: failures.at(-1) });
}

/** Pause of an endpoint after a timeout, if there are others, so that few callers wait for a hanging endpoint. */
const PAUSE_MS = 20_000;

/** Time after which an endpoint's chain id is checked again, even without a failure. */
const PROOF_MS = 3_600_000;

/** Thrown when an endpoint serves another chain. None of its answers may be used. */
export class WrongChainError extends ChainUnavailableError {}

export type ChainEndpoint = ReturnType<typeof createChainEndpoint>;

export interface ChainEndpointsOptions extends Omit<JsonRpcOptions, 'url'> {
  /** Endpoints in order of preference; at least one. */
  readonly urls: readonly string[];
  readonly chainId: number;
  readonly monotonicMs?: () => number;
  /** Called after each call with the endpoint's label; must not throw. */
  readonly onCall?: (label: string, outcome: EndpointOutcome) => void;
  /** Called with one sentence that names the endpoint and the defect of its answer; must not throw. */
  readonly onMalformed?: (label: string, problem: string) => void;
}

/** `refused`: an error object, or an HTTP status for a wrong key or exhausted plan. `failed`: no usable answer. */
export const endpointOutcomes = ['answered', 'refused', 'slow', 'failed'] as const;
type EndpointOutcome = (typeof endpointOutcomes)[number];

/** Creates endpoints. If one of several hangs, it is paused for all callers. Throws `TypeError` for an invalid URL. */
export function createChainEndpoints(options: ChainEndpointsOptions): readonly ChainEndpoint[] {
  const { urls, chainId } = options;
  if (urls.length === 0) throw new TypeError('a chain needs at least one endpoint');
  const endpoints: readonly ChainEndpoint[] = urls.map((url) =>
    createChainEndpoint(createJsonRpcClient({ ...options, url }), chainId, {
      ...options,
      host: hostIdentity(url),
      isOneOfSeveral: urls.length > 1,
      askableSpeeds: () =>
        endpoints.flatMap(({ isPaused, isFailing, speed }) => (isPaused || isFailing ? [] : [speed])),
    }),
  );
  return endpoints;
}

interface ChainEndpointOptions extends Pick<ChainEndpointsOptions, 'monotonicMs' | 'onCall' | 'onMalformed'> {
  readonly host?: string;
  /** Whether others can be asked while this one is paused. Default false. */
  readonly isOneOfSeveral?: boolean;
  /** Returns the speeds of the endpoints that can be asked now, for comparison. */
  readonly askableSpeeds?: () => readonly EndpointSpeed[];
  readonly minimumPatienceMs?: number;
}

export function createChainEndpoint(
  client: JsonRpcClient,
  chainId: number,
  options: ChainEndpointOptions = {},
) {
  const { host = client.label, isOneOfSeveral = false, monotonicMs = () => performance.now() } = options;
  const speed = createEndpointSpeed(monotonicMs, options.askableSpeeds, options.minimumPatienceMs);
  const { label } = client;
  let malformed: EndpointFaults | null = null;
  let pausedUntilMs = Number.NEGATIVE_INFINITY;
  const isResting = () => isOneOfSeveral && monotonicMs() < pausedUntilMs;
  const rpc = aroundCalls(checkAnswers(client), async (act, calls, method) => {
    if (isResting())
      throw new ChainUnavailableError(`${label} is not asked for a while: it did not answer in time`);
    const report = (outcome: EndpointOutcome) => {
      for (let call = 0; call < calls; call++) options.onCall?.(label, outcome);
    };
    try {
      const answer = await speed.measure(method, act);
      report(speed.isSlow ? 'slow' : 'answered');
      return answer;
    } catch (error) {
      report(outcomeOf(error));
      if (error instanceof AnswerTooSlowError) pausedUntilMs = monotonicMs() + PAUSE_MS;
      if (error instanceof MalformedAnswerError) {
        malformed = { count: (malformed?.count ?? 0) + 1, message: error.message, atMs: monotonicMs() };
        options.onMalformed?.(label, error.message);
      }
      throw error;
    }
  });
  let provenAtMs = Number.NEGATIVE_INFINITY;
  let isFailing = false;
  let finalNumber: number | null = null;
  return {
    rpc,
    /** Only endpoints of different hosts can confirm each other. */
    host,
    /** Whether to ask others instead, because a running call exceeds `patienceMs` or a call timed out recently. */
    get isPaused(): boolean {
      return isResting() || (isOneOfSeveral && speed.isOverdue);
    },
    speed,
    get isFailing(): boolean {
      return isFailing;
    },
    get malformed(): EndpointFaults | null {
      return malformed;
    },
    /** Newest block that the endpoint reported as final; null before the first read. */
    get finalNumber(): number | null {
      return finalNumber;
    },
    /** Checks the chain id, unless it was checked recently. Throws `WrongChainError` if it differs from `CHAIN_ID`. */
    async ensureChain(): Promise<void> {
      if (monotonicMs() - provenAtMs < PROOF_MS) return;
      const answered = await rpc.call('eth_chainId', []);
      if (answered !== chainId) {
        throw new WrongChainError(`${rpc.label} serves chain ${answered}, not ${chainId} (CHAIN_ID)`);
      }
      provenAtMs = monotonicMs();
      isFailing = false;
    },
    /** Forgets the check of the chain id, because another node may answer at this URL now. */
    forgetChain(): void {
      provenAtMs = Number.NEGATIVE_INFINITY;
    },
    suspect(): void {
      provenAtMs = Number.NEGATIVE_INFINITY;
      isFailing = true;
    },
    async readBlock(block: number | 'latest' | 'finalized'): Promise<LatestBlock | null> {
      const tag = typeof block === 'number' ? toQuantity(block) : block;
      const found = await rpc.call('eth_getBlockByNumber', [tag, false]);
      if (block === 'finalized' && found !== null) finalNumber = found.number;
      return found;
    },
  };
}

export interface EndpointFaults {
  readonly count: number;
  readonly message: string;
  readonly atMs: number;
}

function outcomeOf(error: unknown): EndpointOutcome {
  if (error instanceof JsonRpcAnswerError || error instanceof HttpRefusalError) return 'refused';
  return error instanceof AnswerTooSlowError ? 'slow' : 'failed';
}

/** Ends all connections. Pending calls fail. */
export async function closeChainEndpoints(endpoints: readonly ChainEndpoint[]): Promise<void> {
  await Promise.all(endpoints.map((endpoint) => endpoint.rpc.close()));
}

export type EndpointSpeed = ReturnType<typeof createEndpointSpeed>;

/** Multiple of the slowest recent answer as a call's time limit, and of the fastest median that makes a host slow. */
const FACTOR = 4;
const REMEMBERED_ANSWERS = 32;

/** Methods called at every endpoint: by passes at the current one, by confirmations and rescans at the others. */
const comparedMethods: ReadonlySet<string> = new Set(['eth_getBlockByNumber', 'eth_getLogs']);
/** Number of recent answers per method in the median, so that a single slow answer does not make a host slow. */
const COMPARED_ANSWERS = 3;

/** Measures answer times. Unanswered calls do not count, because they would raise a hanging endpoint's time limit. */
function createEndpointSpeed(
  monotonicMs: () => number,
  others: () => readonly EndpointSpeed[] = () => [],
  minimumMs = 500,
) {
  const tookMs: number[] = [];
  const tookByMethod = new Map<string, number[]>();
  /** Running calls, oldest first. */
  const waiting = new Set<{ readonly startedAtMs: number }>();
  const speed = {
    /** Time limit of a call: a multiple of the slowest recent answer, so that no endpoint is abandoned too soon. */
    get patienceMs(): number {
      return Math.max(minimumMs, FACTOR * Math.max(0, ...tookMs));
    },
    get isOverdue(): boolean {
      const [oldest] = waiting;
      return oldest !== undefined && monotonicMs() - oldest.startedAtMs >= speed.patienceMs;
    },
    /** Whether another endpoint answers the same method several times as fast. */
    get isSlow(): boolean {
      return [...comparedMethods].some((method) => {
        const fastestMs = Math.min(...others().map((other) => other.usualMs(method) ?? Infinity));
        return (speed.usualMs(method) ?? 0) >= Math.max(minimumMs, FACTOR * fastestMs);
      });
    },
    /** Returns the median time of the method's recent answers; null before the first one. */
    usualMs(method: string): number | null {
      const took = tookByMethod.get(method) ?? [];
      return took.toSorted((one, other) => one - other)[took.length >> 1] ?? null;
    },
    async measure<T>(method: string, act: () => Promise<T>): Promise<T> {
      const call = { startedAtMs: monotonicMs() };
      waiting.add(call);
      try {
        const answer = await act();
        const answerMs = monotonicMs() - call.startedAtMs;
        push(tookMs, answerMs, REMEMBERED_ANSWERS);
        if (comparedMethods.has(method)) {
          const took = tookByMethod.get(method) ?? [];
          tookByMethod.set(method, push(took, answerMs, COMPARED_ANSWERS));
        }
        return answer;
      } finally {
        waiting.delete(call);
      }
    },
  };
  return speed;
}

function push(list: number[], value: number, maximum: number): number[] {
  list.push(value);
  if (list.length > maximum) list.shift();
  return list;
}
