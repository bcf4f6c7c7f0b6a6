import { crc32 } from 'node:zlib';
import type { Account } from '../../accounts/account.ts';
import type { Address } from '../../payment/address.ts';
import { itemLabel, type Payment } from '../../payment/payment.ts';
import type { PaymentMeans } from '../../payment/provider-catalog.ts';
import { type Outcome, outcomesOf } from '../../payment/test-payments.ts';
import type { ProviderOffer } from '../../providers/provider-availability.ts';
import {
  fillIn,
  fillText,
  formatMoney,
  formatMoneyAndCode,
  type Language,
  leavesCurrencyOpen,
} from '../../web/checkout-layout/languages.ts';
import { layout } from '../../web/checkout-layout/layout.ts';
import { type Html, html, nothing } from '../../web/design/html.ts';
import type { Page } from '../../web/design/page-style.ts';
import type { Words } from '../../web/locales/locale.ts';
import { actions, providerHelp } from './actions.ts';
import { isTakenByProvider, pageStateOf, takesPayment, traitsOf } from './checkout-view.ts';
import { nameOf, type StateWords, stateWords, wordsOf } from './choose-words.ts';
import { SESSION_FORM } from './country.ts';
import { awaitsTransfer, directContent } from './direct-payment.ts';
import { type ExplorerTransactionUrl, facts, timeElement } from './facts-and-transactions.ts';
import { emailTokenField } from './known-email.ts';
import { possibleOffers } from './rank-offers.ts';
import { type Checkout, canBePaid, isStuck } from './read-checkout.ts';
import { paidPanel, receipt } from './receipt.ts';
import { furtherLinks, shopLinks } from './return-to-shop.ts';
import { asSeen, type CountryQuestion, type OfferList, type OffersToAsk, offersInBrief } from './selector.ts';
import { type Wait, waitOf, waitSteps } from './wait.ts';

interface ContentOptions {
  readonly explorerTransactionUrl: ExplorerTransactionUrl;
  readonly token: Address;
  readonly quotes?: OffersToAsk;
  readonly userAgent?: string;
  readonly question?: CountryQuestion | null;
  /** Payment method that the customer chose earlier. */
  readonly means?: PaymentMeans | null;
  /** Whether to list the providers of `means` instead of all payment methods. */
  readonly isChanging?: boolean;
  /** Refusal of this customer by a provider. It is not stored. */
  readonly refused?: Pick<ProviderOffer, 'provider' | 'refusal'> | null;
}

/** Renders the parts of a checkout page that change with the payment, for the page and its updates. */
export function checkoutContent(
  checkout: Checkout,
  language: Language,
  { explorerTransactionUrl, token, quotes, userAgent, question = null, refused, ...chosen }: ContentOptions,
) {
  const { payment, account } = checkout;
  const shown = asSeen(checkout, { language, quotes, refused });
  const direct = awaitsTransfer(checkout) ? directContent(checkout, language, token) : null;
  const wait = waitOf(shown);
  const statusOf = (seen: Checkout, atMs: number) => {
    const words = direct?.words ?? wordsOf(seen, language);
    const title = fillText(language.words.title, {
      heading: words.text.heading,
      amount: formatMoney(language, payment.amountCents, payment.currency),
      shop: account.name,
    });
    const elapsed = wait === null || seen.view.kind === 'held' ? nothing : ring(wait.sinceMs, language, atMs);
    return { title, elapsed, status: statusWords(words, seen) };
  };
  const detailWith = (seen: Checkout, asked: CountryQuestion | null) =>
    direct === null
      ? detailOf(
          { checkout: seen, offers: seen.offers, language, quotes, userAgent, ...chosen, question: asked },
          explorerTransactionUrl,
        )
      : html`${direct.detail}
${payableUntil(checkout, language)}
${shopLinks(checkout, language)}`;
  const mail = mailOffer(checkout, language);
  // Text of the revision, without what changes independently of the payment, such as elapsed time and prices.
  const stored = statusOf(checkout, 0);
  const content = html`${stored.title}\n${stored.status}\n${detailWith({ ...checkout, offers: [] }, null)}\n${offersInBrief(checkout)}\n${mail}`;
  return {
    ...statusOf(shown, checkout.nowMs),
    /** Summary of a paid checkout; null keeps the summary as it is. */
    panel:
      checkout.view.kind === 'paid'
        ? paidPanel(
            checkout.view,
            account,
            language,
            amountLine(language, payment.amountCents, payment.currency),
          )
        : null,
    detail: detailWith(shown, question),
    mail,
    revision: crc32(content.toString()).toString(36),
  };
}

function detailOf(selection: OfferList, explorerTransactionUrl: ExplorerTransactionUrl): Html {
  const { checkout, language } = selection;
  const { view } = checkout;
  if (view.kind === 'paid') return receipt(view, checkout, language, explorerTransactionUrl);
  const links = shopLinks(checkout, language);
  const wait = waitOf(checkout);
  // After the end of a payment, the links come first, so that the next step needs no scrolling.
  const isEnded = ['canceled', 'expired', 'closed_with_money', 'closed_and_released'].includes(view.kind);
  const isOver = (isEnded || isStuck(checkout)) && checkout.unservedCountry === undefined;
  const known = facts(checkout, language, explorerTransactionUrl);
  return html`${wait === null ? nothing : waitDetail(wait, checkout, language)}
${isOver ? [links, known] : nothing}
${actions(selection)}
${isOver ? nothing : known}
${payableUntil(checkout, language)}
${isOver ? nothing : links}`;
}

/** Renders heading and sentence. On a receipt, the panel shows them, so they are only for screen readers. */
function statusWords({ notice = nothing, ...words }: StateWords, checkout: Checkout): Html {
  const { view } = checkout;
  const isAboveOffers =
    takesPayment(view) && view.kind !== 'at_provider' && !awaitsTransfer(checkout) && !isStuck(checkout);
  // Uses a class, because CSS cannot match later elements while the page is still loading.
  const shown = wordsAs(words, `${traitsOf(view).tone}${isAboveOffers ? ' compact' : ''}`);
  return html`${view.kind === 'paid' ? html`<div class="quiet">${shown}</div>` : shown}
${notice === nothing ? nothing : html`<p class="banner">${notice}</p>`}`;
}

function wordsAs({ heading, sentence }: Pick<StateWords, 'heading' | 'sentence'>, tone: string): Html {
  return html`<h1 tabindex="-1" class="${tone}">${heading}</h1>
${sentence === null ? nothing : html`<p>${sentence}</p>`}`;
}

export interface CheckoutPageOptions extends ContentOptions {
  readonly language: Language;
  readonly isTestMode: boolean;
  /** Token in the forms of a visitor who knows the payment's email address; null or absent for others. */
  readonly emailToken?: string | null;
  /** URL that a direct link's page opens if scripts are disabled; null for other pages. */
  readonly autoContinue?: string | null;
  /** Whether the page stays unchanged instead of following the payment. */
  readonly isStill?: boolean;
  /** Origins of the shops that may frame the page; absent outside a frame. */
  readonly shops?: readonly string[];
  readonly problem: Html | null;
  readonly canSimulate?: boolean;
  /** Whether the page is an example, which offers no QR code for phones. */
  readonly isExample?: boolean;
}

export function checkoutPage(checkout: Checkout, options: CheckoutPageOptions): Page {
  const { path, view } = checkout;
  const { language, problem, emailToken = null, autoContinue = null, shops = [] } = options;
  const content = checkoutContent(checkout, language, options);
  const isDirect = awaitsTransfer(checkout);
  const refreshSeconds = options.isStill === true ? null : traitsOf(view).refreshSeconds;
  return layout({
    language,
    languagePath: path,
    title: content.title,
    isTestMode: options.isTestMode,
    // Without script, reloads waiting pages, but none with a choice. Pages with an email field reload less often.
    head:
      autoContinue !== null
        ? refreshWithoutScript(0, autoContinue)
        : refreshSeconds === null || (view.kind === 'choose' && !isDirect)
          ? nothing
          : refreshWithoutScript(Math.max(refreshSeconds, checkout.mail === 'none' ? 60 : 10), path),
    summary: content.panel ?? summary(checkout, language),
    brandColor: checkout.account.brandColor,
    kind: `${isDirect ? 'followTransfer' : 'follow'}${shops.length > 0 ? 'InFrame' : ''}`,
    main: html`<main class="card" id="checkout" data-path="${path}" data-revision="${content.revision}" data-refresh-seconds="${refreshSeconds}"
data-offline="${language.words.offline}"${shops.length === 0 ? nothing : html` data-shops="${shops.join(' ')}" data-state="${pageStateOf(view)}"`}
${autoContinue === null ? nothing : html` data-auto-continue`}>
<div id="problem" role="alert">${problem === null ? nothing : html`<p class="banner">${problem}</p>`}</div>
<div id="elapsed">${content.elapsed}</div>
<div id="status" role="status">${content.status}</div>
<p id="connection" role="status"></p>
${isDirect ? nothing : html`<form id="${SESSION_FORM}" method="post" hidden>${emailToken === null ? nothing : emailTokenField(emailToken)}</form>`}
<div id="detail">${content.detail}</div>
<div id="mail">${content.mail}</div>
</main>
${
  takesPayment(view) && !isDirect
    ? html`${assurances(checkout, options)}
<template id="going">${ring(null, language)}${wordsAs(stateWords(language, 'going', { provider: '' }), 'plain')}
<p><a class="button wide" href="">${language.words.actions.backToCheckout}</a></p></template>`
    : nothing
}`,
  });
}

function refreshWithoutScript(seconds: number, path: string): Html {
  return html`<noscript><meta http-equiv="refresh" content="${seconds}; url=${path}"></noscript>`;
}

function assurances(
  checkout: Checkout,
  { language: { words }, canSimulate = false, isExample = false, emailToken = null }: CheckoutPageOptions,
): Html {
  const { path, payment, view, offers } = checkout;
  const phone = canBePaid(checkout) ? phoneCode(path, words) : nothing;
  return html`<footer id="assurances"${isTakenByProvider(view) ? html` hidden` : nothing}>
${emailLine(payment, possibleOffers(offers), emailToken !== null, words)}
${isExample || view.kind === 'underpaid' ? nothing : html`${phone}${canSimulate ? simulationPanel(payment) : nothing}`}</footer>`;
}

/** Renders the page's QR code, loaded when opened. Only for wide screens with a mouse. */
function phoneCode(path: string, { phone }: Words): Html {
  return html`<details class="phone"><summary>${phone.heading}</summary>
<p>${phone.hint}</p><img src="${path}/qr.svg" alt="${phone.code}" width="180" height="180" loading="lazy"></details>`;
}

/** Placeholder for an email address that the visitor's link lacks. Reveals neither name nor host. */
const HIDDEN_EMAIL = '•••@•••';

function emailLine({ email }: Payment, offers: Checkout['offers'], knowsEmail: boolean, words: Words): Html {
  if (email === null || !offers.some(({ sharesEmail }) => sharesEmail)) return nothing;
  const { assurances } = words;
  const known = offers.every(({ sharesEmail }) => sharesEmail) ? assurances.email : assurances.emailToSome;
  // "j…@example.com" is enough to recognize the address, but too little to read it over a shoulder.
  const masked = `${email.slice(0, 1)}…${email.slice(email.lastIndexOf('@'))}`;
  return knowsEmail
    ? html`<p>${fillIn(known, { email: masked })}</p>`
    : html`<p>${fillIn(assurances.emailKept, { email: HIDDEN_EMAIL })}</p>`;
}

const names: Readonly<Record<Outcome, string>> = {
  paid: 'Paid',
  declined: 'Card declined',
  'too-little': 'Too little arrives',
  late: 'Arrives late',
  twice: 'Paid twice',
  'slow-chain': 'Slow chain',
};

/** Renders buttons that simulate outcomes in test mode. They are for developers and always in English. */
function simulationPanel(payment: Payment): Html {
  const buttons = outcomesOf(payment).map(
    (outcome) =>
      html`<button class="button" formaction="/pay/${payment.id}/outcomes/${outcome}">${names[outcome]}</button>`,
  );
  return html`<aside class="simulation" lang="en" dir="ltr" aria-labelledby="simulation"><h2 id="simulation">Sandbox: simulate an outcome</h2>
<p>Plays the customer at a simulated provider. “Arrives late” and “Slow chain” take about 20 seconds.</p>
<form method="post">${buttons}</form></aside>`;
}

function payableUntil(checkout: Checkout, language: Language): Html {
  const { view, offers, expiresAtMs } = checkout;
  if (!(takesPayment(view) || view.kind === 'underpaid') || isTakenByProvider(view)) return nothing;
  if (view.kind === 'choose' && !awaitsTransfer(checkout) && possibleOffers(offers).length === 0)
    return nothing;
  const [before = '', after = ''] = language.words.summary.until.split('{time}');
  return html`<p class="until">${before}<span class="whole">${timeElement(expiresAtMs, language)}${after}</span></p>`;
}

export function summary(
  { payment, account }: Pick<Checkout, 'payment' | 'account'>,
  language: Language,
): Html {
  const { amountCents, currency, orderLine, customerFeeCents } = payment;
  // Shows items, fee, total and the shop's links if the summary has enough room.
  const hasRows = customerFeeCents !== null || itemsOf(payment).length > 0;
  const rows = hasRows ? billRows(payment, account.name, language) : nothing;
  return html`<header class="summary">
${shopLine(account, language)}
${amountLine(language, amountCents, currency)}
${orderLine === null ? nothing : html`<p class="order"><bdi>${orderLine}</bdi></p>`}
${feeLine(payment, language)}
${billOnPhone(payment, language)}
<div class="bill">${rows}${furtherLinks(account, language, true)}</div>
</header>`;
}

export function amountLine(language: Language, amountCents: number, currency: Payment['currency']): Html {
  const amount = formatMoney(language, amountCents, currency);
  return html`<p class="amount"><bdi>${amount}</bdi>${leavesCurrencyOpen(amount) ? html` <abbr>${currency}</abbr>` : nothing}</p>`;
}

export function shopLine(account: Account, { words }: Language): Html {
  return html`<p class="shop">${sign(account)} <span><span class="quiet">${words.summary.paymentTo}</span> <bdi>${account.name}</bdi></span></p>`;
}

function sign({ name, logoHash }: Account): Html {
  return logoHash === null
    ? html`<span class="initial" aria-hidden="true">${initialOf(name)}</span>`
    : html`<img class="initial logo" src="/logos/${logoHash}" alt="" width="32" height="32">`;
}

function feeLine({ originalAmountCents, customerFeeCents, currency }: Payment, language: Language): Html {
  if (originalAmountCents === null || customerFeeCents === null) return nothing;
  const net = formatMoney(language, originalAmountCents, currency);
  const fee = formatMoney(language, customerFeeCents, currency);
  return html`<p class="fee">${fillIn(language.words.summary.parts, { net, fee })}</p>`;
}

function billOnPhone(payment: Payment, language: Language): Html {
  const [first, ...others] = itemsOf(payment);
  if (first === undefined) return nothing;
  const more = others.length === 0 ? nothing : html` <bdi>+${others.length}</bdi>`;
  return html`<details class="items"><summary><bdi>${itemLabel(first)}</bdi>${more}</summary>${billRows(payment, '', language)}</details>`;
}

const itemsOf = ({ orderDetails }: Payment) => orderDetails?.items ?? [];

function billRows(payment: Payment, shop: string, language: Language): Html {
  const { originalAmountCents, customerFeeCents, amountCents, currency, orderLine } = payment;
  const { fee, total } = language.words.summary;
  const row = (name: string, cents: number) =>
    html`<div><dt><bdi>${name}</bdi></dt><dd><bdi>${formatMoney(language, cents, currency)}</bdi></dd></div>`;
  const items = itemsOf(payment).map((item) => row(itemLabel(item), item.amountCents));
  return html`<dl class="small">${items.length > 0 ? items : row(orderLine ?? shop, originalAmountCents ?? amountCents)}
${customerFeeCents === null ? nothing : row(fee, customerFeeCents)}
${row(total, amountCents)}</dl>`;
}

/** Returns the first letter as readers see it, possibly several code points. */
export function initialOf(name: string): string {
  const [first] = new Intl.Segmenter().segment(name.trim());
  return first?.segment.toUpperCase() ?? '';
}

/** Renders a form for an email address. Never shows the address, because anyone with the link can open the page. */
function mailOffer(checkout: Checkout, language: Language): Html {
  const { words } = language;
  const { path, mail, view, account } = checkout;
  const { mail: names } = words;
  const isPaid = view.kind === 'paid';
  if (mail === null || mail === 'failed' || mail === 'sent' || (isPaid && mail === 'own')) return nothing;
  const close =
    waitOf(checkout) === null ? nothing : html`<strong>${words.wait.close}</strong>${language.gap}`;
  const form = html`<form method="post" action="${path}/email"><label for="email">${names.address}</label>
<input id="email" name="email" type="email" autocomplete="email" maxlength="254" required placeholder="you@example.com" dir="ltr"
aria-describedby="email-hint"><button class="button">${names.send}</button>
<p id="email-hint">${fillIn(names.once, { shop: account.name })}</p></form>`;
  if (mail === 'none')
    return html`<p>${close}${isPaid ? html`<strong>${names.receipt}</strong>` : names.tell}</p>${form}`;
  if (mail === 'own') return html`<p>${close}${names.own}</p>`;
  if (isPaid) return html`<p role="status">${names.coming}</p>`;
  return html`<p role="status">${close}${names.told}</p><details><summary>${names.another}</summary>${form}</details>`;
}

/** Renders the elapsed time, which the script updates. It is outside the live region, so it is not announced. */
function ring(sinceMs: number | null, { words }: Language, atMs = 0): Html {
  if (sinceMs === null) return html`<div class="ring" aria-hidden="true"></div>`;
  const seconds = Math.max(0, Math.floor((atMs - sinceMs) / 1000));
  return html`<div class="ring" role="timer"><b data-elapsed="${seconds}">${clockText(seconds)}</b> <small class="soft">${words.wait.elapsed}</small></div>`;
}

/** Formats seconds as "1:42" or "1:02:03", capped at a day. */
function clockText(seconds: number): string {
  const time = new Date(Math.min(seconds, 86_399) * 1000).toISOString().slice(11, 19);
  return time.replace(/^0(0:0?)?/, '');
}

function waitDetail(wait: Wait, checkout: Checkout, language: Language): Html {
  const { wait: words } = language.words;
  return html`${timeline(wait, checkout, language)}
${wait.isLate ? html`<section><h2>${words.longer}</h2>${lateHelp(checkout, language)}</section>` : nothing}
${checkout.mail === null || checkout.mail === 'failed' ? html`<p class="leave"><strong>${words.close}</strong></p>` : nothing}`;
}

function lateHelp(checkout: Checkout, language: Language): Html {
  const { view, payment, account } = checkout;
  if (view.kind === 'at_provider') return providerHelp(view.provider, checkout, language);
  const amount = formatMoneyAndCode(language, payment.amountCents, payment.currency);
  return html`<p>${fillIn(language.words.states.held.sentence, { amount, shop: account.name })}</p>`;
}

function timeline({ current, provider, times }: Wait, { account }: Checkout, language: Language): Html {
  const { wait: words, steps: names } = language.words;
  const values = { shop: account.name, ...(provider === null ? {} : { provider: nameOf(provider) }) };
  const items = waitSteps.map((step, index) => {
    if (step === 'approvedBy' && provider === null) return nothing;
    const name = html`<b>${fillIn(words[step], values)}</b>`;
    if (index > current) return html`<li>${name}</li>`;
    if (index === current) {
      const note = current === 1 ? html`<small>${fillIn(words.sending, values)}</small>` : nothing;
      return html`<li class="current" aria-current="step">${name}<span>${words.now}</span>${note}</li>`;
    }
    const atMs = times[index] ?? null;
    const time = atMs === null ? nothing : timeElement(atMs, language, 'clock');
    return html`<li class="done">${name}${time}<span class="quiet"> ${names.done}</span></li>`;
  });
  return html`<ol class="timeline" aria-label="${names.label}">${items}</ol>`;
}
