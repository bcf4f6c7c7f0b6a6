import type { ProviderId } from '../../domain/provider-catalogue.ts';
import type { AskQuote, QuoteOutcome } from '../../payments/ask-quotes.ts';
import type { ProviderOffer } from '../../payments/provider-availability.ts';
import { type Html, html } from '../design/html.ts';
import type { Language } from './languages.ts';
import type { Checkout } from './read-checkout.ts';
import { offerRow, possibleOffers } from './selector.ts';

/** How the offers of a page come by their quotes. */
export interface OffersToAsk {
  readonly askQuote: AskQuote;
  /** Where the customer went the last time; stands first. */
  readonly lastChoice: ProviderId | null;
}

/**
 * The list of a checkout's offers, piece by piece: all providers are asked at once, and each row is sent when its
 * provider has answered or its time is over, in an order that does not depend on who is quick. The place of the mark
 * for the best value is kept in every row; which one shows it is known at the end, and said by a rule of style, so that
 * it takes no script and moves nothing. Never rejects.
 */
export async function* streamOffers(
  { askQuote, lastChoice }: OffersToAsk,
  checkout: Checkout,
  language: Language,
  nonce: string,
): AsyncGenerator<Html> {
  const asked = lastChoiceFirst(possibleOffers(checkout.offers), lastChoice).map((offer) => ({
    offer,
    outcome: askQuote(offer.provider, checkout.payment),
  }));
  const outcomes = new Map<ProviderId, QuoteOutcome>();
  // Rows that are known are sent together: a page whose quotes are all at hand is one piece and not fourteen.
  let known: Html[] = [html`<ul class="offers">`];
  for (const { offer, outcome: asking } of asked) {
    if (asking instanceof Promise) {
      yield html`${known}`;
      known = [];
    }
    const outcome = asking instanceof Promise ? await asking : asking;
    outcomes.set(offer.provider, outcome);
    known.push(offerRow(checkout, { offer, outcome, isLastChoice: offer.provider === lastChoice }, language));
  }
  known.push(html`</ul>`);
  const best = bestOf(outcomes).map((provider) => `#offer-${provider} .best`);
  if (best.length > 0) {
    known.push(html`<style nonce="${nonce}">${best.join(',')}{visibility:visible}</style>`);
  }
  yield html`${known}`;
}

function lastChoiceFirst(
  offers: readonly ProviderOffer[],
  lastChoice: ProviderId | null,
): readonly ProviderOffer[] {
  const isLast = ({ provider }: ProviderOffer) => provider === lastChoice;
  return [...offers.filter(isLast), ...offers.filter((offer) => !isLast(offer))];
}

/** All charge the same, so the best ones deliver most of it; none where no two differ. */
function bestOf(outcomes: ReadonlyMap<ProviderId, QuoteOutcome>): readonly ProviderId[] {
  const quoted = [...outcomes].flatMap(([provider, outcome]) =>
    outcome.kind === 'quoted' && outcome.quote.deliveryUnits !== null
      ? [{ provider, units: outcome.quote.deliveryUnits }]
      : [],
  );
  let most = 0n;
  for (const { units } of quoted) if (units > most) most = units;
  const best = quoted.filter(({ units }) => units === most);
  return best.length < quoted.length ? best.map(({ provider }) => provider) : [];
}
