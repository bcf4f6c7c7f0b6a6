import { ChainUnavailableError } from '../domain/ports/chain.ts';
import { AnswerTooSlowError } from './json-rpc.ts';

/** Several endpoints: a slow one must not hold up what another can answer. */

/** How long an endpoint may take before another one is asked as well. */
interface Patience {
  readonly patienceMs: number;
  /** Whether a call has been waiting for longer. */
  readonly isOverdue: boolean;
  /** Runs a call, and remembers how long its answer took. */
  measure<T>(act: () => Promise<T>): Promise<T>;
}

const DEFAULT_MINIMUM_MS = 500;
/** An answer that takes so many times the slowest of the last ones is unusual. */
const FACTOR = 4;
const REMEMBERED_ANSWERS = 32;

/**
 * A multiple of the slowest of the last answers, so that where all endpoints are slow, none is given up too soon. Calls
 * without an answer do not count: they would lend patience to an endpoint that hangs.
 */
export function createPatience(monotonicMs: () => number, minimumMs = DEFAULT_MINIMUM_MS): Patience {
  const tookMs: number[] = [];
  /** In the order in which they began. */
  const waiting = new Set<{ readonly startedAtMs: number }>();
  const patienceMs = () => Math.max(minimumMs, FACTOR * Math.max(0, ...tookMs));
  return {
    get patienceMs() {
      return patienceMs();
    },
    get isOverdue() {
      const [oldest] = waiting;
      return oldest !== undefined && monotonicMs() - oldest.startedAtMs >= patienceMs();
    },
    async measure(act) {
      const call = { startedAtMs: monotonicMs() };
      waiting.add(call);
      try {
        const answer = await act();
        tookMs.push(monotonicMs() - call.startedAtMs);
        if (tookMs.length > REMEMBERED_ANSWERS) tookMs.shift();
        return answer;
      } finally {
        waiting.delete(call);
      }
    },
  };
}

/** The answer, or an `AnswerTooSlowError` when it takes longer; it is then still waited for, behind the caller. */
export async function within<T>(patienceMs: number, label: string, answer: Promise<T>): Promise<T> {
  if (!Number.isFinite(patienceMs)) return answer;
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    reject(new AnswerTooSlowError(`${label} takes longer than ${Math.ceil(patienceMs)} ms`));
  }, patienceMs);
  try {
    return await Promise.race([answer, promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** One way to ask, and how long its answer may take before the next way is tried as well. */
interface Attempt<T> {
  readonly patienceMs: number;
  ask(): Promise<T>;
}

/**
 * The first answer of these attempts, each begun when the one before has failed or has taken too long. Any error but a
 * `ChainUnavailableError` is an answer. When all have failed, throws what `join` makes of the failures.
 */
export function firstAnswer<T>(
  attempts: readonly Attempt<T>[],
  join: (failures: readonly ChainUnavailableError[]) => Error,
): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const failures: ChainUnavailableError[] = [];
  let begun = 0;
  let timer: NodeJS.Timeout | undefined;

  function begin(): void {
    clearTimeout(timer);
    const attempt = attempts[begun++];
    if (attempt === undefined) return;
    const isLast = begun === attempts.length;
    if (!isLast && Number.isFinite(attempt.patienceMs)) timer = setTimeout(begin, attempt.patienceMs);
    attempt.ask().then(resolve, (error: unknown) => {
      if (!(error instanceof ChainUnavailableError)) return reject(error);
      failures.push(error);
      if (failures.length === attempts.length) reject(join(failures));
      // One that fails after the next was begun makes way for nothing.
      else if (failures.length === begun) begin();
    });
  }

  begin();
  return promise.finally(() => clearTimeout(timer));
}

/** Time to wait for a better answer once there is an acceptable one. */
const GRACE_MS = 500;

/** The answers that have arrived when one of them is enough, or all of them. What arrives later is not waited for. */
export async function answersUntil<T>(
  pending: readonly Promise<T>[],
  classify: (answer: T) => 'enough' | 'better than nothing' | 'not',
): Promise<readonly T[]> {
  const answers: T[] = [];
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let timer: NodeJS.Timeout | undefined;
  for (const one of pending) {
    one.then((answer) => {
      answers.push(answer);
      const classification = classify(answer);
      if (classification === 'enough' || answers.length === pending.length) resolve();
      else if (classification === 'better than nothing') timer ??= setTimeout(resolve, GRACE_MS);
    }, reject);
  }
  try {
    await promise;
    return [...answers];
  } finally {
    clearTimeout(timer);
  }
}
