import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ProviderId } from '../../domain/provider-catalogue.ts';
import { type AcceptOrderContext, acceptOrder, type WantedDelivery } from './accept-order.ts';
import { renderExpiredPage, renderNoticePage, renderPaymentPage, renderResultPage } from './onramp-pages.ts';
import { onrampContentSecurityPolicy } from './onramp-style.ts';
import type { Order } from './order.ts';
import { findTestCard, type TestCard } from './test-cards.ts';

export interface PageRouteDependencies extends AcceptOrderContext {
  readonly provider: ProviderId;
  /** An order was paid and may be due. */
  readonly orderAccepted: (order: Order) => void;
  /** A card was declined; the order stays open. */
  readonly orderDeclined: (order: Order) => void;
}

/** Answers with a page of a simulated on-ramp and the headers that go with it. */
export function sendPage(reply: FastifyReply, status: number, page: string): FastifyReply {
  return reply
    .code(status)
    .header('content-type', 'text/html; charset=utf-8')
    .header('content-security-policy', onrampContentSecurityPolicy)
    .header('referrer-policy', 'no-referrer')
    .header('x-content-type-options', 'nosniff')
    .header('cache-control', 'no-store')
    .send(page);
}

/** A parameter that was given once, as text. */
function singleText(fields: unknown, name: string): string {
  const value = (fields as Record<string, unknown> | null | undefined)?.[name];
  return typeof value === 'string' ? value : '';
}

/** Half for the card that delivers too little, later for the one that takes long, else what the provider brings. */
function deliveryOf(order: Order, card: TestCard): WantedDelivery {
  return {
    isLate: card.outcome === 'slow',
    ...(card.outcome === 'short' ? { units: order.quotedUnits / 2n } : {}),
  };
}

/** The pages of one simulated on-ramp: the card form and what became of it. */
export function registerPageRoutes(server: FastifyInstance, dependencies: PageRouteDependencies): void {
  const { provider, store, nowMs } = dependencies;
  const path = `/${provider}/pay/:orderId`;

  const findOrder = (request: FastifyRequest): Order | null => {
    const order = store.findOrder(singleText(request.params, 'orderId'));
    return order?.provider === provider ? order : null;
  };
  const sendUnknown = (reply: FastifyReply) =>
    sendPage(reply, 404, renderNoticePage('Unknown order', 'This on-ramp knows no such order.'));
  const sendResult = (order: Order, reply: FastifyReply) =>
    reply.redirect(`/${provider}/pay/${order.id}/result`, 303);
  const hasExpired = (order: Order) => order.state === 'open' && nowMs() >= order.expiresAtMs;

  server.get(path, (request, reply) => {
    const order = findOrder(request);
    if (order === null) return sendUnknown(reply);
    if (hasExpired(order)) return sendPage(reply, 410, renderExpiredPage(order));
    if (order.state !== 'open') return sendResult(order, reply);
    // Only a test card may be filled in: a real number in a link must not end up in the page.
    const card = findTestCard(singleText(request.query, 'card'));
    return sendPage(reply, 200, renderPaymentPage(order, card?.number ?? '', null));
  });

  server.post(path, (request, reply) => {
    const order = findOrder(request);
    if (order === null) return sendUnknown(reply);
    if (hasExpired(order)) return sendPage(reply, 410, renderExpiredPage(order));
    if (order.state !== 'open') return sendResult(order, reply);
    const card = findTestCard(singleText(request.body, 'card_number'));
    if (card === null) {
      const problem = 'This simulated on-ramp knows only the test cards below. Nothing was charged.';
      return sendPage(reply, 422, renderPaymentPage(order, '', problem));
    }
    if (card.outcome === 'declined' || dependencies.faultOf(provider) === 'refuse') {
      dependencies.orderDeclined(order);
      const problem = 'The card was declined. Nothing was charged; try another one.';
      return sendPage(reply, 402, renderPaymentPage(order, '', problem));
    }
    // Of two clicks at the same time only one is accepted; both see the result.
    if (acceptOrder(dependencies, order, deliveryOf(order, card))) dependencies.orderAccepted(order);
    return sendResult(order, reply);
  });

  server.get(`${path}/result`, (request, reply) => {
    const order = findOrder(request);
    if (order === null) return sendUnknown(reply);
    const { state } = order;
    if (state === 'open') return reply.redirect(`/${provider}/pay/${order.id}`, 303);
    return sendPage(reply, 200, renderResultPage({ ...order, state }));
  });
}
