import { crc32 } from 'node:zlib';
import type { Address } from '../../domain/payout-address.ts';
import type { ProviderId } from '../../domain/provider-catalogue.ts';
import { servedFromUsdCents } from '../../payments/provider-availability.ts';
import { type Html, html, nothing } from '../design/html.ts';
import { actions } from './actions.ts';
import { assurances } from './assurances.ts';
import { type CheckoutView, isTakenByProvider, refreshSecondsOf, takesPayment } from './checkout-view.ts';
import { type CountryQuestion, countryQuestion } from './country-question.ts';
import { awaitsTransfer, directContent } from './direct-content.ts';
import { fillText } from './fill-in.ts';
import { formatMoney } from './format-money.ts';
import { emailTokenField } from './known-email.ts';
import type { Language } from './languages.ts';
import { layout, type Page } from './layout.ts';
import { progress } from './progress.ts';
import { type OffersToAsk, quotedOffers } from './quoted-offers.ts';
import { type Checkout, singleProviderOf } from './read-checkout.ts';
import { type ExplorerTransactionUrl, facts } from './receipt.ts';
import { offersInBrief, offersToCome, possibleOffers, VISIT_FORM } from './selector.ts';
import { shopLinks } from './shop-links.ts';
import { goingWords, nameOf, type StateWords, wordsOf } from './state-words.ts';
import { summary } from './summary.ts';

/** The parts of the page that change with the payment, as page and poll share them. */
export interface CheckoutContent {
  readonly title: string;
  /** The live region: what the state is called and means. */
  readonly status: Html;
  /** What can be done, and what to keep; with `offersToCome` in the place of a list of offers. */
  readonly frame: Html;
  /** The same with the list itself, without quotes. */
  readonly detail: () => Html;
  /** Names this content; the same content has the same name. */
  readonly revision: string;
}

/** What the page says of the chain. */
export interface ChainFacts {
  readonly explorerTransactionUrl: ExplorerTransactionUrl;
  /** The contract of USDC, for those who pay from a wallet. */
  readonly token: Address;
}

/** The changing parts of a checkout's page. */
export function checkoutContent(
  checkout: Checkout,
  language: Language,
  { explorerTransactionUrl, token }: ChainFacts,
  /** The provider whose button is elsewhere on the page, with a question to be answered first. */
  asking: ProviderId | null = null,
): CheckoutContent {
  const { payment, account, view } = checkout;
  const direct = awaitsTransfer(checkout) ? directContent(checkout, language, token) : null;
  const words =
    direct?.words ??
    wordsOf(view, {
      language,
      shop: account.name,
      single: singleProviderOf(checkout),
      canBePaid: checkout.offers.some(({ refusal }) => refusal === null),
      servedFromUsdCents: servedFromUsdCents(checkout.offers),
    });
  const title = fillText(language.words.title, {
    heading: words.text.heading,
    amount: formatMoney(language, payment.amountCents, payment.currency),
    shop: account.name,
  });
  const status = statusOf(words, toneOf(view));
  const frameOf = (shown: Checkout) =>
    direct === null
      ? detailOf(shown, language, explorerTransactionUrl, offersToCome)
      : html`${direct.detail}
${shopLinks(shown, language)}`;
  const whole = frameOf(checkout);
  const shown = withoutOffer(checkout, asking);
  const frame = shown === checkout ? whole : frameOf(shown);
  const detail = () =>
    view.kind === 'choose' && direct === null ? detailOf(shown, language, explorerTransactionUrl) : frame;
  // Writing eleven rows only to tell them from others took a tenth of the time that a page costs.
  const offers = offersInBrief(checkout);
  // Of the whole content, also where a question stands for a part of it: the poll names it the same.
  const revision = revisionOf(html`${title}\n${status}\n${whole}\n${offers}`.toString());
  return { title, status, frame, detail, revision };
}

function withoutOffer(checkout: Checkout, asking: ProviderId | null): Checkout {
  if (asking === null) return checkout;
  return { ...checkout, offers: checkout.offers.filter(({ provider }) => provider !== asking) };
}

function detailOf(
  checkout: Checkout,
  language: Language,
  explorerTransactionUrl: ExplorerTransactionUrl,
  list?: Html,
): Html {
  return html`${progress(checkout.view, language)}
${actions(checkout, language, list)}
${facts(checkout, language, explorerTransactionUrl)}
${shopLinks(checkout, language)}`;
}

/** What is shown from the click until the browser has left for the provider, with a way to stay. */
function goingContent(language: Language, provider: string): Html {
  return html`${statusOf(goingWords(language, provider), 'busy')}
<p><a class="button wide" href="">${language.words.actions.backToCheckout}</a></p>`;
}

function statusOf({ heading, sentence }: StateWords, tone: string): Html {
  return html`<h1 tabindex="-1" class="${tone}">${heading}</h1>
<p>${sentence}</p>`;
}

/** Only tells one state of a page from the next, for which SHA-256 is too good: it takes 45 µs for 4 kB, this takes 2. */
function revisionOf(content: string): string {
  return `${crc32(content).toString(36)}-${content.length}`;
}

/** What a checkout's page is told besides the checkout. */
export interface CheckoutPageOptions extends ChainFacts {
  readonly language: Language;
  readonly isSandbox: boolean;
  /** How the offers are asked for their quotes; without it they are shown without. */
  readonly quotes?: OffersToAsk;
  /** Proves with the page's forms that the visitor knows the payment's e-mail address; null or absent where they do not. */
  readonly emailToken?: string | null;
  /** What to answer before this provider can be visited; its button is there and nowhere else. */
  readonly question?: CountryQuestion | null;
  /** Set on the page of a direct link that leads on to its provider by itself. */
  readonly leadsOn?: LeadingOn | null;
  /** What went wrong with the last click. */
  readonly problem: Html | null;
  /** Whether the sandbox's panel of outcomes belongs on it. */
  readonly isPlayable?: boolean;
  /** Where the page is found; the payment's own address unless it is an example. */
  readonly path?: string;
  /** What is going on in the browser; its script finds out by itself. */
  readonly moment?: CheckoutMoment | null;
}

/**
 * How a page leads on: a script presses its button. Where there is none, the browser asks for `withoutScript`, and the
 * answer depends on whether it says which site it comes from.
 */
export interface LeadingOn {
  readonly withoutScript: string;
}

/** What only the browser knows: that it is on its way to the provider, or without a connection. */
export type CheckoutMoment =
  | { readonly kind: 'going'; readonly provider: ProviderId }
  | { readonly kind: 'offline' };

/** The whole page. */
export function checkoutPage(checkout: Checkout, options: CheckoutPageOptions): Page {
  const { view } = checkout;
  const { language, path = `/pay/${checkout.payment.id}`, moment = null } = options;
  const { emailToken = null, question = null, leadsOn = null } = options;
  const asking = question?.provider ?? null;
  const content = checkoutContent(checkout, language, options, asking);
  const shown = withoutOffer(checkout, asking);
  const isGoing = moment?.kind === 'going';
  const { quotes } = options;
  const isDirect = awaitsTransfer(checkout);
  const isStreamed =
    quotes !== undefined &&
    !isDirect &&
    view.kind === 'choose' &&
    singleProviderOf(checkout) === null &&
    possibleOffers(shown.offers).length > 0;
  const refreshSeconds = refreshSecondsOf(view);
  return layout({
    language,
    languagePath: path,
    title: content.title,
    isSandbox: options.isSandbox,
    // Without script, waiting pages load themselves again; where there is something to choose they do not.
    head:
      leadsOn !== null
        ? refreshWithoutScript(0, leadsOn.withoutScript)
        : refreshSeconds === null || (view.kind === 'choose' && !isDirect)
          ? nothing
          : refreshWithoutScript(Math.max(refreshSeconds, 10), path),
    summary: summary(checkout, language),
    main: html`<main class="card" id="checkout" data-path="${path}" data-revision="${content.revision}" data-refresh-seconds="${refreshSeconds}" data-offline="${language.words.offline}"${leadsOn === null ? nothing : html` data-leads-on`}>
<div id="problem" role="alert">${options.problem === null ? nothing : html`<p class="notice">${options.problem}</p>`}</div>
<div id="status" role="status">${isGoing ? goingContent(language, nameOf(moment.provider)) : content.status}</div>
<p id="connection" role="status">${moment?.kind === 'offline' ? language.words.offline : ''}</p>
<form id="${VISIT_FORM}" method="post" hidden>${emailTokenField(emailToken)}</form>
${question === null ? nothing : countryQuestion(checkout.payment, question, { language, emailToken })}
<div id="detail"${isGoing ? html` hidden` : nothing}>${isStreamed ? content.frame : content.detail()}</div>
</main>
${takesPayment(view) && !isDirect ? html`${assurances(checkout, language, { path, isPlayable: options.isPlayable === true, knowsEmail: emailToken !== null })}${goingTemplate(language)}` : nothing}`,
    ...(isStreamed
      ? {
          streamed: {
            place: offersToCome,
            pieces: (nonce: string) => quotedOffers(quotes, shown, language, nonce),
          },
        }
      : {}),
  });
}

function refreshWithoutScript(seconds: number, path: string): Html {
  return html`<noscript><meta http-equiv="refresh" content="${seconds}; url=${path}"></noscript>`;
}

/** For the script, which puts the provider's name into the empty place. */
function goingTemplate(language: Language): Html {
  return html`<template id="going">${goingContent(language, '')}</template>`;
}

function toneOf(view: CheckoutView): string {
  switch (view.kind) {
    case 'paid':
      return 'good';
    case 'underpaid':
    case 'held':
    case 'closed_with_money':
    case 'closed_and_released':
      return 'warn';
    case 'at_provider':
      return view.isOpen || isTakenByProvider(view) ? 'busy' : 'plain';
    case 'seen':
    case 'sending':
      return 'busy';
    case 'choose':
    case 'canceled':
    case 'expired':
      return 'plain';
  }
}
