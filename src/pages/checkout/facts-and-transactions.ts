import type { ChainObservations, Deposit, Payment } from '../../payment/payment.ts';
import {
  fillIn,
  formatClock,
  formatTime,
  formatUsdc,
  type Language,
} from '../../web/checkout-layout/languages.ts';
import { type Html, html, nothing } from '../../web/design/html.ts';
import { fact, transactionLink } from '../../web/signed-in/payment-words.ts';
import { arrivalsOf, type CheckoutView } from './checkout-view.ts';
import { nameOf } from './choose-words.ts';
import { type Checkout, isStuck } from './read-checkout.ts';

/** Function that returns a transaction's URL in a block explorer; null if there is no explorer. */
export type ExplorerTransactionUrl = (transactionHash: string) => string | null;

/** Renders what customers may want to keep or quote, by view; empty if there is nothing. */
export function facts(
  checkout: Checkout,
  language: Language,
  explorerTransactionUrl: ExplorerTransactionUrl,
): Html {
  const rows = [...rowsOf(checkout, language)];
  const transactions = transactionRows(checkout, language, explorerTransactionUrl);
  if (rows.length + transactions.length === 0) return nothing;
  // Collapses transactions that the timeline also shows. Otherwise lists them first, to prove the arrival.
  if (transactions.length === 0 || !foldingKinds.includes(checkout.view.kind))
    return html`<dl class="facts">${transactions}${rows}</dl>`;
  return html`<dl class="facts">${rows}</dl>
<details><summary>${language.words.facts.details}</summary><dl class="facts">${transactions}</dl></details>`;
}

const foldingKinds: readonly CheckoutView['kind'][] = ['seen', 'sending', 'held'];

function* rowsOf(checkout: Checkout, { words }: Language): Generator<Html> {
  const { payment, view } = checkout;
  const { facts: names } = words;
  if (view.kind === 'at_provider') {
    const name = fillIn(names.referenceAt, { provider: nameOf(view.provider) });
    yield fact(name, html`<code>${view.providerReference}</code>`);
  }
  if (isStuck(checkout) || (view.kind !== 'at_provider' && view.kind !== 'choose'))
    yield fact(names.reference, html`<code>${payment.id}</code>`);
}

/** Renders a button that is hidden until the script shows it. The label distinguishes several buttons. */
export function copyButton(text: string, { direct }: Language['words'], label: string): Html {
  return html` <button class="link" type="button" data-copy="${text}" aria-label="${direct.copy}: ${label}" hidden>${direct.copy}</button>`;
}

export function transactionRows(
  { payment, observations }: Checkout,
  language: Language,
  explorerTransactionUrl: ExplorerTransactionUrl,
): readonly Html[] {
  return transfersOf(payment, observations, language).map(({ name, amount, hash }) => {
    const link = transactionLink({ explorerTransactionUrl }, hash, language.words.facts.newTab);
    return fact(name, amount === null ? link : html`<bdi>${amount}</bdi><br>${link}`);
  });
}

/** Maximum number of listed transfers in each direction, because anyone can send more. */
const MAXIMUM_LISTED = 20;

/** Returns arrivals and releases, with amounts if there are several. Returns only the largest if there are too many. */
export function transfersOf(payment: Payment, observations: ChainObservations, language: Language) {
  const { arrivedWith, sentWith } = language.words.facts;
  type Transfer = Pick<Deposit, 'units' | 'transactionHash'>;
  const listed = (name: string, moved: readonly Transfer[], stored: string | null) => {
    const only = stored ?? moved[0]?.transactionHash ?? null;
    if (moved.length <= 1) return only === null ? [] : [{ name, amount: null, hash: only }];
    const largest = moved.toSorted((a, b) => Number(b.units - a.units)).slice(0, MAXIMUM_LISTED);
    return moved
      .filter((transfer) => largest.includes(transfer))
      .map(({ units, transactionHash: hash }) => ({
        name,
        amount: formatUsdc(language, units, 'down'),
        hash,
      }));
  };
  const releases = observations.releases.map((release) => ({ ...release, units: release.toMerchantUnits }));
  return [
    ...listed(arrivedWith, arrivalsOf(payment, observations), payment.txidIn),
    ...listed(sentWith, releases, payment.txidOut),
  ];
}

/** Renders a time in UTC, which the script converts. `clock` shows seconds, `day` "today, 1:26 AM". */
export function timeElement(atMs: number, language: Language, look?: 'clock' | 'day'): Html {
  const text = look === 'clock' ? formatClock(language, atMs) : formatTime(language, atMs);
  const shown = look === undefined ? nothing : html` data-look="${look}"`;
  return html`<time datetime="${new Date(atMs).toISOString()}"${shown}>${text}</time>`;
}
