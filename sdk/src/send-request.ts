import { ApiError, ConnectionError, isTemporaryStatus } from './errors.ts';

/** Far above a response of the service, which is about a kilobyte. */
const MAXIMUM_ANSWER_CHARACTERS = 262_144;
/** Enough for a journal of more than 100,000 payments. */
const MAXIMUM_CSV_CHARACTERS = 134_217_728;

export interface RequestContext {
  /** Without a trailing slash. */
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly fetch: typeof globalThis.fetch;
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
}

/**
 * Sends a request, with the retries of the specification: 408, 429, 500, 502, 503 and no response. All requests that
 * are retried can be repeated: reads change nothing, a create request carries its Idempotency-Key, and a second cancel
 * is refused.
 *
 * @throws ApiError, ConnectionError
 */
export async function sendRequest(context: RequestContext, request: ServiceRequest): Promise<unknown> {
  for (let retry = 0; ; retry++) {
    try {
      return await attempt(context, request);
    } catch (error) {
      const pauseMs = retry < context.maximumRetries ? pauseBeforeRetryMs(context, error, retry) : null;
      if (pauseMs === null) throw error;
      await context.wait(pauseMs);
    }
  }
}

/** Pause before the next attempt; null if there is none. */
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
    // Never shorter than asked; the random part spreads the retries of many servers.
    return askedMs + Math.ceil(random() * 1000);
  }
  const steepMs = Math.min(500 * 2 ** retry, maximumPauseMs);
  return Math.ceil(steepMs / 2 + (random() * steepMs) / 2);
}

async function attempt(context: RequestContext, request: ServiceRequest): Promise<unknown> {
  const abort = new AbortController();
  const timer = setTimeout(() => abort.abort(), context.timeoutMs);
  let response: Response;
  let text: string;
  try {
    response = await context.fetch(`${context.baseUrl}${request.path}`, {
      method: request.method,
      headers: {
        ...request.headers,
        'x-api-key': context.apiKey,
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
  }
  if (request.accept === 'text/csv' && response.status === 200) return text;
  return readAnswer(response, text);
}

async function readText(response: Response, maximumCharacters: number): Promise<string> {
  const reader = response.body?.getReader();
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

function readAnswer(response: Response, text: string): unknown {
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
