import { ApiError, ConnectionError, isTemporaryStatus } from './errors.ts';

/** Maximum size of a response in characters, far above the usual thousand. */
const MAXIMUM_ANSWER_CHARACTERS = 262_144;
/** Maximum size of CSV in characters, enough for a journal of more than 100,000 payments. */
const MAXIMUM_CSV_CHARACTERS = 134_217_728;

/** Version of this package, shown in the service's log. */
export const VERSION = '0.2.0';

/** Subset of `fetch` that this package uses. The `fetch` of the runtime and of undici match it. */
export type Fetch = (
  url: string,
  init: {
    readonly method: 'GET' | 'POST';
    readonly headers: Record<string, string>;
    readonly body?: string;
    readonly redirect: 'manual';
    readonly signal: AbortSignal;
  },
) => Promise<FetchResponse>;

interface FetchResponse {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  /** Web stream of bytes. The types of its reader differ between runtimes. */
  readonly body: { getReader(): unknown } | null;
}

interface BodyReader {
  read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array }>;
  cancel(): Promise<void>;
}

/** Settings of one call, which override the client's. */
export interface CallOptions {
  /** Signal that rejects the call with its reason. A creation may have been executed: repeat it with the same key. */
  readonly signal?: AbortSignal;
  /** Timeout of one attempt in milliseconds. */
  readonly timeoutMs?: number;
  /** Maximum attempts after the first. */
  readonly maximumRetries?: number;
}

export interface RequestContext {
  /** Root of the service without a trailing slash. */
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly fetch: Fetch;
  readonly timeoutMs: number;
  readonly maximumRetries: number;
  readonly maximumPauseMs: number;
  readonly wait: (ms: number) => Promise<void>;
  readonly random: () => number;
}

export interface ServiceRequest {
  readonly method: 'GET' | 'POST';
  /** Path from the root of the service. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Type of the response. Default: JSON. */
  readonly accept?: 'text/csv';
  readonly options?: CallOptions | undefined;
}

/**
 * Sends a request and repeats it after a temporary status or a missing response. Repeating is safe: reads change
 * nothing, and a creation carries its Idempotency-Key.
 *
 * @throws ApiError, ConnectionError, the reason of an aborted signal
 */
export async function sendRequest(client: RequestContext, request: ServiceRequest): Promise<unknown> {
  const {
    signal,
    timeoutMs = client.timeoutMs,
    maximumRetries = client.maximumRetries,
  } = request.options ?? {};
  const context = { ...client, timeoutMs, maximumRetries };
  for (let retry = 0; ; retry++) {
    signal?.throwIfAborted();
    try {
      return await attempt(context, request);
    } catch (error) {
      signal?.throwIfAborted();
      const pauseMs = retry < context.maximumRetries ? pauseBeforeRetryMs(context, error, retry) : null;
      if (pauseMs === null) throw error;
      await untilAborted(context.wait(pauseMs), signal);
    }
  }
}

/** Waits for the promise. Rejects when the signal aborts. */
async function untilAborted(promise: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
  if (signal === undefined) return promise;
  let stop = () => {};
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason as Error);
    signal.addEventListener('abort', stop, { once: true });
  });
  try {
    await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

/** Returns the pause in ms before the next attempt; null if the error is not retried. */
export function pauseBeforeRetryMs(
  { maximumPauseMs, random }: Pick<RequestContext, 'maximumPauseMs' | 'random'>,
  error: unknown,
  retry: number,
): number | null {
  if (!(error instanceof ConnectionError) && !(error instanceof ApiError)) return null;
  if (error instanceof ApiError && !isTemporaryStatus(error.status)) return null;
  if (error instanceof ApiError && error.retryAfter !== null) {
    const askedMs = error.retryAfter * 1000;
    if (askedMs > maximumPauseMs) return null;
    // Never shorter than requested. The random part spreads the retries of many servers.
    return askedMs + Math.ceil(random() * 1000);
  }
  const steepMs = Math.min(500 * 2 ** retry, maximumPauseMs);
  return Math.ceil(steepMs / 2 + (random() * steepMs) / 2);
}

async function attempt(context: RequestContext, request: ServiceRequest): Promise<unknown> {
  const abort = new AbortController();
  const timer = setTimeout(() => abort.abort(), context.timeoutMs);
  const { signal } = request.options ?? {};
  const stop = () => abort.abort(signal?.reason);
  signal?.addEventListener('abort', stop, { once: true });
  let response: FetchResponse;
  let text: string;
  try {
    response = await context.fetch(`${context.baseUrl}${request.path}`, {
      method: request.method,
      headers: {
        ...request.headers,
        'x-api-key': context.apiKey,
        'user-agent': `card-checkout-sdk/${VERSION}`,
        accept: request.accept ?? 'application/json',
      },
      ...(request.body === undefined ? {} : { body: request.body }),
      // Never sends the key to a redirect target.
      redirect: 'manual',
      signal: abort.signal,
    });
    const isCsv = request.accept === 'text/csv';
    text = await readText(response, isCsv ? MAXIMUM_CSV_CHARACTERS : MAXIMUM_ANSWER_CHARACTERS);
  } catch (cause) {
    if (cause instanceof ConnectionError) throw cause;
    const why = abort.signal.aborted
      ? `no answer within ${context.timeoutMs} ms`
      : 'no connection, or it was cut';
    throw new ConnectionError(`${request.method} ${request.path.split('?')[0]}: ${why}`, { cause });
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', stop);
  }
  if (request.accept === 'text/csv' && response.status === 200) return text;
  return readAnswer(response, text);
}

async function readText(response: FetchResponse, maximumCharacters: number): Promise<string> {
  const reader = response.body?.getReader() as BodyReader | undefined;
  if (reader === undefined) return '';
  const decoder = new TextDecoder();
  let text = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    text += decoder.decode(value, { stream: true });
    if (text.length > maximumCharacters) {
      await reader.cancel();
      throw new ConnectionError('the answer is too large to be one of the service');
    }
  }
}

function readAnswer(response: FetchResponse, text: string): unknown {
  const body = parseObject(text);
  if (response.status === 200) {
    if (body === null)
      throw new ConnectionError('the answer is not JSON: is baseUrl the root of the service?');
    return body;
  }
  const { error, code } = body ?? {};
  const retryAfter = response.headers.get('retry-after');
  throw new ApiError(typeof error === 'string' ? error : `the service answered ${response.status}`, {
    status: response.status,
    code: typeof code === 'string' ? code : null,
    retryAfter: retryAfter !== null && /^\d{1,9}$/.test(retryAfter) ? Number(retryAfter) : null,
    requestId: response.headers.get('x-request-id'),
  });
}

function parseObject(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}
