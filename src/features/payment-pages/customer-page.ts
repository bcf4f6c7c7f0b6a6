import { randomBytes } from 'node:crypto';
import type { FastifyReply } from 'fastify';
import { amountLine, shopLine } from '../../pages/checkout/checkout-page.ts';
import type { CheckoutRequest, CheckoutRoutes } from '../../pages/checkout/context.ts';
import { rememberLanguage } from '../../pages/checkout/remember.ts';
import { ServiceError } from '../../payment/errors.ts';
import { formatCents, parseAmountCents } from '../../payment/money.ts';
import { isLine, readTypedAmount } from '../../payment/typed-input.ts';
import {
  english,
  fillIn,
  fillText,
  formatMoney,
  formatMoneyAndCode,
  type Language,
  languageOf,
} from '../../web/checkout-layout/languages.ts';
import { layout, sendPage, setCommonHeaders } from '../../web/checkout-layout/layout.ts';
import { type Html, html, nothing } from '../../web/design/html.ts';
import type { Page } from '../../web/design/page-style.ts';
import { enforceRateLimit, limitByAddress, limitersOf, MINUTE_MS } from '../../web/rate-windows.ts';
import { type Field, formField, isSameOrigin } from '../../web/signed-in/forms.ts';
import {
  type FoundPage,
  PageClosedError,
  type PageSubmission,
  type PayOnPageContext,
  payOnPage,
} from './pay-on-page.ts';
import {
  ANSWER_CHARACTERS,
  amountBoundsOf,
  type ClosedState,
  HOLD_MINUTES,
  HOLD_MS,
  isSlug,
  leftOf,
  type PaymentPageStore,
  pageStateAt,
  suggestedAmounts,
} from './payment-page.ts';

/** Body limit. URL encoding takes up to twelve bytes per character of an answer. */
const FORM_LIMIT_BYTES = 4 * 1024;

/** Rate limits, because each submission of a payment page may create a payment. */
const createSubmissionLimiters = limitersOf({
  ofVisitor: [10, MINUTE_MS],
  /** Per page and IP address, for pages with a stock. The window is as long as an unpaid payment holds stock. */
  placesOfVisitor: [30, HOLD_MS],
  ofPage: [120, MINUTE_MS],
  ofAccount: [300, MINUTE_MS],
});

export interface PaymentPagesContext extends PayOnPageContext {
  readonly paymentPages: Pick<PaymentPageStore, 'findPageBySlug' | 'findSubmission' | 'createPagePayment'>;
  readonly monotonicMs: () => number;
}

type LimitedContext = PaymentPagesContext & { readonly limits: ReturnType<typeof createSubmissionLimiters> };

type PageRequest = CheckoutRequest<'slug'>;

export function registerPaymentPage(routes: CheckoutRoutes, context: PaymentPagesContext): void {
  const limited = { ...context, limits: createSubmissionLimiters(context.monotonicMs) };
  routes.page('/p/:slug', (asked) => showPage(limited, asked));
  routes.form('/p/:slug', (asked) => submitPage(limited, asked), FORM_LIMIT_BYTES);
}

interface Typed {
  readonly amount: string;
  readonly answer: string;
  readonly amountError?: string | undefined;
  readonly answerError?: string | undefined;
  readonly problem?: string;
}

/** Answers `GET /p/:slug` with the form, or with the reason why the page is closed. Creates no payment. */
async function showPage(context: PaymentPagesContext, asked: PageRequest): Promise<FastifyReply> {
  const found = await readPage(context, asked);
  rememberLanguage(asked);
  return send(asked, found, 200, { amount: suggestedIn(asked, found), answer: '' });
}

/** Returns the amount from a suggestion's link, for browsers without scripts; empty if out of the page's bounds. */
function suggestedIn({ query }: PageRequest, { page, account }: FoundPage): string {
  const text = query['amount'];
  const cents = typeof text === 'string' ? parseAmountCents(text) : null;
  const { minimumCents, maximumCents } = amountBoundsOf(page, account);
  return cents !== null && cents >= minimumCents && cents <= maximumCents ? formatCents(cents) : '';
}

async function submitPage(context: LimitedContext, asked: PageRequest): Promise<FastifyReply> {
  const { request, reply } = asked;
  const { limits } = context;
  const found = await readPage(context, asked);
  if (!isSameOrigin(request.headers, asked.context.baseUrl)) throw new ServiceError('invalid_request');
  const { words } = languageOf(request);
  const { typed, submission } = readForm(asked, found);
  const showAgain = (status: number, problem?: string) =>
    send(asked, found, status, problem === undefined ? typed : { ...typed, problem });
  if (submission === null) {
    const hasErrors = (typed.amountError ?? typed.answerError) !== undefined;
    return showAgain(400, hasErrors ? undefined : words.problems.notFromHere);
  }
  try {
    await limitByAddress(limits.ofVisitor, request);
    if (found.page.stock !== null) await limitByAddress(limits.placesOfVisitor, request, ` ${found.page.id}`);
    await enforceRateLimit(limits.ofPage, found.page.id);
    await enforceRateLimit(limits.ofAccount, found.account.id);
    const { id } = await payOnPage(context, found, submission);
    return setCommonHeaders(reply).redirect(`/pay/${id}`, 303);
  } catch (error) {
    if (error instanceof PageClosedError) return send(asked, { ...found, state: error.state }, 409);
    if (!(error instanceof ServiceError) || error.status >= 500) throw error;
    if (error.retryAfterSeconds !== null) {
      reply.header('retry-after', error.retryAfterSeconds);
      return showAgain(429, words.page.busy);
    }
    request.log.warn({ err: error, page: found.page.id }, 'a payment page could not create a payment');
    return showAgain(error.status, words.problems.other);
  }
}

async function readPage(
  { paymentPages }: PaymentPagesContext,
  { context: { accounts, nowMs }, params: { slug } }: PageRequest,
): Promise<FoundPage> {
  const used = isSlug(slug) ? await paymentPages.findPageBySlug(slug, nowMs()) : null;
  if (used === null) throw new ServiceError('not_found');
  const account = await accounts.findAccount(used.page.accountId);
  if (account === null) throw new Error(`page ${used.page.id} has no account`);
  return { page: used.page, account, state: pageStateAt(used, account, nowMs()), left: leftOf(used) };
}

function readForm(
  { request }: PageRequest,
  found: FoundPage,
): { readonly typed: Typed; readonly submission: PageSubmission | null } {
  const { page, account } = found;
  const form = request.body instanceof URLSearchParams ? request.body : new URLSearchParams();
  const language = languageOf(request);
  const words = language.words.page;
  const [amount, answer] = [form.get('amount') ?? '', form.get('answer') ?? ''];
  const cents = page.amountCents ?? readTypedAmount(amount, page.currency);
  const { minimumCents, maximumCents } = amountBoundsOf(page, account);
  const writesComma = formatMoney(language, 1_00, page.currency).includes(',');
  const amountError =
    cents === 'unclear'
      ? fillText(words.amountUnclear, { example: writesComma ? '1234,00' : '1234.00' })
      : page.amountCents === null && (cents === null || cents < minimumCents || cents > maximumCents)
        ? fillText(words.amountWrong, boundsText(found, language))
        : undefined;
  const line = page.question === null ? '' : answer.trim();
  const isMissing = line === '' && page.question !== null && page.isAnswerRequired;
  const tooLong = fillText(words.answerTooLong, { count: String(ANSWER_CHARACTERS) });
  const answerError = isMissing ? words.answerMissing : isLine(line, ANSWER_CHARACTERS) ? undefined : tooLong;
  const typed = { amount, answer, amountError, answerError };
  const token = form.get('token') ?? '';
  const isGood = amountError === undefined && answerError === undefined && TOKEN_FORM.test(token);
  return { typed, submission: isGood ? { token, amountCents: Number(cents), answer: line || null } : null };
}

const TOKEN_FORM = /^[\w-]{22}$/;

function boundsText({ page, account }: FoundPage, language: Language) {
  const { minimumCents, maximumCents } = amountBoundsOf(page, account);
  const text = (cents: number) => `\u2068${formatMoneyAndCode(language, cents, page.currency)}\u2069`;
  return { minimum: text(minimumCents), maximum: text(maximumCents) };
}

function send(asked: PageRequest, found: FoundPage, status: number, typed?: Typed): FastifyReply {
  return sendPage(asked, status, viewOf(asked.context, languageOf(asked.request), found, typed));
}

/** Renders the page for customers, with their input and its errors. */
export function viewOf(
  { isTestMode, baseUrl }: Pick<PageRequest['context'], 'isTestMode' | 'baseUrl'>,
  language: Language,
  found: FoundPage,
  typed: Typed = { amount: '', answer: '' },
): Page {
  const { page, account, state, left } = found;
  const title = `${page.title} – ${account.name}`;
  return layout({
    language,
    languagePath: `/p/${page.slug}`,
    title,
    isTestMode,
    brandColor: account.brandColor,
    kind: 'form',
    head: html`<meta name="description" content="${page.orderLine ?? page.title}">
<meta property="og:title" content="${title}">
<meta property="og:url" content="${baseUrl}/p/${page.slug}">`,
    summary: html`<header class="summary">
${shopLine(account, language)}
<h1><bdi>${page.title}</bdi></h1>
${page.amountCents === null ? nothing : amountLine(language, page.amountCents, page.currency)}
${page.orderLine === null ? nothing : html`<p class="order"><bdi>${page.orderLine}</bdi></p>`}
${left === null || left === 0 ? nothing : html`<p class="order">${fillIn(language.words.page.left, { count: String(left) })}</p>`}
</header>`,
    main: html`<main class="card" data-path="/p/${page.slug}">
${state === 'open' || state === 'busy' ? pageForm(found, language, typed) : closedNotice(found, state, language)}
</main>`,
  });
}

function closedNotice({ page: { slug }, account }: FoundPage, state: ClosedState, { words }: Language): Html {
  const { name: shop, supportUrl } = account;
  const { page } = words;
  const { heading, sentence = page.noMore }: { heading: string; sentence?: string } = page[state];
  const again = state === 'reserved' || state === 'paused' ? `/p/${slug}` : null;
  const url = state === 'reserved' ? again : (supportUrl ?? again);
  const label = url === supportUrl ? words.shop.contact : words.actions.tryAgain;
  return html`<h2>${heading}</h2>
<p>${fillIn(sentence, { shop, minutes: String(HOLD_MINUTES) })}</p>
${url === null ? nothing : html`<p><a class="button primary wide" href="${url}"><span>${fillIn(label, { shop })}</span></a></p>`}`;
}

function pageForm(found: FoundPage, language: Language, typed: Typed): Html {
  const { page, account } = found;
  const { page: words } = language.words;
  const { question, isAnswerRequired, currency } = page;
  const amountField: Field = {
    label: fillText(words.amount, { currency }),
    value: typed.amount,
    inputMode: 'decimal',
    sign: formatMoney(english, 1_00, currency).charAt(0),
    ...(typed.amountError === undefined
      ? { hint: fillText(words.amountHint, boundsText(found, language)) }
      : {}),
  };
  const answerField = (question: string): Field => ({
    // Isolates the question, whose text direction may differ from the page's.
    label: fillText(isAnswerRequired ? '{question}' : words.optional, {
      question: `\u2068${question}\u2069`,
    }),
    value: typed.answer,
    isOptional: !isAnswerRequired,
    hint: fillText(words.answerHint, { shop: account.name }),
  });
  const { amountError, answerError } = typed;
  const answerNotes = { error: answerError, hasFocus: (amountError ?? answerError) === answerError };
  const suggested = suggestedAmounts(amountBoundsOf(page, account), currency);
  const chips = suggested.map((cents) => {
    const text = formatCents(cents).replace('.00', '');
    const shown = formatMoney(language, cents, currency).replace(/[.,]00(?!\d)/, '');
    return html`<li><a class="button wide" href="?amount=${text}" data-amount="${text}"><bdi>${shown}</bdi></a></li>`;
  });
  return html`${typed.problem === undefined ? nothing : html`<p class="banner" role="alert">${typed.problem}</p>`}
<form method="post" novalidate><input type="hidden" name="token" value="${randomBytes(16).toString('base64url')}">
${
  page.amountCents === null &&
  html`${formField('amount', amountField, { error: amountError, hasFocus: amountError !== undefined })}
<ul class="chips" aria-label="${words.suggested}">${chips}</ul>`
}
${question === null ? nothing : formField('answer', answerField(question), answerNotes)}
${page.passFeeToCustomer ? html`<p>${words.feeAdded}</p>` : nothing}
<p><button class="button primary wide">${words.pay}</button></p></form>`;
}
