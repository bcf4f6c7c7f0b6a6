import type { ProviderId } from '../../domain/provider-catalogue.ts';
import type { AskQuote, QuoteOutcome } from '../../payments/ask-quotes.ts';
import type { ProviderOffer } from '../../payments/provider-availability.ts';
import { type Html, html, nothing } from '../design/html.ts';
import type { Language } from './languages.ts';
import type { Checkout } from './read-checkout.ts';
import { offerRow, possibleOffers } from './selector.ts';

/** How the offers of a page come by their quotes. */
export interface OffersToAsk {
  readonly askQuote: AskQuote;
  /** Where the customer went the last time; stands first. */
  readonly lastChoice: ProviderId | null;
}

/** An offer whose provider was asked. */
interface AskedOffer {
  readonly offer: ProviderOffer;
  readonly outcome: QuoteOutcome | Promise<QuoteOutcome>;
}

type QuotedOffer = AskedOffer & { readonly outcome: QuoteOutcome };

/**
 * The list of a checkout's offers with what each would deliver. All providers are asked at once. What is known is
 * returned; otherwise the list comes piece by piece. Rows of providers that answer quickly come together, in the order of
 * the list. After that each comes as soon as its provider has answered, and waits for no other. Those of providers that
 * give no quote come last. The pieces never reject.
 */
export function quotedOffers(
  { askQuote, lastChoice }: OffersToAsk,
  checkout: Checkout,
  language: Language,
  nonce: string,
): Html | AsyncGenerator<Html> {
  const asked = lastChoiceFirst(possibleOffers(checkout.offers), lastChoice).map((offer) => ({
    offer,
    outcome: askQuote(offer.provider, checkout.payment),
  }));
  const row = ({ offer, outcome }: QuotedOffer) =>
    offerRow(checkout, { offer, outcome, isLastChoice: offer.provider === lastChoice }, language);
  return asked.every(isQuoted)
    ? html`${listBegin}${asked.map(row)}${listEnd}${bestMark(asked, nonce)}`
    : streamOffers(asked, row, nonce);
}

/** So long the rows of quick providers are collected: a customer does not notice it, and their order stays the same. */
const GATHER_MS = 300;

const listBegin = html`<ul class="offers">`;
const listEnd = html`</ul>`;

async function* streamOffers(
  asked: readonly AskedOffer[],
  row: (offer: QuotedOffer) => Html,
  nonce: string,
): AsyncGenerator<Html> {
  const answers = asked.map(async ({ offer, outcome }) => ({ offer, outcome: await outcome }));
  const arrived = new Set<QuotedOffer>();
  const pending = new Set(answers);
  for (const answer of answers) {
    void answer.then((offer) => {
      arrived.add(offer);
      pending.delete(answer);
    });
  }
  const sent = new Set<QuotedOffer>();
  /** The rows that have arrived since, in the order of the list. */
  const take = (isWanted: (offer: QuotedOffer) => boolean): Html[] => {
    const next = asked.flatMap(({ offer }) =>
      [...arrived].filter((each) => each.offer === offer && !sent.has(each) && isWanted(each)),
    );
    for (const each of next) sent.add(each);
    return next.map(row);
  };
  yield listBegin;
  await withinMs(Promise.all(answers), GATHER_MS);
  while (pending.size > 0) {
    const rows = take(hasAnswered);
    if (rows.length > 0) yield html`${rows}`;
    await Promise.race(pending);
  }
  yield html`${take(hasAnswered)}${take(() => true)}${listEnd}${bestMark([...arrived], nonce)}`;
}

/** Providers that are silent, busy or cannot serve stand behind the others. */
function hasAnswered({ outcome }: QuotedOffer): boolean {
  return outcome.kind === 'quoted';
}

function withinMs(work: Promise<unknown>, milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    void work.then(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}

function isQuoted(asked: AskedOffer): asked is QuotedOffer {
  return !(asked.outcome instanceof Promise);
}

/**
 * Shows the mark of those who deliver most. Its place is kept in every row, and who shows it is known at the end: said
 * by a rule of style, it takes no script and moves nothing.
 */
function bestMark(offers: readonly QuotedOffer[], nonce: string): Html {
  const best = bestOf(offers).map((provider) => `#offer-${provider} .best`);
  return best.length === 0
    ? nothing
    : html`<style nonce="${nonce}">${best.join(',')}{visibility:visible}</style>`;
}

function lastChoiceFirst(
  offers: readonly ProviderOffer[],
  lastChoice: ProviderId | null,
): readonly ProviderOffer[] {
  const isLast = ({ provider }: ProviderOffer) => provider === lastChoice;
  return [...offers.filter(isLast), ...offers.filter((offer) => !isLast(offer))];
}

/** All charge the same, so the best ones deliver most of it; none where no two differ. */
function bestOf(offers: readonly QuotedOffer[]): readonly ProviderId[] {
  const quoted = offers.flatMap(({ offer: { provider }, outcome }) =>
    outcome.kind === 'quoted' && outcome.quote.deliveryUnits !== null
      ? [{ provider, units: outcome.quote.deliveryUnits }]
      : [],
  );
  let most = 0n;
  for (const { units } of quoted) if (units > most) most = units;
  const best = quoted.filter(({ units }) => units === most);
  return best.length < quoted.length ? best.map(({ provider }) => provider) : [];
}
