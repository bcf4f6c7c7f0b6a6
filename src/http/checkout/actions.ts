import { providerSupportUrls } from '../../domain/provider-catalogue.ts';
import { type Html, html, nothing } from '../design/html.ts';
import { type CheckoutView, isTakenByProvider } from './checkout-view.ts';
import { fillIn, formatUsdc, type Language } from './languages.ts';
import { type Checkout, singleProviderOf } from './read-checkout.ts';
import { selector, visitButton } from './selector.ts';
import { nameOf } from './state-words.ts';

type AtProvider = Extract<CheckoutView, { kind: 'at_provider' }>;
type Underpaid = Extract<CheckoutView, { kind: 'underpaid' }>;

/** The one thing to do in this state, and what may be asked in it; `list` stands for the list of offers. */
export function actions(checkout: Checkout, language: Language, list?: Html): Html {
  const { view } = checkout;
  switch (view.kind) {
    case 'choose':
      return choices(checkout, language, list);
    case 'at_provider':
      return isTakenByProvider(view)
        ? html`${checkAgain(checkout, language)}${whereIsIt(view, language)}`
        : visitAgain(view, checkout, language);
    case 'underpaid':
      return addTheRest(view, checkout, language);
    case 'paid':
      // Printing takes a script, which shows the button.
      return html`<button class="button wide" type="button" id="print" hidden>${language.words.actions.print}</button>`;
    default:
      return checkAgain(checkout, language);
  }
}

function choices(checkout: Checkout, language: Language, list?: Html): Html {
  const { offers } = checkout;
  const single = singleProviderOf(checkout);
  const canServe = offers.some(({ provider, refusal }) => provider === single && refusal === null);
  if (single === null || !canServe) return selector(checkout, offers, language, list);
  const label = fillIn(language.words.actions.continueTo, { provider: nameOf(single) });
  return visitButton(checkout.payment, single, label);
}

function visitAgain(view: AtProvider, checkout: Checkout, language: Language): Html {
  const { payment, offers } = checkout;
  const { actions } = language.words;
  const label = fillIn(view.isOpen ? actions.continueAt : actions.startAgainAt, {
    provider: nameOf(view.provider),
  });
  const canGoOn = offers.some(({ provider, refusal }) => provider === view.provider && refusal === null);
  const others = offers.filter(({ provider }) => provider !== view.provider);
  return html`${canGoOn ? visitButton(payment, view.provider, label) : nothing}
${view.told === 'failed' ? nothing : whereIsIt(view, language)}
${others.length === 0 ? nothing : html`<details><summary>${actions.chooseAnother}</summary>${selector(checkout, others, language)}</details>`}`;
}

/** Without script, and for those who do not trust it: the same page once more. */
function checkAgain({ payment }: Checkout, language: Language): Html {
  return html`<p><a class="button wide" href="/pay/${payment.id}">${language.words.actions.checkAgain}</a></p>`;
}

/** The card was charged and nothing arrived: how long that usually takes, and who can be asked. */
function whereIsIt(view: AtProvider, { words }: Language): Html {
  const provider = nameOf(view.provider);
  const { question, usual, ask, support } = words.missing;
  return html`<details${isTakenByProvider(view) ? html` open` : nothing}><summary>${question}</summary>
<p>${usual} ${fillIn(ask, { provider })}</p>
<p><a href="${providerSupportUrls[view.provider]}" rel="noopener noreferrer" target="_blank">${fillIn(support, { provider })}<span class="quiet"> ${words.facts.newTab}</span></a></p>
</details>`;
}

/** A visit at a provider would charge the whole amount again, so the rest comes by way of the shop or from a wallet. */
function addTheRest(view: Underpaid, { payment, account }: Checkout, language: Language): Html {
  const { rest } = language.words;
  const missing = formatUsdc(language, view.missingUnits, 'up');
  return html`<section><h2>${rest.heading}</h2>
<p>${fillIn(rest.askShop, { shop: account.name })}</p>
<details><summary>${rest.fromWallet}</summary>
<p>${fillIn(rest.howTo, { missing })}</p>
<dl class="facts"><div><dt>${rest.address}</dt><dd><code>${payment.depositAddress}</code></dd></div></dl>
</details></section>`;
}
