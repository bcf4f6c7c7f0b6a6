import { LRUCache } from 'lru-cache';
import type { MerchantTerms, ProviderChecks } from '../payment/create-payment.ts';
import { isBusy, ServiceError } from '../payment/errors.ts';
import { type Currency, MAXIMUM_AMOUNT_CENTS } from '../payment/money.ts';
import {
  MULTI_PROVIDER,
  namedMeans,
  type PaymentMeans,
  type ProviderId,
  providerCatalog,
} from '../payment/provider-catalog.ts';
import type { Charge } from '../payment/session-charge.ts';
import type { Quote, QuoteRequest } from './provider.ts';
import {
  isEnabledFor,
  listOffers,
  type ProviderDirectory,
  type Refusal,
  refusalOfDelivery,
  refusalOfLimits,
  refusalOfMinimum,
  requireActive,
  requireAmount,
  throwRefusal,
} from './provider-availability.ts';

export type QuoteOutcome =
  /** The provider serves the charge; the quote may be an estimate. */
  | { readonly kind: 'quoted'; readonly quote: Quote }
  | { readonly kind: 'refused'; readonly refusal: Refusal }
  /** The provider's rate limit or this service's call budget allows no call now. */
  | { readonly kind: 'busy' }
  | { readonly kind: 'silent' };

export type Quotes = ReturnType<typeof createQuotes>;

export interface QuotesContext {
  readonly providers: ProviderDirectory;
  readonly nowMs: () => number;
  readonly monotonicMs: () => number;
  /** Minimum age of a provider's last answer before a page view requests another quote in the background. */
  readonly keepMs: number;
}

type Priced = Pick<QuoteRequest, 'amountCents' | 'usdUnits'>;
type AskedCharge = Omit<Charge, 'receivedUnits'>;

interface Point {
  readonly amountCents: number;
  readonly deliveryUnits: number;
  readonly atMs: number;
}

interface Known {
  /** Quotes for up to two clearly different charges, newest first. */
  readonly points: readonly Point[];
  /** Ratio of the customer's charge to the requested amount in the last quote. */
  readonly chargedShare: number;
  readonly minimumUsdCents: number | null;
  /** Outcome and amount of the last call if it returned no quote; otherwise null. */
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

/** Room for eleven providers, ten additional means of payment, four currencies, and the 45 most recent countries. */
const MAXIMUM_KNOWN = 4_000;
/** Minimum interval between a provider's background quotes, across all countries and currencies. */
const BACKGROUND_INTERVAL_MS = 5_000;
/** Minimum ratio of two charges whose quotes reveal a fixed fee. Closer charges mostly reveal how rates move. */
const MINIMUM_RATIO = 1.25;
/** Maximum time between two such quotes, short enough that rates hardly move. */
const MAXIMUM_APART_MS = 10 * 60_000;
/** Maximum plausible ratio of delivery to charge, as for session quotes. */
const MAXIMUM_SHARE = 1.02;
/** Maximum age of a provider's last answer for the provider to count as up. */
const RECENT_ANSWER_MS = 5 * 60_000;

/** Requests and caches quotes. The checkout page shows the last answers and refreshes them at a bounded rate. */
export function createQuotes({ providers, nowMs, monotonicMs, keepMs }: QuotesContext) {
  const entries = new LRUCache<string, Known>({ max: MAXIMUM_KNOWN });
  /** Earliest time of a provider's next background quote; infinite while one is running. */
  const nextAtMs = new Map<ProviderId, number>();

  /** Returns the entry for the country and means, or else the prices for the default means or for no country. */
  function find(provider: ProviderId, request: QuoteRequest): Known {
    const own = entries.get(keyOf(provider, request));
    if (own !== undefined) return own;
    const { points, chargedShare } =
      entries.get(keyOf(provider, { ...request, means: null })) ??
      entries.get(keyOf(provider, { ...request, means: null, customerCountry: null })) ??
      unknown;
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
    // A call refused by this service's own limit says nothing about the provider.
    if (isOwnLimit(error)) return;
    const failure = { outcome: outcomeOfError(error), amountCents: request.amountCents };
    const known = find(provider, request);
    entries.set(keyOf(provider, request), { ...known, failure, askedAtMs: monotonicMs() });
  }

  /** Requests a quote. Throws the adapter's errors, `provider_inactive` without an adapter, or `below_minimum`. */
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

  /** Requests another quote in the background if the last answer is old. Never throws. */
  function refresh(provider: ProviderId, request: QuoteRequest): void {
    const now = monotonicMs();
    if (find(provider, request).askedAtMs + keepMs > now || (nextAtMs.get(provider) ?? 0) > now) return;
    nextAtMs.set(provider, Number.POSITIVE_INFINITY);
    ask(provider, { ...request, isBackground: true })
      .catch(() => {})
      .finally(() => nextAtMs.set(provider, monotonicMs() + BACKGROUND_INTERVAL_MS));
  }

  function outcomeFor(provider: ProviderId, charge: AskedCharge, { points, ...known }: Known): QuoteOutcome {
    if (known.failure !== null && concerns(known.failure, charge)) return known.failure.outcome;
    const deliveryUnits = estimateUnits(points, charge);
    const chargedCents = Math.round(charge.amountCents * known.chargedShare);
    const quote = { chargedCents, deliveryUnits, minimumUsdCents: known.minimumUsdCents };
    // A quote for a smaller charge cannot exclude a larger one, because a fixed fee is a smaller share of the latter.
    const isCertain = points.length > 1 || charge.amountCents <= (points[0]?.amountCents ?? 0);
    const refusal =
      refusalOfMinimum(provider, quote, charge) ??
      (isCertain ? refusalOfDelivery(provider, deliveryUnits, charge) : null);
    return refusal === null ? { kind: 'quoted', quote } : { kind: 'refused', refusal };
  }

  return {
    note,
    /** Returns the expected outcome based on the last answers. Calls the provider only in the background. */
    peek(
      provider: ProviderId,
      charge: Charge,
      customerCountry: string | null,
      means: PaymentMeans | null = null,
      customerState: string | null = null,
    ): QuoteOutcome {
      const refusal = refusalOfLimits(providers, provider, charge, customerCountry, customerState);
      providers.limits?.refresh(provider, charge.currency, customerCountry);
      if (refusal !== null) return { kind: 'refused', refusal };
      const request = { ...requestOf(charge, customerCountry), means: namedMeans(provider, means) };
      refresh(provider, request);
      if (providers.adapters.get(provider)?.isSkipped?.() === true) return silent;
      return outcomeFor(provider, charge, find(provider, request));
    },
    /** Calls the provider now, unless its limits exclude the charge. Never rejects. */
    async ask(provider: ProviderId, charge: Charge, customerCountry: string | null): Promise<QuoteOutcome> {
      const refusal = refusalOfLimits(providers, provider, charge, customerCountry, null);
      if (refusal !== null) return { kind: 'refused', refusal };
      const quote = await ask(provider, requestOf(charge, customerCountry)).catch(outcomeOfError);
      if ('kind' in quote) return quote;
      const tooLittle = refusalOfDelivery(provider, quote.deliveryUnits, charge);
      return tooLittle === null ? { kind: 'quoted', quote } : { kind: 'refused', refusal: tooLittle };
    },
    /**
     * Requires that the provider serves the charge of a new payment. If the provider is busy or the call budget is used
     * up, its last answers decide, so that one merchant's burst does not block another merchant's checkouts.
     */
    async requireServed(provider: ProviderId, charge: AskedCharge): Promise<void> {
      const request = requestOf(charge, null);
      try {
        throwRefusal(refusalOfDelivery(provider, (await ask(provider, request)).deliveryUnits, charge));
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

function keyOf(provider: ProviderId, { currency, customerCountry, means }: QuoteRequest): string {
  return `${provider} ${currency} ${customerCountry ?? ''} ${means ?? ''}`;
}

/** Adds a quote, which replaces the quotes for similar charges. */
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

/** Estimates a charge's delivery from the fees in the last one or two quotes. Returns null without quotes. */
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

/** Returns whether a failure also applies to another charge. A failure caused by a minimum or maximum may not. */
function concerns({ outcome, amountCents }: NonNullable<Known['failure']>, charge: Priced): boolean {
  if (outcome.kind !== 'refused') return true;
  if (outcome.refusal.errorName === 'below_minimum') return charge.amountCents <= amountCents;
  return outcome.refusal.errorName !== 'above_maximum' || charge.amountCents >= amountCents;
}

/** Returns whether the provider was not called, because it is paused or the call budget is used up. */
function isOwnLimit(error: unknown): boolean {
  return isBusy(error) && (error as ServiceError).cause === undefined;
}

/** Converts an error to an outcome. All errors except a refusal or a busy provider count as silence. */
function outcomeOfError(error: unknown): QuoteOutcome {
  if (!(error instanceof ServiceError)) return silent;
  if (error.errorName === 'provider_unavailable') return isBusy(error) ? { kind: 'busy' } : silent;
  return { kind: 'refused', refusal: { errorName: error.errorName, message: error.message } };
}

export function createProviderChecks(
  directory: ProviderDirectory,
  quotes: Pick<Quotes, 'requireServed'>,
): ProviderChecks {
  return {
    async requireChoice(merchant, provider, currency) {
      if (!isEnabledFor(merchant, provider)) {
        throw await disabledProvider(directory, merchant, provider, currency);
      }
      await requireActive(directory, merchant, provider, currency);
    },
    async requireDelivery({ id: accountId }, provider, charge) {
      await requireAmount(directory, provider, charge);
      await quotes.requireServed(provider, { ...charge, accountId });
    },
  };
}

/** Value of the largest amount in 10⁻⁶ USD, which is above every provider's minimum. */
const HIGHEST_USD_UNITS = BigInt(MAXIMUM_AMOUNT_CENTS) * 10_000n;

/** Creates an error that names the account's providers that accept payments in this currency. */
async function disabledProvider(
  directory: ProviderDirectory,
  merchant: MerchantTerms,
  provider: ProviderId,
  currency: Currency,
): Promise<ServiceError> {
  // Ignores limits, because the largest amount would exceed a catalog's maximum.
  const { limits: _, ...withoutLimits } = directory;
  const offers = await listOffers(withoutLimits, merchant, {
    amountCents: MAXIMUM_AMOUNT_CENTS,
    currency,
    usdUnits: HIGHEST_USD_UNITS,
    maxProviderFeeBasisPoints: null,
  });
  const working = offers.filter(({ refusal }) => refusal === null).map((offer) => offer.provider);
  const advice =
    working.length === 0
      ? 'Please contact support.'
      : `Use one of: ${[MULTI_PROVIDER, ...working].join(', ')}. Please contact support for others.`;
  const { name } = providerCatalog[provider];
  return new ServiceError('feature_disabled', `${name} is not enabled for the account. ${advice}`);
}
