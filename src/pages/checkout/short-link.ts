import type { FastifyReply } from 'fastify';
import { checkoutUrl } from '../../payment/checkout-url.ts';
import { shortCodeOf } from '../../payment/payment-id.ts';
import { fillText, formatMoneyAndCode, languageOf } from '../../web/checkout-layout/languages.ts';
import { layout, sendPage } from '../../web/checkout-layout/layout.ts';
import { html, nothing } from '../../web/design/html.ts';
import { summary } from './checkout-page.ts';
import { wordsOf } from './choose-words.ts';
import type { CheckoutRequest } from './context.ts';
import { PREVIEW_HEIGHT, PREVIEW_WIDTH } from './preview-picture.ts';
import { isPreview } from './provider-session.ts';
import { readCheckoutOfShortCode } from './read-checkout.ts';
import { rememberLanguage } from './remember.ts';

/** Sends a page with preview data and the merchant's note. Redirects customers, but not crawlers, to the checkout. */
export async function showShortLink(asked: CheckoutRequest<'shortCode'>): Promise<FastifyReply> {
  const { context, request, params } = asked;
  const checkout = await readCheckoutOfShortCode(context, params.shortCode);
  rememberLanguage(asked);
  const language = languageOf(request);
  const isForPreview = isPreview(request.headers);
  const { isTestMode, baseUrl } = context;
  const { payment, account } = checkout;
  const words = language.words.shortLink;
  const shop = account.name;
  const amount = formatMoneyAndCode(language, payment.amountCents, payment.currency);
  const isOpen = payment.status === 'unpaid';
  const { heading, text } = wordsOf(checkout, language);
  const title = isOpen
    ? fillText(words.title, { amount, shop })
    : fillText(language.words.title, { heading: text.heading, amount, shop });
  const description = payment.note ?? (isOpen ? fillText(words.description, { shop }) : text.sentence);
  // Same as `checkout_url` without the email address, which is stored with the payment.
  const url = `${baseUrl}/s/${shortCodeOf(payment.id)}`;
  const next = checkoutUrl('', { ...payment, email: null });
  const page = layout({
    language,
    title,
    isTestMode,
    head: html`<meta name="description" content="${description}">
<meta property="og:type" content="website">
<meta property="og:site_name" content="${account.name}">
<meta property="og:title" content="${title}">
<meta property="og:description" content="${description}">
<meta property="og:url" content="${url}">
<meta property="og:image" content="${url}/preview.png">
<meta property="og:image:type" content="image/png">
<meta property="og:image:width" content="${PREVIEW_WIDTH}">
<meta property="og:image:height" content="${PREVIEW_HEIGHT}">
<meta property="og:image:alt" content="${title}">
<meta name="twitter:card" content="summary_large_image">
<meta name="twitter:image" content="${url}/preview.png">
<meta name="twitter:title" content="${title}">
<meta name="twitter:description" content="${description}">
${isForPreview ? nothing : html`<noscript><meta http-equiv="refresh" content="1; url=${next}"></noscript>`}`,
    summary: summary({ payment, account }, language),
    brandColor: account.brandColor,
    main: html`<main class="card alone">
<h1>${isOpen ? words.continue : heading}</h1>
${payment.note === null ? nothing : html`<p class="note">${payment.note}</p>`}
<p><a class="button primary wide" id="continue" href="${next}">${isOpen ? words.continue : words.see}</a></p>
</main>`,
    kind: isForPreview ? 'message' : 'continue',
  });
  return sendPage(asked, 200, page);
}
