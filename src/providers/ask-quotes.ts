import { isBusy, ServiceError } from '../payment/errors.ts';
import type { ProviderId } from '../payment/provider-catalog.ts';
import type { Charge } from '../payment/session-charge.ts';
import { within } from '../platform/outgoing-calls.ts';
import { createTtlCache } from '../platform/ttl-cache.ts';
import type { Quote, QuoteRequest } from './provider.ts';
import {
  type ProviderDirectory,
  type Refusal,
  refusalOfDelivery,
  refusalOfLimits,
  requireQuote,
} from './provider-availability.ts';

export type QuoteOutcome =
  | { readonly kind: 'quoted'; readonly quote: Quote }
  /** The provider cannot serve this payment. */
  | { readonly kind: 'refused'; readonly refusal: Refusal }
  /** The provider receives too many requests. */
  | { readonly kind: 'busy' }
  /** No usable answer in time. */
  | { readonly kind: 'silent' };

export type Quotes = ReturnType<typeof createQuotes>;

type AskedQuote = readonly [
  provider: ProviderId,
  charge: Charge,
  /** ISO 3166-1 alpha-2; null where it is unknown. Some providers quote no price without it. */
  customerCountry: string | null,
];

export interface QuotesContext {
  readonly providers: ProviderDirectory;
  readonly monotonicMs: () => number;
  /** Lifetime of a quote for the same amount. */
  readonly keepMs: number;
}

/** Maximum time for which the customer's page waits. */
const QUOTE_WAIT_MS = 2_000;
/**
 * Maximum cached quotes: some 1,800 amounts at eleven providers, some 500 bytes each. With fewer, a busy shop would
 * request new quotes for each page.
 */
const MAXIMUM_KEPT_QUOTES = 20_000;
/** Maximum open calls, so that a client that opens many pages cannot pile them up. */
const MAXIMUM_CALLS = 200;

const silent: QuoteOutcome = { kind: 'silent' };
const busy: QuoteOutcome = { kind: 'busy' };

/**
 * Creates quotes for the customer's page, without starting anything: requested concurrently, shared between identical
 * requests, and bounded.
 */
export function createQuotes({ providers, monotonicMs, keepMs }: QuotesContext) {
  const cache = createTtlCache<Quote>({ monotonicMs, keepMs, maximumEntries: MAXIMUM_KEPT_QUOTES });
  let calls = 0;
  const fetchQuote = async (provider: ProviderId, request: QuoteRequest): Promise<Quote> => {
    if (calls >= MAXIMUM_CALLS) throw new ServiceError('provider_unavailable');
    calls++;
    return requireQuote(providers, provider, request).finally(() => calls--);
  };
  return {
    /** The cached outcome, or null. */
    peek(...asked: AskedQuote): QuoteOutcome | null {
      const [provider, charge, customerCountry] = asked;
      const refusal = refusalOfLimits(providers, provider, charge, customerCountry);
      providers.limits?.refresh(provider, charge.currency, customerCountry);
      if (refusal !== null) return { kind: 'refused', refusal };
      const quote = cache.peek(keyOf(...asked));
      return quote === null ? null : outcomeOfQuote(provider, quote, charge);
    },
    /** Never rejects, and ends within two seconds. */
    async ask(...asked: AskedQuote): Promise<QuoteOutcome> {
      const [provider, charge, customerCountry] = asked;
      const { amountCents, currency, usdUnits, accountId } = charge;
      const request = { amountCents, currency, usdUnits, accountId, customerCountry };
      const quote = cache.fetchOrReuse(keyOf(...asked), () => fetchQuote(provider, request));
      const outcome = quote.then((answer) => outcomeOfQuote(provider, answer, charge));
      return within(QUOTE_WAIT_MS, outcome, () => new Error('no quote in time')).catch(outcomeOfError);
    },
  };
}

function keyOf(...[provider, charge, customerCountry]: AskedQuote): string {
  const { amountCents, currency, usdUnits } = charge;
  return `${provider} ${amountCents} ${currency} ${usdUnits} ${customerCountry ?? ''}`;
}

/** Not cached, because payments that share a quote may differ in their maximum fee. */
function outcomeOfQuote(provider: ProviderId, quote: Quote, charge: Charge): QuoteOutcome {
  const refusal = refusalOfDelivery(provider, quote.deliveryUnits, charge);
  return refusal === null ? { kind: 'quoted', quote } : { kind: 'refused', refusal };
}

/** Treats every error except the provider's refusal as silence; the later click reports the error. */
function outcomeOfError(error: unknown): QuoteOutcome {
  if (!(error instanceof ServiceError)) return silent;
  if (error.errorName === 'provider_unavailable') return isBusy(error) ? busy : silent;
  return { kind: 'refused', refusal: { errorName: error.errorName, message: error.message } };
}
