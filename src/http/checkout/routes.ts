import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { serviceErrorOf } from '../error-reply.ts';
import type {
  CheckoutPagesContext,
  LogoRoute,
  PaymentRoute,
  ProviderRoute,
  ShortLinkRoute,
} from './context.ts';
import { messagePage } from './message-page.ts';
import { sendPage } from './page-headers.ts';
import { countVisitor } from './page-limits.ts';
import { showCheckout } from './show-checkout.ts';
import { showLogo } from './show-logo.ts';
import { showShortLink } from './show-short-link.ts';
import { showStatus } from './show-status.ts';
import { visitProvider } from './visit-provider.ts';

/** A form of ours has no fields: what a click means stands in its address. */
const FORM_LIMIT_BYTES = 1024;
const STATUS_ROUTE = '/pay/:paymentId/status';
/** What a page asks for by itself, and so more often than people do. */
const askedByPages: readonly (string | undefined)[] = [STATUS_ROUTE, '/logos/:hash'];

/**
 * Registers the pages customers see: `/pay/:paymentId` with what belongs to it, and the short links `/s/:shortCode`.
 * They keep to their own scope: errors are pages there, and the server's own body parsers do not apply.
 */
export function registerCheckoutPages(server: FastifyInstance, context: CheckoutPagesContext): void {
  server.register((pages, _options, done) => {
    pages.removeAllContentTypeParsers();
    pages.addContentTypeParser(
      'application/x-www-form-urlencoded',
      { parseAs: 'string', bodyLimit: FORM_LIMIT_BYTES },
      (_request, _body, done) => done(null, null),
    );
    const { limits } = context;
    pages.addHook('onRequest', (request) =>
      countVisitor(askedByPages.includes(request.routeOptions.url) ? limits.polls : limits.pages, request),
    );
    pages.setErrorHandler((error, request, reply) => showError(context, error, request, reply));

    pages.get<PaymentRoute>('/pay/:paymentId', (request, reply) => showCheckout(context, request, reply));
    pages.get<PaymentRoute>(STATUS_ROUTE, (request, reply) => showStatus(context, request, reply));
    pages.post<ProviderRoute>(
      '/pay/:paymentId/providers/:provider',
      { onRequest: (request) => countVisitor(limits.starts, request) },
      (request, reply) => visitProvider(context, request, reply),
    );
    pages.get<ProviderRoute>('/pay/:paymentId/providers/:provider', (request, reply) =>
      showOnlyByForm(context, request, reply),
    );
    pages.get<ShortLinkRoute>('/s/:shortCode', (request, reply) => showShortLink(context, request, reply));
    pages.get<LogoRoute>('/logos/:hash', (request, reply) => showLogo(context, request, reply));
    done();
  });
}

/** A visit at a provider begins with a click, never by opening an address. */
function showOnlyByForm(
  context: CheckoutPagesContext,
  request: FastifyRequest<ProviderRoute>,
  reply: FastifyReply,
): FastifyReply {
  const page = messagePage({
    heading: 'Please start from the checkout',
    sentence: 'This address works only by the button on the checkout page.',
    isSandbox: context.isSandbox,
    link: { href: `/pay/${encodeURIComponent(request.params.paymentId)}`, label: 'Back to the checkout' },
  });
  return sendPage(reply.header('allow', 'POST'), { status: 405, baseUrl: context.baseUrl, page });
}

/** Failures as pages of the same look; what is ours to repair is logged, and never shown. */
function showError(
  context: CheckoutPagesContext,
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const { status, retryAfterSeconds } = serviceErrorOf(error);
  if (status >= 500) request.log.error({ err: error }, 'a checkout page failed');
  if (retryAfterSeconds !== null) reply.header('retry-after', String(retryAfterSeconds));
  const page = messagePage({ ...messageOf(status), isSandbox: context.isSandbox });
  return sendPage(reply, { status, baseUrl: context.baseUrl, page });
}

function messageOf(status: number): { heading: string; sentence: string } {
  if (status === 404) {
    return {
      heading: 'There is no checkout here',
      sentence: 'The link may be incomplete. Please open it again from the shop or the message it came with.',
    };
  }
  if (status === 429) {
    return {
      heading: 'Too many requests from your network',
      sentence:
        'Nothing is lost and nothing was charged by this. Please wait a minute and load the page again.',
    };
  }
  if (status < 500) {
    return { heading: 'That did not work', sentence: 'Please go back to the checkout and try again.' };
  }
  return {
    heading: 'Something went wrong on our side',
    sentence: 'Your card was not charged by this. Please try again in a moment.',
  };
}
