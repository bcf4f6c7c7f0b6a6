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
  /** Expected outcome at the provider; absent if unknown. */
  readonly outcome?: QuoteOutcome | undefined;
  readonly isLastChoice?: boolean;
  /** Null or absent for the provider's default ones. */
  readonly means?: PaymentMeans | null | undefined;
}

export interface MeansRow extends OfferRow {
  readonly means: PaymentMeans;
  /** All rows of the means in the order of the list, this one first. */
  readonly sellers: readonly OfferRow[];
}

export function possibleOffers(offers: readonly ProviderOffer[]): readonly ProviderOffer[] {
  return offers.filter(({ refusal }) => refusal === null);
}

/** Charge of a provider that charges more than the amount; otherwise null. */
export function higherChargeOf({ outcome }: OfferRow, { amountCents }: Charge): number | null {
  const chargedCents = outcome?.kind === 'quoted' ? outcome.quote.chargedCents : amountCents;
  return chargedCents > amountCents ? chargedCents : null;
}

/** Pins first, then the last choice, the others, those that charge more than the amount, silent and refused ones. */
function rankOf(row: OfferRow, charge: Charge): number {
  const { offer, outcome, isLastChoice = false } = row;
  const { pinnedBy } = offer;
  if (outcome !== undefined && outcome.kind !== 'quoted') return outcome.kind === 'refused' ? 6 : 5;
  if (pinnedBy !== null) return pinnedBy === 'merchant' ? 0 : 1;
  if (higherChargeOf(row, charge) !== null) return 4;
  return isLastChoice ? 2 : 3;
}

/** Orders by rank, then by expected delivery times the success rate, less a higher charge. The explored one leads. */
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

/** Means that may work in this browser, each with the first listed provider that can be asked for it. */
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

/** Providers that quote for a checkout, in the order of its page. Throws `below_minimum` if none accepts the amount. */
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
