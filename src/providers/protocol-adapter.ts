import { ServiceError, UnknownStateError } from '../domain/errors.ts';
import { type Currency, UNITS_PER_CENT } from '../domain/money.ts';
import type { Address } from '../domain/payout-address.ts';
import {
  type CatalogueEntry,
  type PostedWebhook,
  type ProviderAdapter,
  type ProviderWebhook,
  ProviderWebhookRefusedError,
  type Quote,
  type QuoteRequest,
  type SessionRequest,
  type StartedSession,
} from '../domain/ports/provider.ts';
import { type ProviderId, providerCatalogue } from '../domain/provider-catalogue.ts';
import { createTtlCache } from '../platform/ttl-cache.ts';
import {
  createProviderAgent,
  type JsonAnswer,
  type JsonRequest,
  MalformedAnswerError,
  ProviderBusyError,
  recordAnswers,
  requestJson,
} from './provider-http.ts';

/** Settings of all adapters, whatever their protocol. */
export interface AdapterSettings {
  /** Time limit of all calls that start a session together; a quote is also bounded by two seconds. */
  readonly timeoutMs: number;
  /** Time for which a quote is reused; 0 requests one every time. */
  readonly quoteCacheMs?: number;
  readonly nowMs: () => number;
  readonly monotonicMs?: () => number;
  /** The address at which this provider reaches us with its webhooks. */
  readonly webhookUrl: string;
  /** The contract of USDC on the chain of the service (native USDC on Polygon). */
  readonly usdc?: Address;
  /** Receives what an operator should know about a session that was started nevertheless. */
  readonly warn?: (message: string) => void;
  /** The public root of this service, without a slash at its end. */
  readonly baseUrl: string;
}

/** One call of a conversation that has a deadline as a whole. */
export type Call = (request: Omit<JsonRequest, 'timeoutMs'>) => Promise<JsonAnswer>;

/** The parts that are specific to one provider's protocol; everything else is the same for all. */
export interface Protocol
  extends Pick<
    ProviderAdapter,
    'id' | 'opensOnce' | 'needsCountry' | 'checksReferrer' | 'routedThrough' | 'blockedBecause' | 'endpoint'
  > {
  readCatalogue?(request: QuoteRequest, call: Call): Promise<CatalogueEntry>;
  quote(request: QuoteRequest, call: Call): Promise<Quote>;
  startSession(request: SessionRequest, call: Call): Promise<StartedSession>;
  readWebhook?(webhook: PostedWebhook, call: Call): Promise<ProviderWebhook | null>;
}

/** A page or an API call waits for quotes, so they are bounded harder than sessions. */
const QUOTE_TIMEOUT_MS = 2_000;
const QUOTE_CACHE_MS = 3_000;
const MAXIMUM_CACHED_QUOTES = 500;
/** Providers wait five seconds for our answer to a webhook, and some send no more after a few that came too late. */
const WEBHOOK_TIMEOUT_MS = 4_000;
/** Lifetime of a session's address where the provider names none. */
export const LINK_LIFETIME_MS = 60 * 60_000;

/**
 * Makes an adapter of a protocol: bounds its time, keeps its quotes for a moment, and turns whatever is neither an
 * answer nor a refusal into `provider_unavailable` with its cause.
 */
export function createProtocolAdapter(protocol: Protocol, settings: AdapterSettings): ProviderAdapter {
  const agent = createProviderAgent();
  const { id, quote, startSession, readWebhook, readCatalogue, ...traits } = protocol;
  const quotes = createTtlCache<Quote>({
    monotonicMs: settings.monotonicMs ?? (() => performance.now()),
    keepMs: settings.quoteCacheMs ?? QUOTE_CACHE_MS,
    maximumEntries: MAXIMUM_CACHED_QUOTES,
  });

  async function converse<T>(timeoutMs: number, work: (call: Call) => Promise<T>): Promise<T> {
    const deadlineMs = performance.now() + timeoutMs;
    const call: Call = (request) =>
      requestJson(agent, { ...request, timeoutMs: Math.max(1, Math.ceil(deadlineMs - performance.now())) });
    return await work(call);
  }

  return {
    id,
    ...traits,
    recordAnswers,
    quote: async (request) =>
      quotes.fetchOrReuse(quoteKeyOf(request), () =>
        asProviderUnavailable(
          id,
          converse(Math.min(settings.timeoutMs, QUOTE_TIMEOUT_MS), (call) => quote(request, call)),
        ),
      ),
    cachedQuotes: {
      fresh: (request) => quotes.findFetch(quoteKeyOf(request)),
      expired: (request, maximumExpiredMs) => quotes.peekExpired(quoteKeyOf(request), maximumExpiredMs),
    },
    startSession: (request) =>
      asProviderUnavailable(
        id,
        converse(settings.timeoutMs, (call) => startSession(request, call)),
      ),
    ...(readCatalogue === undefined
      ? {}
      : {
          readCatalogue: (request: QuoteRequest) =>
            asProviderUnavailable(
              id,
              converse(settings.timeoutMs, (call) => readCatalogue(request, call)),
            ),
        }),
    ...(readWebhook === undefined
      ? {}
      : {
          readWebhook: (webhook: PostedWebhook) =>
            classifyWebhookError(
              id,
              converse(Math.min(settings.timeoutMs, WEBHOOK_TIMEOUT_MS), (call) =>
                readWebhook(webhook, call),
              ),
            ),
        }),
  };
}

function quoteKeyOf({ amountCents, currency, usdUnits, customerCountry }: QuoteRequest): string {
  return `${amountCents} ${currency} ${usdUnits} ${customerCountry ?? ''}`;
}

/** The outcome, or `provider_unavailable` for every error that is not a `ServiceError` already. */
async function asProviderUnavailable<T>(id: ProviderId, outcome: Promise<T>): Promise<T> {
  try {
    return await outcome;
  } catch (error) {
    if (error instanceof ServiceError) throw error;
    throw unavailable(id, error);
  }
}

/** A webhook may be refused or unknown; one of another form than expected is unknown too, and loud. */
async function classifyWebhookError(
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

/**
 * The provider understood the request and declined it, which does not concern its health: a customer who requests what is
 * not sold must not open the circuit for all others.
 */
export class DeclinedRequestError extends Error {
  override readonly name = 'DeclinedRequestError';
}

/** The provider did not answer, or not in a way that can be used. */
function unavailable(id: ProviderId, cause: unknown): ServiceError {
  if (cause instanceof ProviderBusyError) return busy(id, cause.retryAfterSeconds, cause);
  const { name } = providerCatalogue[id];
  return new ServiceError('provider_unavailable', `${name} did not respond. Retry later or use "multi".`, {
    cause,
  });
}

/** The provider is asked too often: callers may ask again after these seconds. */
export function busy(id: ProviderId, retryAfterSeconds: number, cause?: ProviderBusyError): ServiceError {
  const { name } = providerCatalogue[id];
  const text = `${name} is busy. Retry in ${retryAfterSeconds} s or use "multi".`;
  return new ServiceError('provider_unavailable', text, { retryAfterSeconds, cause });
}

/** The answer of a call that succeeded; throws for every other, with what the provider said of it in the cause. */
export function requireSuccess(id: ProviderId, answer: JsonAnswer): unknown {
  const { status, body } = answer;
  if (status === 200 || status === 201) return body;
  const message = `${id} answered ${status} ${codesOf(body).join(' ')}`;
  const cause = status === 400 || status === 422 ? new DeclinedRequestError(message) : new Error(message);
  // A merchant sees wrong credentials as a provider that is switched off; the cause in the log is for the operator.
  if (status === 401 || status === 403) {
    const { name } = providerCatalogue[id];
    throw new ServiceError('provider_inactive', `${name} is currently unavailable.`, { cause });
  }
  throw cause;
}

/**
 * The words by which a refusal names its reason. Sentences are left out: they may repeat a key that we sent, and so may
 * whatever holds a digit.
 */
function codesOf(body: unknown): readonly string[] {
  const fields = (typeof body === 'object' && body !== null ? body : {}) as Readonly<Record<string, unknown>>;
  const inner = (fields['error'] ?? {}) as Readonly<Record<string, unknown>>;
  return [fields['type'], fields['code'], inner['type'], inner['code']].filter(
    (word) => typeof word === 'string' && /^[A-Za-z_]{1,60}$/.test(word),
  ) as string[];
}

/** Throws `provider_inactive` for a currency that the provider is known not to take: asking would be for nothing. */
export function requireSold(id: ProviderId, { currency }: QuoteRequest, sold: ReadonlySet<Currency>): void {
  if (sold.has(currency)) return;
  const { name } = providerCatalogue[id];
  throw new ServiceError('provider_inactive', `${name} does not take payments in ${currency}.`);
}

/** The refusal of a provider that serves no customers in a country: the provider is not offered there. */
export function countryNotServed(id: ProviderId, country: string): ServiceError {
  const { name } = providerCatalogue[id];
  return new ServiceError('provider_inactive', `${name} does not serve customers in ${country}.`);
}

/** A provider's minimum in the payment's currency (10⁻⁶) as USD cents, at the payment's own rate, rounded up. */
export function minimumUsdCentsOf(minimumUnits: bigint, request: QuoteRequest): number {
  const chargedUnits = BigInt(request.amountCents) * UNITS_PER_CENT;
  if (chargedUnits === 0n) throw new MalformedAnswerError('nothing is charged');
  const usdUnits = (minimumUnits * request.usdUnits) / chargedUnits;
  return Number((usdUnits + UNITS_PER_CENT - 1n) / UNITS_PER_CENT);
}
