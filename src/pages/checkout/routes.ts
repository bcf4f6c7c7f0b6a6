import { hash } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { parseUserEmail } from '../../accounts/person.ts';
import { UNSERVED } from '../../payment/checkout-url.ts';
import { RegionNotServedError, ServiceError } from '../../payment/errors.ts';
import type { ProviderId } from '../../payment/provider-catalog.ts';
import { outcomesOf, simulatedProviderOf, type TestPayments } from '../../payment/test-payments.ts';
import { languageOf } from '../../web/checkout-layout/languages.ts';
import {
  linkBack,
  messagePage,
  sendPage,
  sendShopScript,
  setCommonHeaders,
} from '../../web/checkout-layout/layout.ts';
import { html } from '../../web/design/html.ts';
import { serviceErrorOf } from '../../web/error-reply.ts';
import type { Words } from '../../web/locales/locale.ts';
import { enforceRateLimit, limitByAddress } from '../../web/rate-windows.ts';
import { acceptForms, comesFromOwnPage, isSameOrigin } from '../../web/signed-in/forms.ts';
import { sendCheckout, sendProblem } from './answer-checkout.ts';
import { isTakenByProvider, takesPayment } from './checkout-view.ts';
import { problemWords } from './choose-words.ts';
import type { CheckoutPagesContext, CheckoutRequest, CheckoutRoutes } from './context.ts';
import { showPhoneCode, showTransferCode } from './direct-payment.ts';
import {
  createLiveUpdates,
  type ReadLiveContent,
  showEvents,
  showStatus,
  statusContent,
} from './live-updates.ts';
import { createPreviewDrawer, showPreview } from './preview-picture.ts';
import { automaticProvider, isPreview, openProviderSession, redirectToProvider } from './provider-session.ts';
import { readCheckout, requireCheckout } from './read-checkout.ts';
import { rememberLanguage } from './remember.ts';
import { showShortLink } from './short-link.ts';

/** Maximum size of a form in bytes. Forms have few fields, because the URL names their action. */
const FORM_LIMIT_BYTES = 1024;
/** Endings of routes that pages poll or load automatically, with a higher limit than visits. */
const polledRoute = /\/(?:status|events|qr\.svg|transfer\.svg|:hash|checkout\.js)$/;

/** Registers the pages of customers and features in a scope that renders errors as pages. */
export function registerCheckoutPages(
  server: FastifyInstance,
  context: CheckoutPagesContext,
  features: readonly ((routes: CheckoutRoutes) => void)[],
): void {
  server.register((scope, _options, done) => {
    acceptForms(scope, FORM_LIMIT_BYTES);
    const { limits } = context;
    scope.addHook('onRequest', (request) =>
      limitByAddress(polledRoute.test(request.routeOptions.url ?? '') ? limits.polls : limits.pages, request),
    );
    const live = createLiveUpdates({ ...liveLimits, ...liveSources(context, scope) });
    scope.addHook('preClose', (closed) => {
      live.close();
      closed();
    });
    const drawPreview = createPreviewDrawer({
      monotonicMs: () => performance.now(),
      onFailure: (err) => scope.log.error({ err }, 'the picture of a link preview could not be drawn'),
      draw: context.pictures.draw,
    });

    const askedOf = <Parameter extends string>(request: FastifyRequest, reply: FastifyReply) => ({
      context,
      request,
      reply,
      params: request.params as Readonly<Record<Parameter, string>>,
      query: request.query as Record<string, unknown>,
    });
    const routes: CheckoutRoutes = {
      page: (path, show, exposeHeadRoute = true) =>
        scope.get(path, { exposeHeadRoute }, (request, reply) => show(askedOf(request, reply))),
      form(path, act, bodyLimit) {
        const onRequest = (request: FastifyRequest) => limitByAddress(limits.starts, request);
        const options = bodyLimit === undefined ? { onRequest } : { bodyLimit };
        scope.post(path, options, (request, reply) => act(askedOf(request, reply)));
      },
    };
    const { page, form } = routes;

    scope.setErrorHandler((error, request, reply) => showError(askedOf(request, reply), error));
    // HEAD only checks whether the link works, so it must not start a session.
    scope.head('/pay/:paymentId', (request, reply) => {
      const asked = askedOf<'paymentId'>(request, reply);
      delete asked.query['auto'];
      return showCheckout(asked);
    });
    page('/pay/:paymentId', showCheckout, false);
    page('/pay/:paymentId/qr.svg', showPhoneCode);
    page('/pay/:paymentId/transfer.svg', showTransferCode);
    page('/pay/:paymentId/events', async (asked) => showEvents(live, asked), false);
    page('/pay/:paymentId/status', showStatus);
    form('/pay/:paymentId/providers/:provider', openProviderSession);
    page('/pay/:paymentId/providers/:provider', leadToCheckout, false);
    form('/pay/:paymentId/email', acceptMailAddress);
    page('/pay/:paymentId/email', leadToCheckout, false);
    const { testPayments } = context;
    if (testPayments !== null)
      form('/pay/:paymentId/outcomes/:outcome', (asked) => answerSimulation(testPayments, asked));
    for (const register of features) register(routes);
    page('/s/:shortCode', showShortLink);
    page('/s/:shortCode/preview.png', (asked) => showPreview(drawPreview, asked));
    page('/logos/:hash', showLogo);
    page('/checkout.js', async ({ reply }) => sendShopScript(reply));
    done();
  });
}

/** Limits of live updates. Each open stream costs a socket and regular reads. */
const liveLimits = { everyMs: 1_500, maximumViewers: 2_000, maximumViewersOfAddress: 60 } as const;

function liveSources(context: CheckoutPagesContext, { log }: FastifyInstance) {
  const read: ReadLiveContent = async ({ paymentId, language: lang, userAgent }) => {
    const checkout = await readCheckout(context, paymentId);
    if (checkout === null) return null;
    const language = languageOf({ query: { lang }, headers: {} });
    const content = statusContent(context, checkout, language, userAgent);
    const { revision, refreshSeconds } = content;
    return { revision, text: JSON.stringify(content), isLast: refreshSeconds === null };
  };
  const onError = (err: unknown) => log.error({ err }, 'an open page could not be updated');
  return { read, onError };
}

/** Redirects GET requests for a form's URL, because they must not start a provider session. */
async function leadToCheckout({ reply, params }: CheckoutRequest<'paymentId'>): Promise<FastifyReply> {
  return setCommonHeaders(reply).redirect(`/pay/${encodeURIComponent(params.paymentId)}`, 303);
}

function showError(asked: CheckoutRequest, error: unknown): FastifyReply {
  const { context, request, reply } = asked;
  const { isTestMode } = context;
  const { status, retryAfterSeconds } = serviceErrorOf(error);
  if (status >= 500) request.log.error({ err: error }, 'a checkout page failed');
  if (retryAfterSeconds !== null) reply.header('retry-after', String(retryAfterSeconds));
  const language = languageOf(request);
  const { words } = language;
  const { paymentId } = asked.params as { readonly paymentId?: string };
  const href = paymentId === undefined ? request.url : `/pay/${encodeURIComponent(paymentId)}`;
  const label = status === 429 || status >= 500 ? words.actions.tryAgain : words.actions.backToCheckout;
  const isKnown = paymentId !== undefined || label === words.actions.tryAgain;
  const known = isKnown ? { href, label } : undefined;
  const link = status === 404 ? linkBack(request, context.baseUrl, language) : known;
  return sendPage(asked, status, messagePage({ ...messageOf(status, words), language, isTestMode, link }));
}

type Message = Words['messages'][keyof Words['messages']];

function messageOf(status: number, { messages }: Words): Message {
  if (status === 404) return messages.unknownLink;
  if (status === 429) return messages.tooManyRequests;
  return status < 500 ? messages.didNotWork : messages.ourFailure;
}

/** Handles `POST /pay/:paymentId/outcomes/:outcome`, a simulation button. Live mode has no such route. */
async function answerSimulation(
  testPayments: Pick<TestPayments, 'simulateOutcome'>,
  asked: CheckoutRequest<'paymentId' | 'outcome'>,
): Promise<FastifyReply> {
  const { context, request, reply, params } = asked;
  const { payment, view } = await requireCheckout(context, params.paymentId);
  const outcome = outcomesOf(payment).find((possible) => possible === params.outcome);
  if (outcome === undefined) throw new ServiceError('not_found');
  if (!isSameOrigin(request.headers, context.baseUrl)) throw new ServiceError('invalid_request');
  try {
    if (takesPayment(view)) await testPayments.simulateOutcome(payment, outcome);
  } catch (error) {
    return sendProblem(asked, payment.id, simulatedProviderOf(payment), error);
  }
  return setCommonHeaders(reply).redirect(`/pay/${payment.id}`, 303);
}

/** Responds to `GET /pay/:paymentId` with the page, or with a redirect to the provider for a direct link. */
async function showCheckout(asked: CheckoutRequest<'paymentId'>): Promise<FastifyReply> {
  const { context, request, params, query } = asked;
  const checkout = await requireCheckout(context, params.paymentId);
  rememberLanguage(asked);
  const { view, payment } = checkout;
  if (request.method === 'GET' && !isPreview(request.headers)) context.recordOpened(payment);
  // After a partial payment, the page must first explain that only the rest is charged.
  const provider =
    takesPayment(view) && view.kind !== 'underpaid' && !isTakenByProvider(view)
      ? automaticProvider(payment, query, request.headers)
      : null;
  const unserved = checkout.offers.find((offer) => offer.provider === query[UNSERVED])?.provider;
  if (unserved !== undefined && !isTakenByProvider(view)) {
    const refusal = new RegionNotServedError('');
    const problem = problemWords(languageOf(request), refusal, unserved, checkout);
    const refused = { provider: unserved, refusal };
    return sendCheckout(asked, checkout, { status: 200, problem, refused, isStill: true });
  }
  if (provider === null) return sendCheckout(asked, checkout, { status: 200, problem: null });
  if (needsOwnPage(context, request, provider)) {
    const withoutScript = `/pay/${payment.id}?auto=1&${REFRESHED}=1`;
    const autoContinue = query[REFRESHED] === undefined ? withoutScript : null;
    return sendCheckout(asked, checkout, { status: 200, problem: null, autoContinue });
  }
  await limitByAddress(context.limits.starts, request);
  return redirectToProvider(asked, payment, provider);
}

/** Query parameter that marks the URL to which a direct link's page refreshes without script. */
const REFRESHED = 'refreshed';

/** Returns whether the provider checks the referring site, which a redirect would omit. */
function needsOwnPage(
  { directory, baseUrl }: CheckoutPagesContext,
  { headers }: FastifyRequest,
  provider: ProviderId,
): boolean {
  return directory.adapters.get(provider)?.checksReferrer === true && !comesFromOwnPage(headers, baseUrl);
}

/** Cache policy of one year. A changed picture has a new hash and URL. */
const FOREVER = 'public, max-age=31536000, immutable';

async function showLogo({ context, reply, params }: CheckoutRequest<'hash'>): Promise<FastifyReply> {
  const logo = /^[0-9a-f]{32}$/.test(params.hash) ? await context.accounts.findLogo(params.hash) : null;
  if (logo === null) throw new ServiceError('not_found');
  return setCommonHeaders(reply)
    .header('cache-control', FOREVER)
    .type('image/png')
    .send(Buffer.from(logo.bytes));
}

/** End of a public domain name. Excludes IP addresses and names in private networks. */
const publicDomain = /\.(?!local|internal)[a-z][a-z0-9-]+$/;

async function acceptMailAddress(asked: CheckoutRequest<'paymentId'>): Promise<FastifyReply> {
  const { context, request, reply, params } = asked;
  const checkout = await requireCheckout(context, params.paymentId);
  const { id } = checkout.payment;
  const language = languageOf(request);
  const { mail: words, problems } = language.words;
  const refuse = (status: number, problem: string) =>
    sendCheckout(asked, checkout, { status, problem: html`${problem}` });
  if (!isSameOrigin(request.headers, context.baseUrl)) return refuse(403, problems.notFromHere);
  if (context.receipts && checkout.mail !== null && checkout.mail !== 'own') {
    const typed = request.body instanceof URLSearchParams ? (request.body.get('email') ?? '') : '';
    const email = parseUserEmail(typed);
    if (email === null || !publicDomain.test(email)) return refuse(400, words.wrong);
    const { mailVisitors, mailPayments, mailRecipients } = context.limits;
    try {
      await limitByAddress(mailVisitors, request);
      await enforceRateLimit(mailPayments, id);
      await enforceRateLimit(mailRecipients, hash('sha256', email.replace(/\+.*@/, '@')));
    } catch (error) {
      if (!(error instanceof ServiceError) || error.retryAfterSeconds === null) throw error;
      reply.header('retry-after', error.retryAfterSeconds);
      return refuse(429, words.tooOften);
    }
    await context.receipts.askForReceipt(id, { email, language: language.code }, context.nowMs());
  }
  return setCommonHeaders(reply).redirect(`/pay/${id}#mail`, 303);
}
