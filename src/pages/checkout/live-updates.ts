import type { FastifyReply } from 'fastify';
import { ServiceError } from '../../payment/errors.ts';
import { isPaymentId } from '../../payment/payment-id.ts';
import { meansInBrowser } from '../../payment/provider-catalog.ts';
import { isLoopbackHost } from '../../platform/public-address.ts';
import { type Language, type LanguageCode, languageOf } from '../../web/checkout-frame/languages.ts';
import { setCommonHeaders } from '../../web/checkout-frame/layout.ts';
import { addressGroupOf } from '../../web/rate-windows.ts';
import { checkoutContent } from './checkout-page.ts';
import { isTakenByProvider, takesPayment, traitsOf } from './checkout-view.ts';
import type { CheckoutPagesContext, CheckoutRequest } from './context.ts';
import { type Checkout, readCheckout } from './read-checkout.ts';

export interface LiveContent {
  readonly revision: string;
  readonly text: string;
  /** Whether nothing more changes by itself, which ends the stream. */
  readonly isLast: boolean;
}

export type ReadLiveContent = (
  page: Pick<Viewer, 'paymentId' | 'language' | 'userAgent'>,
) => Promise<LiveContent | null>;

interface Viewer {
  readonly paymentId: string;
  readonly language: LanguageCode;
  readonly userAgent: string;
  readonly address: string;
  /** Revision that the page already shows. */
  readonly revision: string;
  send(content: LiveContent): void;
  /** Ends the stream. Unless its content is final, the page polls and then tries another stream. */
  end(): void;
}

interface LiveUpdatesOptions {
  readonly read: ReadLiveContent;
  readonly everyMs: number;
  readonly maximumViewers: number;
  readonly maximumViewersOfAddress: number;
  readonly onError: (error: unknown) => void;
}

interface Watch {
  readonly viewers: Map<Viewer, string>;
  timer: NodeJS.Timeout | null;
}

/** Sends updates to open pages, with one read for each payment, language and set of means. */
export function createLiveUpdates(options: LiveUpdatesOptions) {
  const watches = new Map<string, Watch>();

  function leave(key: string, viewer: Viewer): void {
    const watch = watches.get(key);
    if (watch?.viewers.delete(viewer) !== true || watch.viewers.size > 0) return;
    if (watch.timer !== null) clearTimeout(watch.timer);
    watches.delete(key);
  }

  async function readAndSend(key: string, viewer: Viewer): Promise<void> {
    const watch = watches.get(key);
    if (watch === undefined) return;
    const content = await options.read(viewer).catch((error: unknown) => {
      options.onError(error);
      return undefined;
    });
    for (const [each, revision] of watch.viewers) {
      if (content === undefined) continue;
      if (content !== null && content.revision !== revision) {
        watch.viewers.set(each, content.revision);
        each.send(content);
      }
      if (content === null || content.isLast) end(key, each);
    }
    if (watches.get(key) !== watch) return;
    watch.timer = setTimeout(() => void readAndSend(key, viewer), options.everyMs);
  }

  function end(key: string, viewer: Viewer): void {
    leave(key, viewer);
    viewer.end();
  }

  return {
    /** Adds a viewer and returns a function that removes it; null if there are too many. */
    follow(viewer: Viewer): (() => void) | null {
      const { paymentId, language, userAgent, address } = viewer;
      const all = [...watches.values()].flatMap(({ viewers }) => [...viewers.keys()]);
      const ofAddress = all.filter((other) => other.address === address).length;
      if (all.length >= options.maximumViewers || ofAddress >= options.maximumViewersOfAddress) return null;
      const key = `${paymentId} ${language} ${meansInBrowser(userAgent)}`;
      const watch = watches.get(key) ?? { viewers: new Map(), timer: null };
      watch.viewers.set(viewer, viewer.revision);
      if (!watches.has(key)) {
        watches.set(key, watch);
        watch.timer = setTimeout(() => void readAndSend(key, viewer), options.everyMs);
      }
      return () => leave(key, viewer);
    },
    close(): void {
      for (const [key, { viewers }] of watches) for (const viewer of viewers.keys()) end(key, viewer);
    },
  };
}

/** Interval of an event that keeps proxies from closing the connection. */
const HEARTBEAT_MS = 20_000;
/** Maximum age of a stream. The page then reconnects, and a load balancer may choose another process. */
const LONGEST_MS = 10 * 60_000;

/** `GET /pay/:paymentId/events`: changes of a page as server-sent events. 204 if the page has to poll instead. */
export function showEvents(
  live: ReturnType<typeof createLiveUpdates>,
  { request, reply, params, query }: CheckoutRequest<'paymentId'>,
): FastifyReply {
  setCommonHeaders(reply);
  const { paymentId } = params;
  if (!isPaymentId(paymentId)) return reply.code(204).send();
  const { revision } = query;
  const { raw } = reply;
  const leave = live.follow({
    paymentId,
    language: languageOf(request).code,
    userAgent: request.headers['user-agent'] ?? '',
    // Loopback is this machine or a proxy that TRUST_PROXY does not name, so its visitors are counted separately.
    address: isLoopbackHost(request.ip) ? request.id : addressGroupOf(request.ip),
    revision: typeof revision === 'string' ? revision : '',
    send: ({ text }) => write(`data: ${text}\n\n`),
    end: () => stop('event: end\ndata:\n\n'),
  });
  if (leave === null) return reply.code(204).send();
  reply.hijack();
  raw.writeHead(200, stringHeadersOf(reply.type('text/event-stream; charset=utf-8')));
  raw.write('retry: 3000\n\n');
  const heartbeat = setInterval(() => write('event: beat\ndata:\n\n'), HEARTBEAT_MS);
  const limit = setTimeout(() => stop(), LONGEST_MS);
  raw.on('error', () => stop());
  raw.once('close', () => stop());
  // A disconnecting client first closes only its half of the connection.
  const { socket } = request.raw;
  socket.once('end', stop);
  return reply;

  function write(text: string): void {
    // Writing after the end would raise an unhandled error.
    if (!raw.writableEnded) raw.write(text);
  }

  function stop(last?: string): void {
    // The kept-alive connection serves further requests.
    socket.removeListener('end', stop);
    clearInterval(heartbeat);
    clearTimeout(limit);
    leave?.();
    if (!raw.writableEnded) raw.end(last);
  }
}

function stringHeadersOf(reply: FastifyReply): Record<string, string> {
  return Object.fromEntries(Object.entries(reply.getHeaders()).map(([name, value]) => [name, String(value)]));
}

/** `GET /pay/:paymentId/status`: the changing parts of the page. 304 while If-None-Match names its revision. */
export async function showStatus({ context, request, reply, params }: CheckoutRequest<'paymentId'>) {
  setCommonHeaders(reply);
  const checkout = await readCheckout(context, params.paymentId);
  if (checkout === null) {
    const { status, message } = new ServiceError('payment_not_found');
    return reply.code(status).send({ error: message });
  }
  const content = statusContent(context, checkout, languageOf(request), request.headers['user-agent']);
  reply.header('etag', `"${content.revision}"`);
  if (request.headers['if-none-match'] === `"${content.revision}"`) return reply.code(304).send();
  return reply.send(content);
}

export function statusContent(
  { explorerTransactionUrl, token }: Pick<CheckoutPagesContext, 'explorerTransactionUrl' | 'token'>,
  checkout: Checkout,
  language: Language,
  userAgent = '',
) {
  const content = checkoutContent(checkout, language, { explorerTransactionUrl, token, userAgent });
  return {
    view: checkout.view.kind,
    takesPayment: takesPayment(checkout.view) && !isTakenByProvider(checkout.view),
    revision: content.revision,
    refreshSeconds: traitsOf(checkout.view).refreshSeconds,
    title: content.title,
    status: content.status.toString(),
    panel: content.panel?.toString() ?? null,
    detail: content.detail.toString(),
    mail: content.mail.toString(),
  };
}
