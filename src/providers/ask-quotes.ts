import { LRUCache } from 'lru-cache';
import { isBusy, ServiceError } from '../payment/errors.ts';
import type { ProviderId } from '../payment/provider-catalog.ts';
import type { Charge } from '../payment/session-charge.ts';
import type { Quote, QuoteRequest } from './provider.ts';
import {
  type ProviderDirectory,
  type Refusal,
  refusalOfDelivery,
  refusalOfLimits,
  refusalOfMinimum,
  requireDelivery,
  throwRefusal,
} from './provider-availability.ts';

export type QuoteOutcome =
  /** A provider that serves, and its quote or an estimate of it. */
  | { readonly kind: 'quoted'; readonly quote: Quote }
  | { readonly kind: 'refused'; readonly refusal: Refusal }
  /** The provider receives too many requests. */
  | { readonly kind: 'busy' }
  /** No usable answer. */
  | { readonly kind: 'silent' };

export type Quotes = ReturnType<typeof createQuotes>;

export interface QuotesContext {
  readonly providers: ProviderDirectory;
  readonly nowMs: () => number;
  readonly monotonicMs: () => number;
  /** Minimum age of a provider's last answer for a page to ask again in the background. */
  readonly keepMs: number;
}

type Priced = Pick<QuoteRequest, 'amountCents' | 'usdUnits'>;
type AskedCharge = Omit<Charge, 'receivedUnits'>;

/** A charge and what a provider would deliver for it. */
interface Point {
  readonly amountCents: number;
  readonly deliveryUnits: number;
  readonly atMs: number;
}

/** Last answers of a provider in a currency and country. */
interface Known {
  /** Quotes of clearly different charges, the newest first. */
  readonly points: readonly Point[];
  /** Charge of the last quote per amount. */
  readonly chargedShare: number;
  readonly minimumUsdCents: number | null;
  /** Outcome of the last call if it gave no quote, and its charge. */
  readonly failure: { readonly outcome: QuoteOutcome; readonly amountCents: number } | null;
  readonly askedAtMs: number;
}

const unknown: Known = {
  points: [],
  chargedShare: 1,
  minimumUsdCents: null,
  failure: null,
  askedAtMs: Number.NEGATIVE_INFINITY,
};

/** Eleven providers, four currencies, and the 45 most recent countries of customers. */
const MAXIMUM_KNOWN = 2_000;
/** Interval of a provider's background quotes, whatever countries and currencies visitors name. */
const BACKGROUND_INTERVAL_MS = 5_000;
/** Minimum ratio of two charges whose quotes show a fixed fee; quotes of closer charges show how rates move. */
const MINIMUM_RATIO = 1.25;
/** Maximum time between them, in which rates hardly move. */
const MAXIMUM_APART_MS = 10 * 60_000;
/** Maximum plausible delivery of a charge, as for the quotes of sessions. */
const MAXIMUM_SHARE = 1.02;
/** Maximum age of an answer with which a provider counts as up. */
const RECENT_ANSWER_MS = 5 * 60_000;

/**
 * Asks providers for quotes, and keeps what their last answers say about other charges: the customer's page shows that
 * immediately, and refreshes it in the background at a bounded rate.
 */
export function createQuotes({ providers, nowMs, monotonicMs, keepMs }: QuotesContext) {
  const entries = new LRUCache<string, Known>({ max: MAXIMUM_KNOWN });
  /** When a provider may be asked in the background again; infinite while it is. */
  const nextAtMs = new Map<ProviderId, number>();

  /** What is known for the country, or the prices without a country. */
  function find(provider: ProviderId, request: QuoteRequest): Known {
    const own = entries.get(keyOf(provider, request));
    if (own !== undefined) return own;
    const { points, chargedShare } =
      entries.get(keyOf(provider, { ...request, customerCountry: null })) ?? unknown;
    return { ...unknown, points, chargedShare };
  }

  function note(
    provider: ProviderId,
    request: QuoteRequest,
    { deliveryUnits, minimumUsdCents, chargedCents }: Pick<Quote, 'deliveryUnits'> & Partial<Quote>,
  ): void {
    const known = find(provider, request);
    const { amountCents } = request;
    entries.set(keyOf(provider, request), {
      points: pointsWith(known.points, request, deliveryUnits, monotonicMs()),
      chargedShare: chargedCents === undefined ? known.chargedShare : chargedCents / amountCents,
      minimumUsdCents: minimumUsdCents ?? known.minimumUsdCents,
      failure: null,
      askedAtMs: monotonicMs(),
    });
  }

  function noteFailure(provider: ProviderId, request: QuoteRequest, error: unknown): void {
    // Says nothing about the provider.
    if (isOwnLimit(error)) return;
    const failure = { outcome: outcomeOfError(error), amountCents: request.amountCents };
    const known = find(provider, request);
    entries.set(keyOf(provider, request), { ...known, failure, askedAtMs: monotonicMs() });
  }

  /** The provider's quote. Throws like the adapter, `provider_inactive` without one, or `below_minimum`. */
  async function ask(provider: ProviderId, request: QuoteRequest): Promise<Quote> {
    const adapter = providers.adapters.get(provider);
    if (adapter === undefined) throw new ServiceError('provider_inactive');
    const quote = await adapter.quote(request).catch((error: unknown) => {
      noteFailure(provider, request, error);
      throw error;
    });
    note(provider, request, quote);
    throwRefusal(refusalOfMinimum(provider, quote, request));
    return quote;
  }

  /** Asks again in the background if the last answer is old. Never fails. */
  function refresh(provider: ProviderId, request: QuoteRequest): void {
    const now = monotonicMs();
    if (find(provider, request).askedAtMs + keepMs > now || (nextAtMs.get(provider) ?? 0) > now) return;
    nextAtMs.set(provider, Number.POSITIVE_INFINITY);
    ask(provider, { ...request, isBackground: true })
      .catch(() => {})
      .finally(() => nextAtMs.set(provider, monotonicMs() + BACKGROUND_INTERVAL_MS));
  }

  /** What the last answers say about a charge. */
  function outcomeFor(provider: ProviderId, charge: AskedCharge, { points, ...known }: Known): QuoteOutcome {
    if (known.failure !== null && concerns(known.failure, charge)) return known.failure.outcome;
    const deliveryUnits = estimateUnits(points, charge);
    const chargedCents = Math.round(charge.amountCents * known.chargedShare);
    const quote = { chargedCents, deliveryUnits, minimumUsdCents: known.minimumUsdCents };
    // A share alone says nothing about a larger charge, whose fixed fee is a smaller part.
    const isCertain = points.length > 1 || charge.amountCents <= (points[0]?.amountCents ?? 0);
    const refusal =
      refusalOfMinimum(provider, quote, charge) ??
      (isCertain ? refusalOfDelivery(provider, deliveryUnits, charge) : null);
    return refusal === null ? { kind: 'quoted', quote } : { kind: 'refused', refusal };
  }

  return {
    note,
    /** The outcome to expect, without a call that the caller waits for. */
    peek(provider: ProviderId, charge: Charge, customerCountry: string | null): QuoteOutcome {
      const refusal = refusalOfLimits(providers, provider, charge, customerCountry);
      providers.limits?.refresh(provider, charge.currency, customerCountry);
      if (refusal !== null) return { kind: 'refused', refusal };
      const request = requestOf(charge, customerCountry);
      refresh(provider, request);
      if (providers.adapters.get(provider)?.isSkipped?.() === true) return silent;
      return outcomeFor(provider, charge, find(provider, request));
    },
    /** The outcome of a call. Never rejects. */
    async ask(provider: ProviderId, charge: Charge, customerCountry: string | null): Promise<QuoteOutcome> {
      const refusal = refusalOfLimits(providers, provider, charge, customerCountry);
      if (refusal !== null) return { kind: 'refused', refusal };
      const quote = await ask(provider, requestOf(charge, customerCountry)).catch(outcomeOfError);
      if ('kind' in quote) return quote;
      const tooLittle = refusalOfDelivery(provider, quote.deliveryUnits, charge);
      return tooLittle === null ? { kind: 'quoted', quote } : { kind: 'refused', refusal: tooLittle };
    },
    /**
     * Requires a provider that serves the charge, at creation. A busy one that answered recently, or whose share of calls
     * is used up, is judged by its last answers, because its price is checked on the customer's click, and one merchant's
     * burst must not refuse another merchant's checkout.
     */
    async requireServed(provider: ProviderId, charge: AskedCharge): Promise<void> {
      const request = requestOf(charge, null);
      try {
        requireDelivery(provider, (await ask(provider, request)).deliveryUnits, charge);
      } catch (error) {
        if (!isBusy(error)) throw error;
        const known = entries.get(keyOf(provider, request));
        const expected = known && outcomeFor(provider, charge, known);
        if (expected?.kind === 'refused') throwRefusal(expected.refusal);
        const lastAnswerAtMs = providers.adapters.get(provider)?.health?.().lastAnswerAtMs ?? null;
        const isThere = lastAnswerAtMs !== null && lastAnswerAtMs > nowMs() - RECENT_ANSWER_MS;
        const isAnswered = isThere || (isOwnLimit(error) && expected?.kind === 'quoted');
        if (expected?.kind === 'silent' || !isAnswered) throw error;
      }
    },
  };
}

const silent: QuoteOutcome = { kind: 'silent' };

function requestOf(charge: AskedCharge, customerCountry: string | null): QuoteRequest {
  const { amountCents, currency, usdUnits, accountId } = charge;
  return { amountCents, currency, usdUnits, accountId, customerCountry };
}

function keyOf(provider: ProviderId, { currency, customerCountry }: QuoteRequest): string {
  return `${provider} ${currency} ${customerCountry ?? ''}`;
}

/** Adds a quote; of charges that hardly differ, the newer one counts. */
function pointsWith(
  points: readonly Point[],
  { amountCents, usdUnits }: Priced,
  delivered: bigint | null,
  atMs: number,
): readonly Point[] {
  const deliveryUnits = Number(delivered ?? 0n);
  if (deliveryUnits <= 0 || deliveryUnits > Number(usdUnits) * MAXIMUM_SHARE) return points;
  const differs = (other: Point) =>
    Math.max(other.amountCents / amountCents, amountCents / other.amountCents) >= MINIMUM_RATIO;
  const other = points.find((point) => differs(point) && point.atMs > atMs - MAXIMUM_APART_MS);
  return [{ amountCents, deliveryUnits, atMs }, ...(other === undefined ? [] : [other])];
}

/** Share and fixed part of the last quotes, applied to a charge; null if there is none. */
function estimateUnits([last, other]: readonly Point[], { amountCents, usdUnits }: Priced): bigint | null {
  if (last === undefined) return null;
  const share = last.deliveryUnits / last.amountCents;
  const slope =
    other === undefined
      ? share
      : (last.deliveryUnits - other.deliveryUnits) / (last.amountCents - other.amountCents);
  const units = last.deliveryUnits + Math.max(slope, 0) * (amountCents - last.amountCents);
  return BigInt(Math.round(Math.min(Math.max(units, 0), Number(usdUnits) * MAXIMUM_SHARE)));
}

/** Whether a failure says something about another charge, which may be above a minimum or below a maximum. */
function concerns({ outcome, amountCents }: NonNullable<Known['failure']>, charge: Priced): boolean {
  if (outcome.kind !== 'refused') return true;
  if (outcome.refusal.errorName === 'below_minimum') return charge.amountCents <= amountCents;
  return outcome.refusal.errorName !== 'above_maximum' || charge.amountCents >= amountCents;
}

/** Whether the provider was not asked, because it is paused or our own budget is used up. */
function isOwnLimit(error: unknown): boolean {
  return isBusy(error) && (error as ServiceError).cause === undefined;
}

/** Treats every error except the provider's refusal as silence; the later click reports the error. */
function outcomeOfError(error: unknown): QuoteOutcome {
  if (!(error instanceof ServiceError)) return silent;
  if (error.errorName === 'provider_unavailable') return isBusy(error) ? { kind: 'busy' } : silent;
  return { kind: 'refused', refusal: { errorName: error.errorName, message: error.message } };
}
