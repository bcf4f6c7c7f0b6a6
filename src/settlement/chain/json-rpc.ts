import { setImmediate as nextTurn } from 'node:timers/promises';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { type Dispatcher, request } from 'undici';
import type { EgressProxy } from '../../platform/egress-proxy.ts';
import { createOutgoingAgent } from '../../platform/outgoing-calls.ts';
import { parseJson, readBounded } from '../../platform/read-json.ts';
import { span } from '../../platform/tracing.ts';
import { ChainUnavailableError } from './chain.ts';

export interface JsonRpcCall {
  readonly method: string;
  readonly params: readonly unknown[];
}

/** JSON-RPC 2.0 over HTTP to one endpoint. All errors are `ChainUnavailableError`s. */
export interface JsonRpcClient {
  /** Name of the endpoint in logs: its host and port, never its path or credentials. */
  readonly label: string;
  /** Returns the call's `result`, unchecked. Throws `JsonRpcAnswerError` if the node answers with an error. */
  call(method: string, params: readonly unknown[]): Promise<unknown>;
  /** Sends the calls in one request. Returns their results in the same order, or throws if one of them failed. */
  callBatch(calls: readonly JsonRpcCall[]): Promise<readonly unknown[]>;
  /** Ends all connections. Pending calls fail. */
  close(): Promise<void>;
}

export interface JsonRpcOptions {
  /** http or https. User (`bearer` for a token), password, path and query may be secret and are never printed. */
  readonly url: string;
  /** Time limit of one request, from connecting to the last byte. Default 10,000. */
  readonly timeoutMs?: number;
  /** Maximum size of an answer, before and after decompression. Many methods have a lower limit. Default 32 MiB. */
  readonly maximumResponseBytes?: number;
  /** Null connects directly. Default null. */
  readonly proxy?: EgressProxy | null;
}

/** Thrown when the node understands the request but answers with an error object. */
export class JsonRpcAnswerError extends ChainUnavailableError {
  readonly code: number;
  /** Node's message on one line, with our secrets redacted. */
  readonly nodeMessage: string;
  readonly data: unknown;
  readonly status: number;

  constructor(
    label: string,
    method: string,
    error: { code: number; message: string; data: unknown; status?: number },
  ) {
    super(`${label} refused ${method}: ${error.message} (${error.code})`);
    this.code = error.code;
    this.nodeMessage = error.message;
    this.data = error.data;
    this.status = error.status ?? 200;
  }
}

/** Thrown when an answer violates the protocol or does not have the method's shape. */
export class MalformedAnswerError extends ChainUnavailableError {}

/** HTTP statuses, also used as error codes, for a wrong key, an exhausted plan or too many requests. */
export const refusalStatuses = [401, 402, 403, 429];

export class HttpRefusalError extends ChainUnavailableError {}

export class AnswerTooLargeError extends ChainUnavailableError {}

export class AnswerTooSlowError extends ChainUnavailableError {}

const MIB = 1024 * 1024;
/** Maximum size of a block. Polygon's blocks hold a few hundred transactions, which are listed by hash. */
const BLOCK_BYTES = 2 * MIB;
/** Maximum size of one block's logs, five times a block full of transfers. A range gets less, as it can be split. */
const LOGS_OF_BLOCK_BYTES = 16 * MIB;
const LOGS_OF_RANGE_BYTES = 3 * MIB;

/** Maximum size of other methods' answers: a number, a hash or a few words. */
const SHORT_ANSWER_BYTES = MIB / 16;

/** Maximum size of a full batch's signed transaction, including the fields that clef adds. */
const SIGNED_BYTES = MIB;

const maximumBytesOf: Readonly<Record<string, (params: readonly unknown[]) => number>> = {
  eth_getBlockByNumber: () => BLOCK_BYTES,
  eth_getLogs: ([filter]) => (isOfOneBlock(filter) ? LOGS_OF_BLOCK_BYTES : LOGS_OF_RANGE_BYTES),
  // Balances of 500 addresses, or a contract's code, in hex.
  eth_call: () => MIB,
  eth_getCode: () => MIB,
  eth_signTransaction: () => SIGNED_BYTES,
  account_signTransaction: () => SIGNED_BYTES,
  // Contains the logs of a full batch of releases.
  eth_getTransactionReceipt: () => 4 * MIB,
};

function isOfOneBlock(filter: unknown): boolean {
  const { blockHash, fromBlock, toBlock } = (filter ?? {}) as Record<string, unknown>;
  return blockHash !== undefined || fromBlock === toBlock;
}

/** Maximum nesting. A batch of blocks with transactions and access lists is about eight levels deep. */
const MAXIMUM_NESTING = 32;

/** JSON values allowed in an answer of any length. A log has 16 in 700 bytes, a batched answer 4 in 40. */
const UNMEASURED_VALUES = 5_000;
const MINIMUM_BYTES_PER_VALUE = 16;

/** Maximum distinct lists of object keys, because the JSON parser creates a hidden class for each list. */
const MAXIMUM_KINDS = 100;
const MAXIMUM_KEYS_LENGTH = 2_000;

const MAXIMUM_CONNECTIONS = 8;

type Endpoint = ReturnType<typeof createEndpoint>;

/** Throws `TypeError` for a URL that is invalid or neither http nor https. The message does not repeat the URL. */
export function createJsonRpcClient(options: JsonRpcOptions): JsonRpcClient {
  const endpoint = createEndpoint(options);
  let lastId = 0;

  return {
    label: endpoint.label,
    async call(method, params) {
      const id = ++lastId;
      const answer = await post(endpoint, [{ method, params }], { jsonrpc: '2.0', id, method, params });
      return resultOf(endpoint, method, answer, id);
    },
    async callBatch(calls) {
      const requests = calls.map(({ method, params }) => ({ jsonrpc: '2.0', id: ++lastId, method, params }));
      const { status, body } = await post(endpoint, calls, requests);
      if (!Array.isArray(body)) {
        // An endpoint that refuses the whole batch answers with one error object.
        resultOf(endpoint, methodsOf(calls), { status, body }, null);
        throw new MalformedAnswerError(`${endpoint.label} did not answer a batch with a list`);
      }
      const byId = new Map(body.map((answer) => [(answer as { id?: unknown } | null)?.id, answer]));
      return requests.map(({ id, method }) => resultOf(endpoint, method, { status, body: byId.get(id) }, id));
    },
    close: () => endpoint.agent.destroy(),
  };
}

function createEndpoint(options: JsonRpcOptions) {
  const { timeoutMs = 10_000, maximumResponseBytes = 32 * 1024 * 1024, proxy = null } = options;
  const url = URL.parse(options.url);
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw new TypeError('the URL of a chain endpoint must begin with http:// or https://');
  }
  const [user, password] = [decodePart(url.username), decodePart(url.password)];
  const basic = Buffer.from(`${user}:${password}`).toString('base64');
  const redact = createRedactor(url, basic);
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    accept: 'application/json',
    'accept-encoding': 'gzip',
  };
  if (user !== '' || password !== '') {
    headers['authorization'] = user === 'bearer' ? `Bearer ${password}` : `Basic ${basic}`;
    url.username = '';
    url.password = '';
  }
  return {
    label: url.host,
    url,
    headers,
    agent: createOutgoingAgent({ connections: MAXIMUM_CONNECTIONS, connectTimeoutMs: timeoutMs, proxy }),
    timeoutMs,
    maximumResponseBytes,
    redact,
  };
}

function methodsOf(calls: readonly JsonRpcCall[]): string {
  return [...new Set(calls.map((call) => call.method))].join(', ');
}

interface Answer {
  readonly status: number;
  readonly body: unknown;
}

function post(endpoint: Endpoint, calls: readonly JsonRpcCall[], body: unknown): Promise<Answer> {
  const attributes = { 'server.address': endpoint.label, 'rpc.method': methodsOf(calls) };
  return span(methodsOf(calls), attributes, () => exchange(endpoint, calls, body));
}

async function exchange(endpoint: Endpoint, calls: readonly JsonRpcCall[], body: unknown): Promise<Answer> {
  const methods = methodsOf(calls);
  const allowed = calls.map(({ method, params }) => maximumBytesOf[method]?.(params) ?? SHORT_ANSWER_BYTES);
  const maximumBytes = Math.min(
    allowed.reduce((sum, bytes) => sum + bytes, 0),
    endpoint.maximumResponseBytes,
  );
  const tooLarge = () =>
    new AnswerTooLargeError(`${endpoint.label} answered ${methods} with more than ${maximumBytes} bytes`);
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
    text = await readText(endpoint.label, response, maximumBytes, tooLarge);
  } catch (error) {
    if (error instanceof ChainUnavailableError) throw error;
    if (codeOf(error) === 'ERR_BUFFER_TOO_LARGE') throw tooLarge();
    // Copies the cause as text, because a library's error may hold the request with its URL and headers.
    const cause = new Error(oneLine(endpoint.redact(describe(error))));
    if (codeOf(error) === 'UND_ERR_CONNECT_TIMEOUT')
      throw new AnswerTooSlowError(`${endpoint.label} cannot be reached: ${cause.message}`, { cause });
    if (error instanceof Error && error.name === 'TimeoutError') {
      throw new AnswerTooSlowError(
        `${endpoint.label} did not answer ${methods} within ${endpoint.timeoutMs} ms`,
      );
    }
    throw new ChainUnavailableError(`${endpoint.label} did not answer ${methods}: ${cause.message}`, {
      cause,
    });
  }
  // A page of logs is checked, parsed and read in separate turns, so that requests wait for one of them at most.
  await nextTurn();
  const excess = excessOf(text);
  if (excess !== null) {
    throw new MalformedAnswerError(`${endpoint.label} answered ${methods} with JSON that ${excess}`);
  }
  await nextTurn();
  const answer = parseJson(text);
  await nextTurn();
  // Some nodes send an error object with status 400 or 429. The object is more specific than the status.
  if (status !== 200 && errorOf(answer) === null) {
    const StatusError = refusalStatuses.includes(status) ? HttpRefusalError : ChainUnavailableError;
    throw new StatusError(`${endpoint.label} answered ${methods} with HTTP ${status}`);
  }
  if (answer === undefined) {
    throw new MalformedAnswerError(`${endpoint.label} answered ${methods} with something that is not JSON`);
  }
  return { status, body: answer };
}

function codeOf(error: unknown): string {
  return String((error as { code?: unknown } | null)?.code);
}

const decompress = promisify<Buffer, { maxOutputLength: number }, Buffer>(gunzip);

/** Reads and decompresses an answer. Logs of one token compress to a sixth of their size. */
async function readText(
  label: string,
  { headers, body }: Pick<Dispatcher.ResponseData, 'headers' | 'body'>,
  maximumBytes: number,
  tooLarge: () => AnswerTooLargeError,
): Promise<string> {
  const sent = await readBounded(body, maximumBytes, tooLarge);
  const encoding = headers['content-encoding'] ?? 'identity';
  if (encoding === 'identity') return sent.toString();
  if (encoding !== 'gzip') throw new MalformedAnswerError(`${label} compresses with ${encoding}`);
  return (await decompress(sent, { maxOutputLength: maximumBytes })).toString();
}

/** Returns why JSON must not be parsed, or null. Empty lists use much memory, and many keys block the process. */
function excessOf(text: string): string | null {
  const maximumValues = UNMEASURED_VALUES + Math.floor(text.length / MINIMUM_BYTES_PER_VALUE);
  const kinds = new Set<string>();
  /** Keys read so far in each open object or list. */
  const open: string[] = [];
  let values = 0;
  let stringStart = 0;
  let stringEnd = 0;
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case QUOTE:
        stringStart = at;
        at = endOfString(text, at);
        stringEnd = at;
        break;
      case COLON: {
        const keys = `${open.pop() ?? ''}${text.slice(stringStart, stringEnd)}`;
        if (keys.length > MAXIMUM_KEYS_LENGTH)
          return `has an object of more than ${MAXIMUM_KEYS_LENGTH} bytes of keys`;
        open.push(keys);
        break;
      }
      case OPENING_BRACKET:
      case OPENING_BRACE:
        if (open.push('') > MAXIMUM_NESTING) return `is nested deeper than ${MAXIMUM_NESTING}`;
        if (++values > maximumValues) return `has more values than ${maximumValues}`;
        break;
      case COMMA:
        if (++values > maximumValues) return `has more values than ${maximumValues}`;
        break;
      case CLOSING_BRACKET:
      case CLOSING_BRACE:
        if (kinds.add(open.pop() ?? '').size > MAXIMUM_KINDS)
          return `has more than ${MAXIMUM_KINDS} kinds of objects`;
    }
  }
  return null;
}

const [QUOTE, BACKSLASH] = [0x22, 0x5c];
const [OPENING_BRACKET, CLOSING_BRACKET, OPENING_BRACE, CLOSING_BRACE] = [0x5b, 0x5d, 0x7b, 0x7d];
const [COMMA, COLON] = [0x2c, 0x3a];

/** Returns the index of the quote that ends a string, or the text's length if none does. */
function endOfString(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at !== -1; at = text.indexOf('"', at + 1)) {
    let backslashes = 0;
    while (text.charCodeAt(at - 1 - backslashes) === BACKSLASH) backslashes++;
    if (backslashes % 2 === 0) return at;
  }
  return text.length;
}

function errorOf(answer: unknown): { code?: unknown; message?: unknown; data?: unknown } | null {
  if (typeof answer !== 'object' || answer === null) return null;
  const { error } = answer as { error?: unknown };
  return typeof error === 'object' && error !== null ? error : null;
}

/** Returns a call's result or throws its error, whatever the error's id. `id` is null if no result is expected. */
function resultOf(endpoint: Endpoint, method: string, { status, body }: Answer, id: number | null): unknown {
  const error = errorOf(body);
  if (error !== null) {
    throw new JsonRpcAnswerError(endpoint.label, method, {
      code: Number.isSafeInteger(error.code) ? (error.code as number) : 0,
      message: oneLine(endpoint.redact(typeof error.message === 'string' ? error.message : 'no message')),
      data: error.data,
      status,
    });
  }
  const isOurs = typeof body === 'object' && body !== null && 'result' in body && 'id' in body;
  if (!isOurs || body.id !== id) {
    throw new MalformedAnswerError(`${endpoint.label} did not answer ${method}`);
  }
  return body.result;
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown failure';
  const code = (error as { code?: unknown }).code;
  return error.message !== '' ? error.message : typeof code === 'string' ? code : error.name;
}

/** Minimum length of a secret. Shorter parts of a URL ("v2", "rpc") are public, and redacting them garbles the text. */
const MINIMUM_SECRET_LENGTH = 5;

/** Creates a function that redacts secrets of an endpoint's URL or login, because nodes may repeat them in errors. */
function createRedactor(url: URL, login: string): (text: string) => string {
  const parts = [login, url.username, url.password, ...url.pathname.split('/'), ...url.searchParams.values()];
  const texts = parts
    .flatMap((part) => [part, decodePart(part)])
    .filter((text) => text.length >= MINIMUM_SECRET_LENGTH);
  // Longest first, so that no part of a longer secret remains.
  const secrets = [...new Set(texts)].sort((first, second) => second.length - first.length);
  return (text) => secrets.reduce((redacted, secret) => redacted.replaceAll(secret, '[secret]'), text);
}

/** Decodes a part of a URL, or returns it unchanged if its percent-encoding is invalid. */
function decodePart(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Control characters, line separators, and marks that change the text direction. */
const notOfLine = /[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]+/gu;

const MAXIMUM_LINE = 500;

/** Returns another party's text as one short line without control characters, for logs, pages and databases. */
export function oneLine(text: string): string {
  const plain = text.replaceAll(notOfLine, ' ').trim();
  const short = plain.length <= MAXIMUM_LINE ? plain : `${plain.slice(0, MAXIMUM_LINE)}…`;
  return short.toWellFormed();
}
