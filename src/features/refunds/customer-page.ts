import type { FastifyReply } from 'fastify';
import { summary } from '../../pages/checkout/checkout-page.ts';
import type { CheckoutRequest, CheckoutRoutes } from '../../pages/checkout/context.ts';
import { ServiceError } from '../../payment/errors.ts';
import { fillIn, fillText, formatExactUsdc, languageOf } from '../../web/checkout-layout/languages.ts';
import { layout, sendPage } from '../../web/checkout-layout/layout.ts';
import { html } from '../../web/design/html.ts';
import { formField, isSameOrigin } from '../../web/signed-in/forms.ts';
import { refundWords } from './locales.ts';
import { type Refund, refundStatusAt } from './refund.ts';
import { nameRefundAddress, type RefundContext, readLinkedRefund } from './refunds.ts';

type RefundPageRequest = CheckoutRequest<'refundId' | 'token'>;

/** Registers `/refund/:refundId/:token`, where a customer enters the wallet address for a refund. */
export function registerRefundPage(routes: CheckoutRoutes, context: RefundContext): void {
  routes.page('/refund/:refundId/:token', (asked) => showRefund(context, asked));
  routes.form('/refund/:refundId/:token', (asked) => acceptRefundAddress(context, asked));
}

/** Answers `GET /refund/:refundId/:token` with the form or the refund's state. Does not use up the link. */
async function showRefund(context: RefundContext, asked: RefundPageRequest): Promise<FastifyReply> {
  return sendRefund(context, asked, await readLinkedRefund(context, asked.params));
}

async function acceptRefundAddress(context: RefundContext, asked: RefundPageRequest): Promise<FastifyReply> {
  const { request } = asked;
  const refund = await readLinkedRefund(context, asked.params);
  if (!isSameOrigin(request.headers, asked.context.baseUrl)) throw new ServiceError('invalid_request');
  const typed = request.body instanceof URLSearchParams ? (request.body.get('address') ?? '') : '';
  try {
    return sendRefund(context, asked, await nameRefundAddress(context, refund, typed));
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    // Shows the refund's current state, which explains more than the error.
    if (error.errorName === 'payment_state_conflict') return showRefund(context, asked);
    if (error.errorName !== 'invalid_request') throw error;
    return sendRefund(context, asked, refund, typed);
  }
}

/** @param refused refused wallet address; null if none was sent */
async function sendRefund(
  { nowMs, payments }: RefundContext,
  asked: RefundPageRequest,
  refund: Refund,
  refused: string | null = null,
): Promise<FastifyReply> {
  const { accounts, isTestMode } = asked.context;
  const account = await accounts.findAccount(refund.accountId);
  const view = await payments.viewPayment(refund.paymentId);
  if (account === null || view === null) throw new Error(`refund ${refund.id} has no account or payment`);
  const language = languageOf(asked.request);
  const words = refundWords[language.code];
  const status = refundStatusAt(refund, nowMs());
  const { heading, sentence } = words[status === 'canceled' ? 'expired' : status];
  const values = { shop: account.name, amount: formatExactUsdc(language, refund.units) };
  const { destination } = refund;
  const field = { label: words.address, value: refused ?? '', hint: words.hint };
  const error = refused === null ? {} : { error: words.wrong };
  const page = layout({
    language,
    title: fillText(heading, values),
    isTestMode,
    kind: 'form',
    // Shows the shop and the purchase, so that customers can tell whether the link is meant for them.
    summary: summary({ payment: view.payment, account }, language),
    brandColor: account.brandColor,
    main: html`<main class="card">
<h1>${fillIn(heading, values)}</h1>
<p>${fillIn(sentence, values)}</p>
${
  status === 'awaiting_address' &&
  html`<form method="post">${formField('address', field, error)}
<p>${fillIn(words.once, values)}</p>
<p><button class="button primary wide">${words.send}</button></p></form>`
}
${
  destination !== null &&
  html`<dl class="facts"><div><dt>${words.address}</dt><dd><code>${destination}</code></dd></div></dl>
<p>${fillIn(words.notYours, values)}</p>`
}
<p class="banner">${fillIn(words.warning, values)}</p>
</main>`,
  });
  return sendPage(asked, refused === null ? 200 : 400, page);
}
