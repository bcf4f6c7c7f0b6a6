import { ServiceError, UnknownStateError } from '../domain/errors.ts';
import { type Currency, UNITS_PER_CENT } from '../domain/money.ts';
import {
  type ProviderWebhook,
  ProviderWebhookRefusedError,
  type QuoteRequest,
} from '../domain/ports/provider.ts';
import { type ProviderId, providerCatalogue } from '../domain/provider-catalogue.ts';
import {
  type AnswerFields,
  createProviderAgent,
  fieldsOf,
  type JsonAnswer,
  type JsonRequest,
  MalformedAnswerError,
  ProviderBusyError,
  requestJson,
} from './provider-http.ts';

type CallRequest = Omit<JsonRequest, 'timeoutMs'>;

/** The calls of a conversation that has a deadline as a whole. */
export interface Call {
  /** The JSON object of an answer that is a success; throws for every other (`requireSuccess`). */
  fields(request: CallRequest): Promise<AnswerFields>;
  /** The JSON of an answer that is a success, whatever its form. */
  body(request: CallRequest): Promise<unknown>;
  /** Any answer. */
  answer(request: CallRequest): Promise<JsonAnswer>;
}

/** Runs conversations with one provider, each within its time limit, with these headers in every call. */
export function createConversations(id: ProviderId, headers: Readonly<Record<string, string>> = {}) {
  const agent = createProviderAgent();
  return async <T>(timeoutMs: number, work: (call: Call) => Promise<T>): Promise<T> => {
    const deadlineMs = performance.now() + timeoutMs;
    const answer = (request: CallRequest) =>
      requestJson(agent, {
        ...request,
        headers: { ...headers, ...request.headers },
        timeoutMs: Math.max(1, Math.ceil(deadlineMs - performance.now())),
      });
    const body = async (request: CallRequest) => requireSuccess(id, await answer(request));
    return await work({ answer, body, fields: async (request) => fieldsOf(await body(request)) });
  };
}

/** The outcome, or `provider_unavailable` for every error that is not a `ServiceError` already. */
export async function asProviderUnavailable<T>(id: ProviderId, outcome: Promise<T>): Promise<T> {
  try {
    return await outcome;
  } catch (error) {
    if (error instanceof ServiceError) throw error;
    throw unavailable(id, error);
  }
}

/** Passes on refusals and unknown states; a malformed webhook counts as an unknown state, which is logged as an error. */
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

/**
 * The provider understood the request and declined it, which does not concern its health: a customer who requests what is
 * not sold must not open the circuit for all others.
 */
export class DeclinedRequestError extends Error {
  override readonly name = 'DeclinedRequestError';
}

/** The provider did not answer, or not in a way that can be used. */
export function unavailable(id: ProviderId, cause: unknown): ServiceError {
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

/** Throws `provider_inactive` for a currency that the provider does not take, without a call. */
export function requireSold(id: ProviderId, { currency }: QuoteRequest, sold?: readonly Currency[]): void {
  if (sold === undefined || sold.includes(currency)) return;
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
