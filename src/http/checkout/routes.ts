import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Words } from '../../../locales/locale.ts';
import { ServiceError } from '../../domain/errors.ts';
import {
  isOutcome,
  outcomesOf,
  simulatedProviderOf,
  type TestPayments,
} from '../../domain/ports/test-payments.ts';
import type { ProviderId } from '../../domain/provider-catalogue.ts';
import { canonicalPublicAddress } from '../../platform/public-address.ts';
import { serviceErrorOf } from '../error-reply.ts';
import { comesFromOwnPage, isSameOrigin } from '../signed-in/forms.ts';
import { sendCheckout, sendProblem } from './answer-checkout.ts';
import { isTakenByProvider, takesPayment } from './checkout-view.ts';
import type {
  CheckoutPagesContext,
  LogoRoute,
  OutcomeRoute,
  PaymentRoute,
  ProviderRoute,
  RefundLinkRoute,
  ShortLinkRoute,
} from './context.ts';
import { showPhoneCode } from './direct-payment.ts';
import { emailTokenOf } from './known-email.ts';
import { languageOf } from './languages.ts';
import { messagePage, sendPage, setCommonHeaders } from './layout.ts';
import {
  createLiveUpdates,
  type ReadLiveContent,
  showEvents,
  showStatus,
  statusContent,
} from './live-updates.ts';
import { countVisitor } from './page-limits.ts';
import { createPreviewDrawer, showPreview } from './preview-picture.ts';
import { automaticProvider, openProviderSession, redirectToProvider } from './provider-session.ts';
import { readCheckout } from './read-checkout.ts';
import { acceptRefundAddress, showRefund } from './refund-page.ts';
import { customerCountry, rememberLanguage } from './remember.ts';
import { showShortLink } from './short-link.ts';
import { showLogo } from './show-logo.ts';

/** The action of a form stands in its address; a form at most adds a country. */
const FORM_LIMIT_BYTES = 1024;
const STATUS_ROUTE = '/pay/:paymentId/status';
const EVENTS_ROUTE = '/pay/:paymentId/events';
const CODE_ROUTE = '/pay/:paymentId/qr.svg';
/** HEAD is answered like GET, without the body: link checkers and previews use it. Not for streams. */
const withHead = { exposeHeadRoute: true } as const;
/** Routes that a page requests by itself, and so more often than visitors do. */
const polledRoutes: readonly (string | undefined)[] = [
  STATUS_ROUTE,
  EVENTS_ROUTE,
  CODE_ROUTE,
  '/logos/:hash',
];

/**
 * Registers the pages for customers: `/pay/:paymentId` with its subordinate routes, and the short links
 * `/s/:shortCode`. They have their own scope: errors are pages there, and the server's own body parsers do not apply.
 */
export function registerCheckoutPages(server: FastifyInstance, context: CheckoutPagesContext): void {
  server.register((pages, _options, done) => {
    pages.removeAllContentTypeParsers();
    pages.addContentTypeParser(
      'application/x-www-form-urlencoded',
      { parseAs: 'string', bodyLimit: FORM_LIMIT_BYTES },
      (_request, body, done) => done(null, new URLSearchParams(String(body))),
    );
    const { limits } = context;
    pages.addHook('onRequest', (request) =>
      countVisitor(polledRoutes.includes(request.routeOptions.url) ? limits.polls : limits.pages, request),
    );
    pages.setErrorHandler((error, request, reply) => showError(context, error, request, reply));

    // Only GET leads on to a provider: HEAD checks whether the link works and must start no session.
    pages.head<PaymentRoute>('/pay/:paymentId', (request, reply) => {
      delete request.query['auto'];
      return showCheckout(context, request, reply);
    });
    pages.get<PaymentRoute>('/pay/:paymentId', (request, reply) => showCheckout(context, request, reply));
    pages.get<PaymentRoute>(CODE_ROUTE, withHead, (request, reply) => showPhoneCode(context, request, reply));
    const live = createLiveUpdates({ ...liveLimits, ...liveSources(context, pages) });
    pages.addHook('preClose', (closed) => {
      live.close();
      closed();
    });
    pages.get<PaymentRoute>(EVENTS_ROUTE, (request, reply) => showEvents(live, request, reply));
    pages.get<PaymentRoute>(STATUS_ROUTE, withHead, (request, reply) => showStatus(context, request, reply));
    pages.post<ProviderRoute>(
      '/pay/:paymentId/providers/:provider',
      { onRequest: (request) => countVisitor(limits.starts, request) },
      (request, reply) => openProviderSession(context, request, reply),
    );
    pages.get<ProviderRoute>('/pay/:paymentId/providers/:provider', (request, reply) =>
      showOnlyByForm(context, request, reply),
    );
    const { testPayments } = context;
    if (testPayments !== null) {
      pages.post<OutcomeRoute>(
        '/pay/:paymentId/outcomes/:outcome',
        { onRequest: (request) => countVisitor(limits.starts, request) },
        (request, reply) => answerSimulation(context, testPayments, request, reply),
      );
    }
    pages.get<RefundLinkRoute>('/refund/:refundId/:token', withHead, (request, reply) =>
      showRefund(context, request, reply),
    );
    pages.post<RefundLinkRoute>(
      '/refund/:refundId/:token',
      { onRequest: (request) => countVisitor(limits.starts, request) },
      (request, reply) => acceptRefundAddress(context, request, reply),
    );
    pages.get<ShortLinkRoute>('/s/:shortCode', withHead, (request, reply) =>
      showShortLink(context, request, reply),
    );
    const drawPreview = createPreviewDrawer({
      monotonicMs: () => performance.now(),
      onFailure: (err) => pages.log.error({ err }, 'the picture of a link preview could not be drawn'),
    });
    pages.get<ShortLinkRoute>('/s/:shortCode/preview.png', withHead, (request, reply) =>
      showPreview(context, drawPreview, request, reply),
    );
    pages.get<LogoRoute>('/logos/:hash', withHead, (request, reply) => showLogo(context, request, reply));
    done();
  });
}

/** Open streams cost a socket each, and each watched payment a regular read. */
const liveLimits = { everyMs: 1_500, maximumViewers: 2_000, maximumViewersOfAddress: 60 } as const;

function liveSources(context: CheckoutPagesContext, { log }: FastifyInstance) {
  const read: ReadLiveContent = async (paymentId, code) => {
    const checkout = await readCheckout(context, paymentId);
    if (checkout === null) return null;
    const content = statusContent(context, checkout, languageOf({ query: { lang: code }, headers: {} }));
    const { revision, refreshSeconds } = content;
    return { revision, text: JSON.stringify(content), isLast: refreshSeconds === null };
  };
  const onError = (err: unknown) => log.error({ err }, 'an open page could not be updated');
  return { read, onError };
}

/** A provider session begins with a click, never by opening an address. */
function showOnlyByForm(
  context: CheckoutPagesContext,
  request: FastifyRequest<ProviderRoute>,
  reply: FastifyReply,
): FastifyReply {
  const language = languageOf(request);
  const { messages, actions } = language.words;
  const href = `/pay/${encodeURIComponent(request.params.paymentId)}`;
  const page = messagePage({
    ...messages.onlyByButton,
    language,
    isTestMode: context.isTestMode,
    link: { href, label: actions.backToCheckout },
  });
  return sendPage(reply.header('allow', 'POST'), { status: 405, baseUrl: context.baseUrl, page });
}

/** Failures as pages of the same design; internal errors are logged and never shown. */
function showError(
  context: CheckoutPagesContext,
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const { status, retryAfterSeconds } = serviceErrorOf(error);
  if (status >= 500) request.log.error({ err: error }, 'a checkout page failed');
  if (retryAfterSeconds !== null) reply.header('retry-after', String(retryAfterSeconds));
  const language = languageOf(request);
  const page = messagePage({
    ...messageOf(status, language.words),
    language,
    isTestMode: context.isTestMode,
  });
  return sendPage(reply, { status, baseUrl: context.baseUrl, page });
}

function messageOf(status: number, { messages }: Words): { heading: string; sentence: string } {
  if (status === 404) return messages.unknownLink;
  if (status === 429) return messages.tooManyRequests;
  return status < 500 ? messages.didNotWork : messages.ourFailure;
}

/** `POST /pay/:paymentId/outcomes/:outcome`: a button of the panel of outcomes. Live mode has no such route. */
async function answerSimulation(
  context: CheckoutPagesContext,
  testPayments: Pick<TestPayments, 'simulateOutcome'>,
  request: FastifyRequest<OutcomeRoute>,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { paymentId, outcome } = request.params;
  const checkout = await readCheckout(context, paymentId);
  if (checkout === null) throw new ServiceError('payment_not_found');
  const { payment, view } = checkout;
  if (!isOutcome(outcome) || !outcomesOf(payment).includes(outcome)) throw new ServiceError('not_found');
  if (!isSameOrigin(request.headers, context.baseUrl)) throw new ServiceError('invalid_request');
  try {
    // A second click, after the first has succeeded.
    if (takesPayment(view)) await testPayments.simulateOutcome(payment, outcome);
  } catch (error) {
    return sendProblem(context, request, reply, payment.id, simulatedProviderOf(payment), error);
  }
  return setCommonHeaders(reply).redirect(`/pay/${payment.id}`, 303);
}

/** `GET /pay/:paymentId`: the page, or a redirect to the provider if the link requests it. */
async function showCheckout(
  context: CheckoutPagesContext,
  request: FastifyRequest<PaymentRoute>,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const checkout = await readCheckout(context, request.params.paymentId);
  if (checkout === null) throw new ServiceError('payment_not_found');
  rememberLanguage(context, request, reply);
  const { view, payment } = checkout;
  // A customer of whom a part has arrived reads first that only the rest is charged.
  const provider =
    takesPayment(view) && view.kind !== 'underpaid' && !isTakenByProvider(view)
      ? automaticProvider(payment, request.query, request.headers)
      : null;
  if (provider === null)
    return sendCheckout(context, request, reply, checkout, { status: 200, problem: null });
  if (needsOwnPage(context, request, provider)) {
    const leadsOn = hasBeenRefreshed(request)
      ? null
      : { withoutScript: `/pay/${payment.id}?auto=1&${REFRESHED}=1` };
    return sendCheckout(context, request, reply, checkout, { status: 200, problem: null, leadsOn });
  }
  await countVisitor(context.limits.starts, request);
  try {
    const visitor = {
      country: customerCountry(context, request),
      ip: canonicalPublicAddress(request.ip),
      language: languageOf(request).code,
      knowsEmail: emailTokenOf(context, request, payment) !== null,
    };
    return redirectToProvider(reply, await context.startSession(payment, provider, visitor));
  } catch (error) {
    return sendProblem(context, request, reply, payment.id, provider, error);
  }
}

/** Marks the address to which the page of a direct link refreshes without script. */
const REFRESHED = 'refreshed';

/**
 * Whether the provider would refuse the customer after a redirect of the link: it checks the referring site, and the
 * browser would name the shop's, or none. Some browsers name none with a refresh either; their customers press the
 * button.
 */
function needsOwnPage(
  { directory, baseUrl }: CheckoutPagesContext,
  { headers }: FastifyRequest,
  provider: ProviderId,
): boolean {
  return directory.adapters.get(provider)?.checksReferrer === true && !comesFromOwnPage(headers, baseUrl);
}

function hasBeenRefreshed({ query }: FastifyRequest<PaymentRoute>): boolean {
  return query[REFRESHED] !== undefined;
}
