import { isBusy, ServiceError } from '../domain/errors.ts';
import type { Payment } from '../domain/payment.ts';
import type { Quote, QuoteRequest } from '../domain/ports/provider.ts';
import type { ProviderId } from '../domain/provider-catalogue.ts';
import { createTtlCache } from '../platform/ttl-cache.ts';
import {
  type ProviderDirectory,
  type Refusal,
  refusalOfDelivery,
  refusalOfLimits,
  requireQuote,
} from './provider-availability.ts';

/** The outcome of a quote request. */
export type QuoteOutcome =
  | { readonly kind: 'quoted'; readonly quote: Quote }
  /** The provider says that it cannot serve this payment. */
  | { readonly kind: 'refused'; readonly refusal: Refusal }
  /** The provider is asked too often at the moment. */
  | { readonly kind: 'busy' }
  /** No answer in time, or none that means anything. */
  | { readonly kind: 'silent' };

/**
 * Asks a provider what it would do for a payment, without starting anything; a promise only where it is not known yet.
 * Never rejects, and ends within two seconds.
 */
export type AskQuote = (
  provider: ProviderId,
  payment: QuotedPayment,
  /** ISO 3166-1 alpha-2; null where it is unknown. Some providers quote no price without it. */
  customerCountry: string | null,
) => QuoteOutcome | Promise<QuoteOutcome>;

type QuotedPayment = QuoteRequest & Pick<Payment, 'maxProviderFeeBasisPoints' | 'accountId'>;

export interface AskQuoteContext {
  readonly providers: ProviderDirectory;
  readonly monotonicMs: () => number;
  /** Time for which a quote is reused for the same amount. */
  readonly keepMs: number;
}

/** The customer's page waits for that long, and no longer. */
const QUOTE_WAIT_MS = 2_000;
/** Maximum cached quotes: some 1,800 amounts, each of eleven providers, some 300 bytes each. With fewer, a busy shop requested new quotes for each page. */
const MAXIMUM_KEPT_QUOTES = 20_000;
/** Maximum open calls: a client that opens pages as fast as it can must not pile up calls. */
const MAXIMUM_CALLS = 200;

const silent: QuoteOutcome = { kind: 'silent' };
const busy: QuoteOutcome = { kind: 'busy' };

/** Quotes for the customer's page: requested concurrently, shared between identical requests, and bounded. */
export function createAskQuote({ providers, monotonicMs, keepMs }: AskQuoteContext): AskQuote {
  const reuse = createTtlCache<Quote>({ monotonicMs, keepMs, maximumEntries: MAXIMUM_KEPT_QUOTES });
  let calls = 0;
  const ask = async (provider: ProviderId, request: QuoteRequest): Promise<Quote> => {
    if (calls >= MAXIMUM_CALLS) throw new ServiceError('provider_unavailable');
    calls++;
    return requireQuote(providers, provider, request).finally(() => calls--);
  };
  return (provider, payment, customerCountry) => {
    const { amountCents, currency, usdUnits, accountId } = payment;
    const known = refusalOfLimits(providers, provider, payment, customerCountry);
    providers.limits?.refresh(provider, currency, customerCountry);
    if (known !== null) return { kind: 'refused', refusal: known };
    const request = { amountCents, currency, usdUnits, accountId, customerCountry };
    const key = `${provider} ${amountCents} ${currency} ${usdUnits} ${customerCountry ?? ''}`;
    const quote = reuse(key, () => ask(provider, request));
    // What is remembered is shared by payments whose maximum fees differ.
    const outcomeOfQuote = (answer: Quote): QuoteOutcome => {
      const refusal = refusalOfDelivery(provider, answer.deliveryUnits, payment);
      return refusal === null ? { kind: 'quoted', quote: answer } : { kind: 'refused', refusal };
    };
    if (!(quote instanceof Promise)) return outcomeOfQuote(quote);
    return withinQuoteWait(quote.then(outcomeOfQuote, outcomeOfError));
  };
}

/** Treats every error except the provider's refusal as silence. The click that follows names and logs the error. */
function outcomeOfError(error: unknown): QuoteOutcome {
  if (!(error instanceof ServiceError)) return silent;
  if (error.errorName === 'provider_unavailable') return isBusy(error) ? busy : silent;
  return { kind: 'refused', refusal: { errorName: error.errorName, message: error.message } };
}

function withinQuoteWait(outcome: Promise<QuoteOutcome>): Promise<QuoteOutcome> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, QUOTE_WAIT_MS, silent);
    void outcome.then((given) => {
      clearTimeout(timer);
      resolve(given);
    });
  });
}
