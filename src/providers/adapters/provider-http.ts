import { AsyncLocalStorage } from 'node:async_hooks';
import { type Agent, request } from 'undici';
import { RegionNotServedError, ServiceError, UnknownStateError } from '../../payment/errors.ts';
import {
  customerFacts,
  describeUnsoldCurrency,
  type ProviderId,
  providerCatalog,
} from '../../payment/provider-catalog.ts';
import type { EgressProxy } from '../../platform/egress-proxy.ts';
import { createOutgoingAgent } from '../../platform/outgoing-calls.ts';
import { isSecureUrl } from '../../platform/public-address.ts';
import { parseJson, readBounded } from '../../platform/read-json.ts';
import { annotate, span, traceparentHeader } from '../../platform/tracing.ts';
import {
  type ProviderTraits,
  type ProviderWebhook,
  ProviderWebhookRefusedError,
  type QuoteRequest,
  type RecordedAnswer,
  type ServedRegions,
} from '../provider.ts';
import { minimumUsdCentsFor, unservedRegionOf } from '../provider-limits-and-regions.ts';

/** Provider's answer with any status. `body` is undefined if the answer is not JSON. */
export interface JsonAnswer {
  readonly status: number;
  readonly body: unknown;
  readonly isOfCustomer?: boolean;
}

interface CallRequest {
  readonly url: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** Body of a POST: a form for `URLSearchParams`, otherwise JSON. Absent for a GET. */
  readonly body?: unknown;
  /** Maximum length of the answer. Default 64 KiB. */
  readonly maximumBytes?: number;
  /** Set if a refusal may be an HTML page instead of JSON. Such an answer has no `body`. */
  readonly acceptsPage?: true;
}

/** Default maximum length of an answer, far above that of any usable answer except a catalog. */
const MAXIMUM_ANSWER_BYTES = 64 * 1024;

/** Maximum length of a catalog, which lists hundreds of coins with their networks, or all currencies. */
export const CATALOG_BYTES = 4 * 1024 * 1024;

/** Pause after a 429 without a valid `Retry-After`. */
const DEFAULT_RETRY_SECONDS = 1;
/** Maximum pause, even if the provider requests a longer one. */
const LONGEST_RETRY_SECONDS = 60;

/** Error for a 429 answer (too many requests), which says nothing about the provider's health. */
export class ProviderBusyError extends Error {
  /** Whole seconds until the next call, at least one. */
  readonly retryAfterSeconds: number;
  readonly isStated: boolean;

  constructor(retryAfterSeconds: number, isStated = true) {
    super(`the provider answered 429; it may be asked again in ${retryAfterSeconds} s`);
    this.retryAfterSeconds = retryAfterSeconds;
    this.isStated = isStated;
  }
}

/** Converts a `Retry-After` header (RFC 9110, 10.2.3: a number or a date) to seconds within bounds. */
export function readRetryAfterSeconds(header: string | undefined, nowMs: number): number {
  const text = header?.trim() ?? '';
  const seconds = /^\d{1,10}$/.test(text) ? Number(text) : (Date.parse(text) - nowMs) / 1000;
  if (Number.isNaN(seconds)) return DEFAULT_RETRY_SECONDS;
  return Math.min(Math.max(Math.ceil(seconds), 1), LONGEST_RETRY_SECONDS);
}

const recording = new AsyncLocalStorage<RecordedAnswer[]>();
const MAXIMUM_RECORDED = 50;

/** Runs the work and adds up to `MAXIMUM_RECORDED` of the provider's answers to the list, even if the work fails. */
export function recordAnswers<T>(answers: RecordedAnswer[], work: () => Promise<T>): Promise<T> {
  return recording.run(answers, work);
}

const counting = new AsyncLocalStorage<() => void>();

export function countRequests<T>(onRequest: () => void, work: () => Promise<T>): Promise<T> {
  return counting.run(onRequest, work);
}

/**
 * Sends one request and reads one JSON answer. Follows no redirects. Throws `ProviderBusyError` for a 429, and an error
 * for any 5xx and for an answer that is late, too long or not JSON. If a customer's request is refused without JSON,
 * returns an undefined body, because a geoblock answers with a page or a redirect.
 */
async function requestJson(
  agent: Agent,
  call: CallRequest,
  isOfCustomer: boolean,
  timeoutMs: number,
): Promise<JsonAnswer> {
  counting.getStore()?.();
  const { url, maximumBytes = MAXIMUM_ANSWER_BYTES, acceptsPage = isOfCustomer } = call;
  const query = call.query === undefined ? '' : `?${new URLSearchParams(call.query)}`;
  const method = call.body === undefined ? 'GET' : 'POST';
  const isForm = call.body instanceof URLSearchParams;
  const { statusCode, headers, body } = await request(`${url}${query}`, {
    dispatcher: agent,
    method,
    signal: AbortSignal.timeout(timeoutMs),
    headers: {
      accept: 'application/json',
      'user-agent': 'card-checkout',
      ...(call.body === undefined
        ? {}
        : { 'content-type': isForm ? 'application/x-www-form-urlencoded' : 'application/json' }),
      ...call.headers,
    },
    body: isForm ? String(call.body) : call.body === undefined ? null : JSON.stringify(call.body),
  });
  annotate({ 'http.response.status_code': statusCode });
  const isAnswered = acceptsPage && statusCode < 500 && !successes.includes(statusCode);
  const tooLong = () => new MalformedAnswerError(`the answer is longer than ${maximumBytes} bytes`);
  const read = readBounded(body, maximumBytes, tooLong);
  const text = String(isAnswered ? await read.catch(() => '') : await read);
  // Checks the status before parsing, because a proxy in front of the provider's API may answer with an HTML page.
  if (statusCode === 429) {
    const [header] = [headers['retry-after']].flat();
    throw new ProviderBusyError(readRetryAfterSeconds(header, Date.now()), header !== undefined);
  }
  if (statusCode >= 500) throw new Error(`the provider answered ${statusCode}`);
  const answer = parseJson(text);
  const answers = recording.getStore() ?? [];
  if (answers.length < MAXIMUM_RECORDED) {
    // Omits long bodies, because a catalog is too large for a record.
    const recorded = text.length > MAXIMUM_ANSWER_BYTES ? null : (answer ?? null);
    answers.push({ method, path: new URL(url).pathname, status: statusCode, body: recorded });
  }
  if (answer === undefined && !isAnswered) {
    const message = 'the answer is not JSON';
    throw countsAsOutage(statusCode) ? new MalformedAnswerError(message) : new ProviderAnswerError(message);
  }
  return { status: statusCode, body: answer, ...(isAnswered && isOfCustomer ? { isOfCustomer } : {}) };
}

const successes: readonly number[] = [200, 201];
const isRefusal = (status: number) => status >= 400 && status < 500;

/** Returns whether an unusable answer counts as an outage. These 4xx codes point to a wrong key or path. */
function countsAsOutage(status: number): boolean {
  return !isRefusal(status) || [401, 403, 404, 405, 410].includes(status);
}

const MAXIMUM_REDIRECT_LENGTH = 4_096;
const MAXIMUM_REFERENCE_LENGTH = 200;
const MAXIMUM_TOKEN_LENGTH = 8_192;

/** Error for an answer or webhook that does not have the expected form. Callers of the API see it as an outage. */
export class MalformedAnswerError extends Error {}

export type AnswerFields = Readonly<Record<string, unknown>>;

export function fieldsOf(value: unknown): AnswerFields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new MalformedAnswerError('the answer is not a JSON object');
  }
  return value as AnswerFields;
}

export function listOf(value: unknown): readonly AnswerFields[] {
  if (!Array.isArray(value)) throw new MalformedAnswerError('the answer is not a list');
  return value.map(fieldsOf);
}

/** Converts a decimal amount to units of 10⁻⁶. Returns null if it is missing or not positive. */
export function readUnitsOrNull(value: unknown, name: string): bigint | null {
  return value === undefined || value === null || Number(value) <= 0 ? null : readDecimalUnits(value, name);
}

/** Converts a decimal amount to cents, rounded up. Returns null if it is missing or not positive. */
export function readCentsOrNull(value: unknown, name: string): number | null {
  const units = readUnitsOrNull(value, name);
  return units === null ? null : Number((units + 9_999n) / 10_000n);
}

/** Converts a JSON number or decimal text to units of 10⁻⁶, rounded down. Throws unless the result is positive. */
export function readDecimalUnits(value: unknown, name: string): bigint {
  const text = typeof value === 'number' && Number.isFinite(value) ? value.toFixed(8) : value;
  const match = typeof text === 'string' ? /^(\d{1,9})(?:\.(\d{1,30}))?$/.exec(text) : null;
  if (match === null) throw new MalformedAnswerError(`${name} is not an amount`);
  const units = BigInt(match[1] as string) * 1_000_000n + BigInt((match[2] ?? '').padEnd(6, '0').slice(0, 6));
  if (units === 0n) throw new MalformedAnswerError(`${name} is zero`);
  return units;
}

/** Reads a URL to which a browser may be redirected: absolute https (http on loopback), without credentials. */
export function readRedirectUrl(value: unknown): string {
  if (typeof value !== 'string' || value.length > MAXIMUM_REDIRECT_LENGTH || !URL.canParse(value)) {
    throw new MalformedAnswerError('url is not an address');
  }
  const url = new URL(value);
  if (!isSecureUrl(url) || url.username !== '' || url.password !== '') {
    throw new MalformedAnswerError('url is not a plain https address');
  }
  return url.href;
}

/** Reads an id assigned by the provider: visible ASCII of bounded length, safe in pages and paths. */
export function readReference(value: unknown): string {
  return readVisible(value, MAXIMUM_REFERENCE_LENGTH, 'id is not a reference');
}

export function readTextOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

/** Reads a credential for a header: visible ASCII of bounded length. */
export function readToken(value: unknown): string {
  return readVisible(value, MAXIMUM_TOKEN_LENGTH, 'the token is malformed');
}

function readVisible(value: unknown, maximumLength: number, problem: string): string {
  if (typeof value === 'string' && value.length <= maximumLength && /^[\x21-\x7e]+$/.test(value))
    return value;
  throw new MalformedAnswerError(problem);
}

interface Calls {
  /** Returns the body of a successful answer as an object. Throws for other answers (`requireSuccess`). */
  fields(request: CallRequest): Promise<AnswerFields>;
  answer(request: CallRequest): Promise<JsonAnswer>;
}

/** Calls of a conversation. Calls outside `ofCustomer`, such as a quote for an amount, contain no customer data. */
export interface Call extends Calls {
  /** Calls with the data of one customer or payment. Their statuses below 500 do not count as an outage. */
  readonly ofCustomer: Calls;
}

/** Creates a function that runs conversations with one provider, each within a time limit. */
export function createConversations(
  id: ProviderId,
  headers: Readonly<Record<string, string>> = {},
  proxy: EgressProxy | null = null,
) {
  // HTTP/1.1 only, because undici may send a POST twice over HTTP/2.
  const options = { allowH2: false, connections: 32, pipelining: 1, keepAliveTimeout: 4_000 };
  const agent = createOutgoingAgent({ ...options, proxy });
  return async <T>(timeoutMs: number, work: (call: Call) => Promise<T>): Promise<T> => {
    const deadlineMs = performance.now() + timeoutMs;
    let isLastOfCustomer = false;
    const calls = (isOfCustomer: boolean): Calls => {
      const answer = (request: CallRequest) => {
        isLastOfCustomer = isOfCustomer;
        const host = { 'server.address': new URL(request.url).host };
        return span(`provider ${id}`, host, () => {
          const call = { ...request, headers: { ...headers, ...request.headers, ...traceparentHeader() } };
          const leftMs = Math.max(1, Math.ceil(deadlineMs - performance.now()));
          return requestJson(agent, call, isOfCustomer, leftMs);
        });
      };
      return { answer, fields: async (request) => fieldsOf(requireSuccess(id, await answer(request))) };
    };
    try {
      return await work({ ...calls(false), ofCustomer: calls(true) });
    } catch (error) {
      if (isLastOfCustomer && error instanceof MalformedAnswerError)
        // Does not count as an outage, because the customer's data may be the cause.
        throw new ProviderAnswerError(error.message);
      throw error;
    }
  };
}

/** Turns every error other than a `ServiceError` into `provider_unavailable`. */
export async function asProviderUnavailable<T>(id: ProviderId, outcome: Promise<T>): Promise<T> {
  try {
    return await outcome;
  } catch (error) {
    if (error instanceof ServiceError) throw error;
    throw unavailable(id, error);
  }
}

/** Turns a malformed webhook into `UnknownStateError`, and errors other than refusals into `provider_unavailable`. */
export async function classifyWebhookError(
  id: ProviderId,
  outcome: Promise<ProviderWebhook | null>,
): Promise<ProviderWebhook | null> {
  try {
    return await outcome;
  } catch (error) {
    if (error instanceof ProviderWebhookRefusedError || error instanceof UnknownStateError) throw error;
    if (error instanceof MalformedAnswerError) throw new UnknownStateError(`${id}: ${error.message}`);
    return asProviderUnavailable(id, Promise.reject(error));
  }
}

/** Error for an unusable answer that the circuit breaker does not count as a failure, because the provider is up. */
export class ProviderAnswerError extends Error {}

/** Error for a declined request. One customer's request must not open the circuit for all others. */
export class DeclinedRequestError extends ProviderAnswerError {}

export function unavailable(id: ProviderId, cause: unknown): ServiceError {
  if (cause instanceof ProviderBusyError) return busy(id, cause.retryAfterSeconds, cause);
  const { name } = providerCatalog[id];
  const outcome = cause instanceof DeclinedRequestError ? 'declined the request' : 'did not respond';
  return new ServiceError('provider_unavailable', `${name} ${outcome}. Retry later or use "multi".`, {
    cause,
  });
}

/** Creates an error for a provider that receives too many requests. Callers may retry after `retryAfterSeconds`. */
export function busy(id: ProviderId, retryAfterSeconds: number, cause?: ProviderBusyError): ServiceError {
  const { name } = providerCatalog[id];
  const text = `${name} is busy. Retry in ${retryAfterSeconds} s or use "multi".`;
  return new ServiceError('provider_unavailable', text, { retryAfterSeconds, cause });
}

/** Returns a successful answer's content, by default its body. Throws for others, with error codes in the cause. */
export function requireSuccess(id: ProviderId, answer: JsonAnswer, content: unknown = answer.body): unknown {
  const { status, body, isOfCustomer = false } = answer;
  if (successes.includes(status)) return content;
  const message = `${id} answered ${status} ${codesOf(body).join(' ')}`;
  const cause =
    (isOfCustomer && isRefusal(status)) || status === 400 || status === 422
      ? new DeclinedRequestError(message)
      : countsAsOutage(status) && !isOfCustomer
        ? new Error(message)
        : new ProviderAnswerError(message);
  // A merchant sees wrong credentials as an inactive provider, and the operator finds the cause in the log. HTML says
  // nothing about credentials, because it comes from a proxy in front of the provider's API.
  if ((status === 401 || status === 403) && body !== undefined) {
    const { name } = providerCatalog[id];
    throw new ServiceError(
      'provider_inactive',
      `${name} is currently unavailable. Use another provider or "multi".`,
      { cause },
    );
  }
  throw cause;
}

/** Returns a refusal's error codes: words, or four or five digits. Omits sentences, which may repeat the API key. */
export function codesOf(body: unknown): readonly string[] {
  const inside = (value: unknown) => (typeof value === 'object' ? (value ?? {}) : {}) as AnswerFields;
  const { error, errors, ...fields } = inside(body);
  return [fields, ...[error, errors].flat().map(inside)]
    .flatMap(({ type, code }) => [String(type ?? ''), String(code ?? '')])
    .filter((word) => /^([A-Za-z_]{1,60}|\d{4,5})$/.test(word))
    .slice(0, 4);
}

/** Throws, before any call, for a currency, region or means that the provider is known not to serve. */
export function requireServed(id: ProviderId, request: QuoteRequest, served: ProviderTraits): void {
  const { currency, means = null } = request;
  if (served.currenciesSold?.includes(currency) === false)
    throw new ServiceError('provider_inactive', describeUnsoldCurrency(id, currency));
  requireRegion(id, request, served);
  if (means !== null && !customerFacts[id].means.includes(means))
    throw new ServiceError('provider_inactive', `${providerCatalog[id].name} cannot be asked for ${means}.`);
}

export function requireRegion(
  id: ProviderId,
  { customerCountry = null, customerState = null }: QuoteRequest,
  served: ServedRegions,
): void {
  const region = unservedRegionOf(served, customerCountry, customerState);
  if (region !== null) throw countryNotServed(id, region);
}

export function countryNotServed(id: ProviderId, country: string): ServiceError {
  return new RegionNotServedError(`${providerCatalog[id].name} does not serve customers in ${country}.`);
}

const MAXIMUM_STATES = 100;

/** Returns the regions that a catalog's list of states excludes. An empty list excludes the whole country. */
export function excludedRegions(country: string | null | undefined, states: unknown): ServedRegions {
  if (!country || !Array.isArray(states)) return {};
  const codes = states
    .slice(0, MAXIMUM_STATES)
    .flatMap((state) => /^(?:[A-Z]{2}-)?([A-Z]{2})$/.exec(String(state))?.[1] ?? []);
  const regions = states.length === 0 ? [country] : codes.map((code) => `${country}-${code}`);
  return { regionsNotServed: new Set(regions) };
}

/** Converts a quote's minimum in the payment's currency to USD cents. Returns null if there is none. */
export function minimumUsdCentsOf(minimum: unknown, name: string, request: QuoteRequest): number | null {
  const cents = readCentsOrNull(minimum, name);
  return cents === null ? null : minimumUsdCentsFor(cents, request);
}

/** Requires that an answer states each expected value, such as a currency, coin, network or wallet. */
export function requireStated(fields: AnswerFields, expected: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(expected)) {
    if (readTextOrNull(fields[name])?.toLowerCase() !== value.toLowerCase())
      throw new MalformedAnswerError(`${name} is not ${value}`);
  }
}

/** Requires that an answer states no other currency, coin or network. Absent fields are accepted. */
export function requireNoOther(fields: AnswerFields, expected: Readonly<Record<string, string>>): void {
  const stated = Object.entries(expected).map(([name, value]) => [name, fields[name] ?? value]);
  requireStated(Object.fromEntries(stated), expected);
}

/** Returns the first matching entry of a catalog. Throws if there is none. */
export function entryOf(list: unknown, name: string, isIt: (entry: AnswerFields) => boolean): AnswerFields {
  const entry = listOf(list).find(isIt);
  if (entry === undefined) throw new MalformedAnswerError(`${name} is not in the catalog, or not sold now`);
  return entry;
}

/** Reads the limits of a purchase, in cents of the payment's currency, from the catalog fields with these names. */
export function limitsOf(fields: AnswerFields | undefined, minimum: string, maximum: string) {
  return {
    minimumCents: readCentsOrNull(fields?.[minimum], minimum),
    maximumCents: readCentsOrNull(fields?.[maximum], maximum),
  };
}
