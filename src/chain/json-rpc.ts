import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { type Dispatcher, request } from 'undici';
import { ChainUnavailableError } from '../domain/ports/chain.ts';
import type { BlockReference } from '../domain/ports/settlement-store.ts';
import { createOutgoingAgent } from '../platform/outgoing-agent.ts';

export interface JsonRpcCall {
  readonly method: string;
  readonly params: readonly unknown[];
}

/** JSON-RPC 2.0 over HTTP to one endpoint. Everything it throws is a `ChainUnavailableError`. */
export interface JsonRpcClient {
  /** Names the endpoint in logs: its host and port, never its path or credentials. */
  readonly label: string;
  /** The call's `result`, unchecked. Throws `JsonRpcAnswerError` when the node answers with an error. */
  call(method: string, params: readonly unknown[]): Promise<unknown>;
  /** The results in the order of the calls, from as few requests as the batch size allows; all of them or an error. */
  callBatch(calls: readonly JsonRpcCall[]): Promise<readonly unknown[]>;
  /** Ends all connections; what still waits for an answer fails. */
  close(): Promise<void>;
}

/** The client, with each request made by `around`, which gets the number of its calls and the method of the first. */
export function aroundCalls(
  client: JsonRpcClient,
  around: <T>(act: () => Promise<T>, calls: number, method: string) => Promise<T>,
): JsonRpcClient {
  return {
    ...client,
    call: (method, params) => around(() => client.call(method, params), 1, method),
    callBatch: (calls) => around(() => client.callBatch(calls), calls.length, calls[0]?.method ?? ''),
  };
}

export interface JsonRpcOptions {
  /** http or https; user, password, path and query may be secret and are never printed. */
  readonly url: string;
  /** Time limit of one request, from connecting to the last byte. Default 10,000. */
  readonly timeoutMs?: number;
  /** A longer answer is an error, compressed or not. Default 32 MiB. */
  readonly maximumResponseBytes?: number;
  /** Calls in one request. Default 100. */
  readonly maximumBatchSize?: number;
}

/** The node understood the request and answered with an error object. */
export class JsonRpcAnswerError extends ChainUnavailableError {
  readonly code: number;
  /** The node's own words, without our secrets. */
  readonly nodeMessage: string;
  readonly data: unknown;

  constructor(label: string, method: string, error: { code: number; message: string; data: unknown }) {
    super(`${label} refused ${method}: ${error.message} (${error.code})`);
    this.code = error.code;
    this.nodeMessage = error.message;
    this.data = error.data;
  }
}

/** An HTTP status that says that the key is wrong, or that its plan limits the calls. */
export class HttpRefusalError extends ChainUnavailableError {}
const refusalStatuses = [401, 402, 403, 429];

/** The answer was longer than we read. */
export class AnswerTooLargeError extends ChainUnavailableError {}

/** The answer was not complete in time. */
export class AnswerTooSlowError extends ChainUnavailableError {}

/** A batch of blocks with transactions and their access lists nests about eight deep. */
const MAXIMUM_NESTING = 32;

/** More objects and lists than this need so many bytes each. A log takes about 300, an answer in a batch 40. */
const UNMEASURED_CONTAINERS = 1_000;
const MINIMUM_BYTES_PER_CONTAINER = 64;

const MAXIMUM_CONNECTIONS = 8;

type Endpoint = ReturnType<typeof createEndpoint>;

/** Throws `TypeError` for a URL that is none, or neither http nor https; the message does not repeat it. */
export function createJsonRpcClient(options: JsonRpcOptions): JsonRpcClient {
  const endpoint = createEndpoint(options);
  const { maximumBatchSize = 100 } = options;
  let lastId = 0;

  async function callOne(method: string, params: readonly unknown[]): Promise<unknown> {
    const id = ++lastId;
    const answer = await post(endpoint, method, { jsonrpc: '2.0', id, method, params });
    return resultOf(endpoint, method, answer, id);
  }

  async function callMany(calls: readonly JsonRpcCall[]): Promise<unknown[]> {
    const requests = calls.map(({ method, params }) => ({ jsonrpc: '2.0', id: ++lastId, method, params }));
    const methods = [...new Set(calls.map((call) => call.method))].join(', ');
    const answers = await post(endpoint, methods, requests);
    if (!Array.isArray(answers)) {
      // An endpoint that refuses the batch as a whole answers with one error object.
      resultOf(endpoint, methods, answers, null);
      throw new ChainUnavailableError(`${endpoint.label} did not answer a batch with a list`);
    }
    const byId = new Map(answers.map((answer) => [(answer as { id?: unknown } | null)?.id, answer]));
    return requests.map(({ id, method }) => resultOf(endpoint, method, byId.get(id), id));
  }

  return {
    label: endpoint.label,
    call: callOne,
    async callBatch(calls) {
      const results: unknown[] = [];
      for (let start = 0; start < calls.length; start += maximumBatchSize) {
        results.push(...(await callMany(calls.slice(start, start + maximumBatchSize))));
      }
      return results;
    },
    close: () => endpoint.agent.destroy(),
  };
}

function createEndpoint(options: JsonRpcOptions) {
  const { timeoutMs = 10_000, maximumResponseBytes = 32 * 1024 * 1024 } = options;
  const url = URL.parse(options.url);
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw new TypeError('the URL of a chain endpoint must begin with http:// or https://');
  }
  const redact = createRedactor(url);
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    accept: 'application/json',
    'accept-encoding': 'gzip',
  };
  if (url.username !== '' || url.password !== '') {
    const credentials = `${decodePart(url.username)}:${decodePart(url.password)}`;
    headers['authorization'] = `Basic ${Buffer.from(credentials).toString('base64')}`;
    url.username = '';
    url.password = '';
  }
  return {
    label: url.host,
    url,
    headers,
    agent: createOutgoingAgent({
      connections: MAXIMUM_CONNECTIONS,
      connectTimeoutMs: timeoutMs,
      maxResponseSize: maximumResponseBytes,
    }),
    timeoutMs,
    maximumResponseBytes,
    redact,
  };
}

async function post(endpoint: Endpoint, methods: string, body: unknown): Promise<unknown> {
  let status: number;
  let text: string;
  try {
    const response = await request(endpoint.url, {
      method: 'POST',
      headers: endpoint.headers,
      body: JSON.stringify(body),
      dispatcher: endpoint.agent,
      signal: AbortSignal.timeout(endpoint.timeoutMs),
    });
    status = response.statusCode;
    text = await readText(endpoint, response);
  } catch (error) {
    if (error instanceof ChainUnavailableError) throw error;
    if (tooLargeCodes.includes(codeOf(error))) {
      throw new AnswerTooLargeError(
        `${endpoint.label} answered with more than ${endpoint.maximumResponseBytes} bytes`,
      );
    }
    // The cause is copied as text: a library's error may hold the request with its URL and headers.
    const cause = new Error(endpoint.redact(describe(error)));
    if (codeOf(error) === 'UND_ERR_CONNECT_TIMEOUT')
      throw new AnswerTooSlowError(`${endpoint.label} cannot be reached: ${cause.message}`, { cause });
    if (isTimeout(error)) {
      throw new AnswerTooSlowError(
        `${endpoint.label} did not answer ${methods} within ${endpoint.timeoutMs} ms`,
      );
    }
    throw new ChainUnavailableError(`${endpoint.label} did not answer ${methods}: ${cause.message}`, {
      cause,
    });
  }
  const excess = excessOf(text);
  if (excess !== null) {
    throw new ChainUnavailableError(`${endpoint.label} answered ${methods} with JSON that ${excess}`);
  }
  const answer = parseJson(text);
  // Some nodes put a proper error object behind a status of 400 or 429: the object says more than the status.
  if (status !== 200 && errorOf(answer) === null) {
    const StatusError = refusalStatuses.includes(status) ? HttpRefusalError : ChainUnavailableError;
    throw new StatusError(`${endpoint.label} answered ${methods} with HTTP ${status}`);
  }
  if (answer === undefined) {
    throw new ChainUnavailableError(`${endpoint.label} answered ${methods} with something that is not JSON`);
  }
  return answer;
}

/** As it was sent, and decompressed. */
const tooLargeCodes = ['UND_ERR_RES_EXCEEDED_MAX_SIZE', 'ERR_BUFFER_TOO_LARGE'];
const timeoutCodes = ['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT'];

function codeOf(error: unknown): string {
  return String((error as { code?: unknown } | null)?.code);
}

function isTimeout(error: unknown): boolean {
  return error instanceof Error && (error.name === 'TimeoutError' || timeoutCodes.includes(codeOf(error)));
}

const decompress = promisify<Buffer, { maxOutputLength: number }, Buffer>(gunzip);

/** The answer as it was before compression. Logs of one token take a sixth of their size compressed. */
async function readText(
  { label, maximumResponseBytes }: Endpoint,
  { headers, body }: Pick<Dispatcher.ResponseData, 'headers' | 'body'>,
): Promise<string> {
  const encoding = headers['content-encoding'] ?? 'identity';
  if (encoding === 'identity') return body.text();
  if (encoding !== 'gzip') throw new ChainUnavailableError(`${label} compresses with ${encoding}`);
  const compressed = Buffer.from(await body.arrayBuffer());
  return (await decompress(compressed, { maxOutputLength: maximumResponseBytes })).toString();
}

/**
 * Why the text is not worth parsing; null where it is. Objects and lists that hold nothing take far more memory than
 * text: parsed, 30 MB of brackets take 1 to 2 GB and seconds.
 */
function excessOf(text: string): string | null {
  const maximumContainers = UNMEASURED_CONTAINERS + Math.floor(text.length / MINIMUM_BYTES_PER_CONTAINER);
  let containers = 0;
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case QUOTE:
        at = endOfString(text, at);
        break;
      case OPENING_BRACKET:
      case OPENING_BRACE:
        if (++depth > MAXIMUM_NESTING) return `is nested deeper than ${MAXIMUM_NESTING}`;
        if (++containers > maximumContainers) return `has more objects and lists than ${maximumContainers}`;
        break;
      case CLOSING_BRACKET:
      case CLOSING_BRACE:
        depth--;
    }
  }
  return null;
}

const [QUOTE, BACKSLASH] = [0x22, 0x5c];
const [OPENING_BRACKET, CLOSING_BRACKET, OPENING_BRACE, CLOSING_BRACE] = [0x5b, 0x5d, 0x7b, 0x7d];

/** Index of the quote that ends a string; the text's length where none does. */
function endOfString(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at !== -1; at = text.indexOf('"', at + 1)) {
    let backslashes = 0;
    while (text.charCodeAt(at - 1 - backslashes) === BACKSLASH) backslashes++;
    if (backslashes % 2 === 0) return at;
  }
  return text.length;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function errorOf(answer: unknown): { code?: unknown; message?: unknown; data?: unknown } | null {
  if (typeof answer !== 'object' || answer === null) return null;
  const { error } = answer as { error?: unknown };
  return typeof error === 'object' && error !== null ? error : null;
}

/** `id` null: any id will do, because only an error is expected. */
function resultOf(endpoint: Endpoint, method: string, answer: unknown, id: number | null): unknown {
  const error = errorOf(answer);
  if (error !== null) {
    throw new JsonRpcAnswerError(endpoint.label, method, {
      code: typeof error.code === 'number' ? error.code : 0,
      message: endpoint.redact(shorten(typeof error.message === 'string' ? error.message : 'no message')),
      data: error.data,
    });
  }
  const isOurs = typeof answer === 'object' && answer !== null && 'result' in answer && 'id' in answer;
  if (!isOurs || answer.id !== id) {
    throw new ChainUnavailableError(`${endpoint.label} did not answer ${method}`);
  }
  return answer.result;
}

const MAXIMUM_MESSAGE_LENGTH = 500;

function shorten(text: string): string {
  return text.length <= MAXIMUM_MESSAGE_LENGTH ? text : `${text.slice(0, MAXIMUM_MESSAGE_LENGTH)}…`;
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown failure';
  const code = (error as { code?: unknown }).code;
  return shorten(error.message !== '' ? error.message : typeof code === 'string' ? code : error.name);
}

/** Readers of what a node answers. Nodes are not trusted: a value of the wrong form is an error of the endpoint. */

const quantityPattern = /^0x[0-9a-fA-F]{1,64}$/;
const dataPattern = /^0x(?:[0-9a-fA-F]{2})*$/;
const hashPattern = /^0x[0-9a-fA-F]{64}$/;

function malformed(what: string): ChainUnavailableError {
  return new ChainUnavailableError(`the endpoint answered with a malformed ${what}`);
}

/** A JSON-RPC quantity ("0x1a"). */
export function readQuantity(value: unknown, what: string): bigint {
  if (typeof value !== 'string' || !quantityPattern.test(value)) throw malformed(what);
  return BigInt(value);
}

/** A quantity that is a count or a block number, and so fits a number. */
export function readCount(value: unknown, what: string): number {
  const count = Number(readQuantity(value, what));
  if (!Number.isSafeInteger(count)) throw malformed(what);
  return count;
}

/** JSON-RPC bytes, `0x` and an even number of digits. */
export function readData(value: unknown, what: string): `0x${string}` {
  if (typeof value !== 'string' || !dataPattern.test(value)) throw malformed(what);
  return value as `0x${string}`;
}

/** One 32-byte word. A call to an address without code succeeds and answers with nothing: that is no answer. */
export function readWord(label: string, value: unknown): bigint {
  const data = readData(value, 'call result');
  if (data.length !== 66)
    throw new ChainUnavailableError(`${label} has no such contract, or not this version of it`);
  return BigInt(data);
}

/** A 32-byte hash in lower case. */
export function readHash(value: unknown, what: string): string {
  if (typeof value !== 'string' || !hashPattern.test(value)) throw malformed(what);
  return value.toLowerCase();
}

/** A block's number, hash and time; null when the endpoint has no such block. */
export function readBlockReference(value: unknown): BlockReference | null {
  if (value === null) return null;
  if (typeof value !== 'object' || value === undefined) throw malformed('block');
  const { number, hash, timestamp } = value as { number?: unknown; hash?: unknown; timestamp?: unknown };
  return {
    number: readCount(number, 'block number'),
    hash: readHash(hash, 'block hash'),
    timestampMs: readCount(timestamp, 'block time') * 1000,
  };
}

export function toQuantity(count: number | bigint): `0x${string}` {
  return `0x${count.toString(16)}`;
}

/** Shorter parts of a URL ("v2", "rpc") are no secrets, and replacing them would garble the text. */
const MINIMUM_SECRET_LENGTH = 5;

/**
 * Takes an endpoint's secrets out of a text before it is logged. Providers of nodes put the customer's key into the
 * URL's user, password, path or query, and a node may repeat it in its error message.
 */
function createRedactor(url: URL): (text: string) => string {
  const parts = [url.username, url.password, ...url.pathname.split('/'), ...url.searchParams.values()];
  const texts = parts
    .flatMap((part) => [part, decodePart(part)])
    .filter((text) => text.length >= MINIMUM_SECRET_LENGTH);
  // Longest first, so that no rest of a longer secret stays behind.
  const secrets = [...new Set(texts)].sort((first, second) => second.length - first.length);
  return (text) => secrets.reduce((redacted, secret) => redacted.replaceAll(secret, '[secret]'), text);
}

/** A part of a URL without its percent signs; as it is where they encode nothing. */
function decodePart(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
