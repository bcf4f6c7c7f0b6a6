import {
  assumedDeliveryUnits,
  customerFacts,
  meansInBrowser,
  type PaymentMeans,
  type ProviderId,
} from '../../payment/provider-catalog.ts';
import type { Charge } from '../../payment/session-charge.ts';
import type { QuoteOutcome, Quotes } from '../../providers/ask-quotes.ts';
import { type ProviderOffer, requireServedAmount } from '../../providers/provider-availability.ts';
import { exploredProvider, orderBySuccess } from '../../providers/provider-success.ts';
import type { Checkout } from './read-checkout.ts';

export interface OfferRow {
  readonly offer: ProviderOffer;
  /** Outcome of the provider's quote; absent if unknown. */
  readonly outcome?: QuoteOutcome | undefined;
  readonly isLastChoice?: boolean;
  /** Payment method; null or absent for the provider's default. */
  readonly means?: PaymentMeans | null | undefined;
}

export interface MeansRow extends OfferRow {
  readonly means: PaymentMeans;
  /** All rows of the payment method in list order, starting with this one. */
  readonly sellers: readonly OfferRow[];
}

export function possibleOffers(offers: readonly ProviderOffer[]): readonly ProviderOffer[] {
  return offers.filter(({ refusal }) => refusal === null);
}

/** Returns what a provider charges if that exceeds the amount; otherwise null. */
export function higherChargeOf({ outcome }: OfferRow, { amountCents }: Charge): number | null {
  const chargedCents = outcome?.kind === 'quoted' ? outcome.quote.chargedCents : amountCents;
  return chargedCents > amountCents ? chargedCents : null;
}

/** Ranks pins first, then the last choice, other offers, higher charges, missing quotes and refusals. */
function rankOf(row: OfferRow, charge: Charge): number {
  const { offer, outcome, isLastChoice = false } = row;
  const { pinnedBy } = offer;
  if (outcome !== undefined && outcome.kind !== 'quoted') return outcome.kind === 'refused' ? 6 : 5;
  if (pinnedBy !== null) return pinnedBy === 'merchant' ? 0 : 1;
  if (higherChargeOf(row, charge) !== null) return 4;
  return isLastChoice ? 2 : 3;
}

/** Sorts by rank, then by expected delivery times success rate, less a higher charge. An offer to explore leads. */
export function inExpectedOrder<Row extends OfferRow>(
  { payment, charge, success }: Pick<Checkout, 'payment' | 'charge' | 'success'>,
  rows: readonly Row[],
  country: string | null = null,
): readonly Row[] {
  const ranked = rows.map((row) => {
    const { provider } = row.offer;
    const quote = row.outcome?.kind === 'quoted' ? row.outcome.quote : null;
    const delivered = quote?.deliveryUnits ?? assumedDeliveryUnits(provider, charge.usdUnits);
    const chargedCents = quote?.chargedCents ?? charge.amountCents;
    return { provider, units: (delivered * BigInt(charge.amountCents)) / BigInt(chargedCents), row };
  });
  const explored = exploredProvider(payment.id, success);
  return orderBySuccess(ranked, success, country, explored)
    .map(({ row }) => row)
    .sort((a, b) => rankOf(a, charge) - rankOf(b, charge));
}

/** Returns payment methods that may work in this browser, each with the first provider that offers it. */
export function meansFor(
  checkout: Pick<Checkout, 'payment' | 'charge' | 'success' | 'offers'>,
  customerCountry: string | null,
  userAgent: string,
  rowOf: (offer: ProviderOffer, means: PaymentMeans) => OfferRow,
): readonly MeansRow[] {
  const ways = meansInBrowser(userAgent).flatMap((means): readonly MeansRow[] => {
    const rows = possibleOffers(checkout.offers)
      .filter(({ provider }) => customerFacts[provider].means.includes(means))
      .map((offer) => ({ ...rowOf(offer, means), means }))
      .filter(({ outcome }) => outcome?.kind !== 'refused');
    const sellers = inExpectedOrder(checkout, rows, customerCountry);
    return sellers.slice(0, 1).map((first) => ({ ...first, sellers }));
  });
  return inExpectedOrder(checkout, ways, customerCountry);
}

/** Returns providers with quotes in the order of the page. Throws `below_minimum` if none accepts the amount. */
export async function rankProviders(
  checkout: Checkout,
  quotes: Quotes,
  customerCountry: string | null,
): Promise<readonly ProviderId[]> {
  requireServedAmount(checkout.offers, checkout.charge.usdUnits);
  const rows = await Promise.all(
    possibleOffers(checkout.offers).map(async (offer) => ({
      offer,
      outcome: await quotes.ask(offer.provider, checkout.charge, customerCountry),
    })),
  );
  return inExpectedOrder(checkout, rows, customerCountry)
    .filter(({ outcome }) => outcome?.kind === 'quoted')
    .map(({ offer }) => offer.provider);
}
