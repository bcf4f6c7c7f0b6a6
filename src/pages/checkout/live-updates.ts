import type { FastifyReply } from 'fastify';
import { ServiceError } from '../../payment/errors.ts';
import { isPaymentId } from '../../payment/payment-id.ts';
import { isLoopbackHost } from '../../platform/public-address.ts';
import { type Language, type LanguageCode, languageOf } from '../../web/checkout-layout/languages.ts';
import { setCommonHeaders } from '../../web/checkout-layout/layout.ts';
import { addressGroupOf } from '../../web/rate-windows.ts';
import { checkoutContent } from './checkout-page.ts';
import { pageStateOf, traitsOf } from './checkout-view.ts';
import type { CheckoutPagesContext, CheckoutRequest } from './context.ts';
import { type Checkout, readCheckout } from './read-checkout.ts';

export interface LiveContent {
  readonly revision: string;
  readonly text: string;
  /** Whether the content is final. The stream then ends. */
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
  readonly revision: string;
  send(content: LiveContent): void;
  /** Ends the stream. Unless its content is final, the page polls and then opens another stream. */
  end(): void;
}

interface LiveUpdatesOptions {
  readonly read: ReadLiveContent;
  readonly everyMs: number;
  readonly maximumViewers: number;
  readonly maximumViewersOfAddress: number;
  readonly onError: (error: unknown) => void;
}

/** Sends updates to open pages. Each page is read separately, so the maximum number of pages limits the reads. */
export function createLiveUpdates(options: LiveUpdatesOptions) {
  const viewers = new Map<Viewer, NodeJS.Timeout>();

  function leave(viewer: Viewer): void {
    clearTimeout(viewers.get(viewer));
    viewers.delete(viewer);
  }

  function end(viewer: Viewer): void {
    leave(viewer);
    viewer.end();
  }

  function watch(viewer: Viewer, revision: string): void {
    const timer = setTimeout(() => void readAndSend(viewer, revision), options.everyMs);
    viewers.set(viewer, timer);
  }

  async function readAndSend(viewer: Viewer, shown: string): Promise<void> {
    const content = await options.read(viewer).catch((error: unknown) => {
      options.onError(error);
      return undefined;
    });
    if (!viewers.has(viewer)) return;
    if (content && content.revision !== shown) viewer.send(content);
    if (content === null || content?.isLast) end(viewer);
    else watch(viewer, content?.revision ?? shown);
  }

  return {
    /** Adds a viewer and returns a function that removes it; null if too many are open. */
    follow(viewer: Viewer): (() => void) | null {
      const ofAddress = [...viewers.keys()].filter(({ address }) => address === viewer.address).length;
      if (viewers.size >= options.maximumViewers || ofAddress >= options.maximumViewersOfAddress) return null;
      watch(viewer, viewer.revision);
      return () => leave(viewer);
    },
    close(): void {
      for (const viewer of viewers.keys()) end(viewer);
    },
  };
}

/** Interval of heartbeat events, which keep proxies from closing the connection. */
const HEARTBEAT_MS = 20_000;
/** Maximum age of a stream. The page then reconnects, so that load balancers can choose another process. */
const LONGEST_MS = 10 * 60_000;

/** Responds to `GET /pay/:paymentId/events` with server-sent events, or with 204 if the page has to poll instead. */
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
    // Counts visitors from loopback separately, because it may be a proxy missing from TRUST_PROXY.
    address: isLoopbackHost(request.ip) ? request.id : addressGroupOf(request.ip),
    revision: typeof revision === 'string' ? revision : '',
    send: ({ text }) => write(`data: ${text}\n\n`),
    end: () => stop('event: end\ndata:\n\n'),
  });
  if (leave === null) return reply.code(204).send();
  reply.hijack();
  const headers = Object.entries(reply.type('text/event-stream; charset=utf-8').getHeaders());
  raw.writeHead(200, Object.fromEntries(headers.map(([name, value]) => [name, String(value)])));
  raw.write('retry: 3000\n\n');
  const heartbeat = setInterval(() => write('event: beat\ndata:\n\n'), HEARTBEAT_MS);
  const limit = setTimeout(() => stop(), LONGEST_MS);
  raw.on('error', () => stop());
  raw.once('close', () => stop());
  // Stops when the client closes its half of the connection, which precedes `close`.
  const { socket } = request.raw;
  socket.once('end', stop);
  return reply;

  function write(text: string): void {
    // Writing to an ended response would cause an unhandled error.
    if (!raw.writableEnded) raw.write(text);
  }

  function stop(last?: string): void {
    // Removes the listener, because the connection stays open for later requests.
    socket.removeListener('end', stop);
    clearInterval(heartbeat);
    clearTimeout(limit);
    leave?.();
    if (!raw.writableEnded) raw.end(last);
  }
}

/** Responds to `GET /pay/:paymentId/status` with the page's changing parts; 304 if If-None-Match is current. */
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
    state: pageStateOf(checkout.view),
    revision: content.revision,
    refreshSeconds: traitsOf(checkout.view).refreshSeconds,
    title: content.title,
    elapsed: content.elapsed.toString(),
    status: content.status.toString(),
    panel: content.panel?.toString() ?? null,
    detail: content.detail.toString(),
    mail: content.mail.toString(),
  };
}
