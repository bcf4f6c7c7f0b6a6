import { fillIn, formatMoneyAndCode, type Language } from '../../web/checkout-frame/languages.ts';
import { type Html, html, nothing } from '../../web/design/html.ts';
import { providerHelp } from './actions.ts';
import { timeElement } from './payment-facts.ts';
import type { Checkout } from './read-checkout.ts';
import { nameOf } from './state-words.ts';
import { type Wait, waitSteps } from './wait.ts';

/** Ring with the elapsed time, which the script continues. Decorative, because screen readers need no clock. */
export function ring(sinceMs: number | null, atMs = 0): Html {
  if (sinceMs === null) return html`<div class="ring" aria-hidden="true"></div>`;
  const seconds = Math.max(0, Math.floor((atMs - sinceMs) / 1000));
  return html`<div class="ring" aria-hidden="true" data-elapsed="${seconds}">${clockText(seconds)}</div>`;
}

/** "1:42", "1:02:03". */
function clockText(seconds: number): string {
  const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  const [first = 0, ...rest] = parts[0] === 0 ? parts.slice(1) : parts;
  return [first, ...rest.map((part) => String(part).padStart(2, '0'))].join(':');
}

export function waitDetail(wait: Wait, checkout: Checkout, language: Language): Html {
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
