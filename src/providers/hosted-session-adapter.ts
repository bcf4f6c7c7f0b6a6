/**
 * A protocol of our own, for those providers whose real one is not built yet: a small JSON API with an API key.
 *
 *   GET  {base}/quote?amount=10.00&currency=EUR&usd_value=10.900000
 *        → 200 {"status": "available", "delivery_amount": "10.355000" | null, "minimum_usd": "5.00" | null}
 *   POST {base}/sessions {amount, currency, usd_value, wallet_address, external_id, email, return_url}
 *        → 201 {"id", "url", "expires_at", "delivery_amount"}
 *   a refusal of either → 401 | 403 | 422 {"error": {"code": "suspended" | "unauthorized" | "below_minimum", "minimum_usd"?}}
 *
 * No real provider speaks it. Each real one gets an adapter of its own beside this file, with its facts and sources
 * in the header (docs/providers.md says which have one); this one is written as if the other side were not ours.
 */
import type { Agent } from 'undici';
import { createBriefCache } from '../domain/brief-cache.ts';
import { ServiceError, UnknownStateError } from '../domain/errors.ts';
import { formatCents, formatUnits } from '../domain/money.ts';
import type {
  ProviderAdapter,
  Quote,
  QuoteRequest,
  SessionRequest,
  StartedSession,
} from '../domain/ports/provider.ts';
import { type ProviderId, providerCatalogue } from '../domain/provider-catalogue.ts';
import {
  fieldsOf,
  readCentsOrNull,
  readRedirectUrl,
  readReference,
  readTimeMs,
  readUnitsOrNull,
} from './read-answer.ts';
import { createProviderAgent, type JsonAnswer, quote, requestJson } from './request-json.ts';

export interface HostedSessionOptions {
  readonly id: ProviderId;
  /** Without a trailing slash. */
  readonly baseUrl: string;
  readonly apiKey: string;
  /** For starting a session; a quote is bounded by two seconds besides. */
  readonly timeoutMs: number;
  /** How long a quote is reused; 0 asks every time. */
  readonly quoteCacheMs?: number;
  readonly monotonicMs?: () => number;
}

/** A page or an API call waits for quotes, so they are bounded harder than sessions. */
const QUOTE_TIMEOUT_MS = 2_000;
const QUOTE_CACHE_MS = 3_000;
const MAXIMUM_CACHED_QUOTES = 500;

/** What a refusal means to the caller; an unknown one is the provider's fault and says so in the cause. */
function refusal(
  { id, apiKey }: HostedSessionOptions,
  request: QuoteRequest,
  answer: JsonAnswer,
): ServiceError {
  const { name } = providerCatalogue[id];
  const error = fieldsOf(fieldsOf(answer.body)['error']);
  const code = error['code'];
  const cause = new Error(`${id} answered ${answer.status} ${quote(code, apiKey)}`);
  if (code === 'below_minimum') {
    const minimumCents = readCentsOrNull(error, 'minimum_usd');
    const given = formatCents(Number(request.usdUnits / 10_000n));
    const minimum = minimumCents === null ? 'higher' : `${formatCents(minimumCents)} USD`;
    return new ServiceError(
      'below_minimum',
      `The minimum of ${name} is ${minimum}; the amount given is ${given} USD.`,
      { cause },
    );
  }
  // Wrong credentials look to a merchant like a provider that is switched off; the cause tells the operator.
  if (code === 'suspended' || code === 'unauthorized') {
    return new ServiceError('provider_inactive', `${name} is currently unavailable.`, { cause });
  }
  throw new UnknownStateError(`${id} answered ${answer.status} with the unknown code ${quote(code, apiKey)}`);
}

function readQuote(body: unknown, apiKey: string): Quote {
  const fields = fieldsOf(body);
  if (fields['status'] !== 'available') {
    throw new UnknownStateError(`unknown quote status ${quote(fields['status'], apiKey)}`);
  }
  return {
    deliveryUnits: readUnitsOrNull(fields, 'delivery_amount'),
    minimumUsdCents: readCentsOrNull(fields, 'minimum_usd'),
  };
}

function readSession(body: unknown): StartedSession {
  const fields = fieldsOf(body);
  return {
    redirectUrl: readRedirectUrl(fields['url']),
    providerReference: readReference(fields['id']),
    expiresAtMs: readTimeMs(fields['expires_at']),
    quotedUnits: readUnitsOrNull(fields, 'delivery_amount'),
  };
}

/** Runs one call; whatever is neither an answer nor a refusal becomes provider_unavailable with its cause. */
async function converse<T>(
  options: HostedSessionOptions,
  request: QuoteRequest,
  call: () => Promise<JsonAnswer>,
  read: (body: unknown, apiKey: string) => T,
): Promise<T> {
  try {
    const answer = await call();
    if (answer.status === 200 || answer.status === 201) return read(answer.body, options.apiKey);
    throw refusal(options, request, answer);
  } catch (error) {
    if (error instanceof ServiceError) throw error;
    const { name } = providerCatalogue[options.id];
    throw new ServiceError('provider_unavailable', `${name} did not respond. Retry later or use "multi".`, {
      cause: error,
    });
  }
}

async function fetchQuote(
  agent: Agent,
  options: HostedSessionOptions,
  request: QuoteRequest,
): Promise<Quote> {
  const query = new URLSearchParams({
    amount: formatCents(request.amountCents),
    currency: request.currency,
    usd_value: formatUnits(request.usdUnits),
  });
  const call = () =>
    requestJson(agent, {
      method: 'GET',
      url: `${options.baseUrl}/quote?${query}`,
      headers: { authorization: `Bearer ${options.apiKey}` },
      timeoutMs: Math.min(options.timeoutMs, QUOTE_TIMEOUT_MS),
    });
  return await converse(options, request, call, readQuote);
}

async function startSession(
  agent: Agent,
  options: HostedSessionOptions,
  request: SessionRequest,
): Promise<StartedSession> {
  const call = () =>
    requestJson(agent, {
      method: 'POST',
      url: `${options.baseUrl}/sessions`,
      headers: { authorization: `Bearer ${options.apiKey}` },
      timeoutMs: options.timeoutMs,
      body: {
        amount: formatCents(request.amountCents),
        currency: request.currency,
        usd_value: formatUnits(request.usdUnits),
        wallet_address: request.depositAddress,
        external_id: request.paymentId,
        email: request.email,
        return_url: request.returnUrl,
      },
    });
  return await converse(options, request, call, readSession);
}

/** An adapter for one provider id. Throws as the port says: provider_unavailable, provider_inactive, below_minimum. */
export function createHostedSessionAdapter(options: HostedSessionOptions): ProviderAdapter {
  const agent = createProviderAgent();
  const reuseQuote = createBriefCache<Quote>({
    monotonicMs: options.monotonicMs ?? (() => performance.now()),
    keepMs: options.quoteCacheMs ?? QUOTE_CACHE_MS,
    maximumEntries: MAXIMUM_CACHED_QUOTES,
  });
  return {
    id: options.id,
    quote: (request) =>
      reuseQuote(`${request.amountCents} ${request.currency} ${request.usdUnits}`, () =>
        fetchQuote(agent, options, request),
      ),
    startSession: (request) => startSession(agent, options, request),
  };
}
