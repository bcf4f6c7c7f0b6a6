import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import formbody from '@fastify/formbody';
import { type FastifyInstance, type FastifyReply, fastify } from 'fastify';
import { preferLoopbackPort } from '../loopback-port.ts';
import type { SandboxLog } from '../sandbox-log.ts';
import { createShopOrders, type ShopOrders, shopProducts } from './shop-order.ts';
import {
  catalogPage,
  inboxPage,
  orderPage,
  shopContentSecurityPolicy,
  shopScript,
  shopStyle,
} from './shop-pages.ts';
import { createShopServerSide, type ShopAccount, type ShopServerSide } from './shop-server-side.ts';
import { createWebhookInbox, type WebhookInbox } from './webhook-inbox.ts';

const LOOPBACK = '127.0.0.1';
const MAXIMUM_BODY_BYTES = 64 * 1024;
const IDLE_PATH = '/idle';
const INBOX_PATH = '/inbox';
const RETURN_PATH = '/payments';

export interface ShopOptions {
  readonly account: Omit<ShopAccount, 'callbackUrl'>;
  /** Returns the signing token of a payment that was created by hand, or null for an invalid id. */
  readonly ipnTokenOf: (paymentId: string) => string | null;
  readonly nowMs: () => number;
  /** Preferred ports, or 0 for any. If a port is taken, another one is used and logged. */
  readonly ports: { readonly shop: number; readonly receiver: number };
  readonly log: SandboxLog;
}

/** Merchant in the sandbox: a shop with pages, and a receiver for its webhooks. */
export interface Shop {
  readonly url: string;
  /** Return URL for the shop's account, which leads customers back to their order. */
  readonly returnUrl: string;
  /** Callback for checkouts that are created by hand, and the page that shows their webhooks. */
  readonly inbox: { readonly callbackUrl: string; readonly pageUrl: string };
  readonly ports: { readonly shop: number; readonly receiver: number };
  /** `host:port` of the receiver, which the service must allow as a callback host. */
  readonly receiverHost: string;
  /** Callback that accepts and ignores every event. Default of `trigger`, because `listen` shows its events. */
  readonly idleCallback: string;
  /** PEM certificate that the service must trust for the receiver. */
  readonly receiverCertificate: string;
  stop(): Promise<void>;
}

/** Starts the shop. Its server uses only what any merchant has: the service's URL and an API key. */
export async function startShop({ account, ipnTokenOf, nowMs, ports, log }: ShopOptions): Promise<Shop> {
  const orders = createShopOrders();
  const inbox = createWebhookInbox(ipnTokenOf, nowMs);
  let serverSide: ShopServerSide | null = null;
  const preferred = (port: number) =>
    preferLoopbackPort(port, log, "the shop's port is taken and a free one is used");
  const receiver = await startReceiver(await preferred(ports.receiver), (path, rawBody, signature) => {
    if (path === INBOX_PATH) return inbox.receive(rawBody, signature);
    if (serverSide === null) throw new Error('the shop is not open yet');
    return serverSide.receive(rawBody, signature);
  });
  const receiverHost = receiver.host;
  serverSide = createShopServerSide({ ...account, callbackUrl: `https://${receiverHost}/webhook` }, orders);

  const server = createPageServer(serverSide, orders, inbox);
  await server.listen({ host: LOOPBACK, port: await preferred(ports.shop) });
  const shopPort = (server.server.address() as AddressInfo).port;
  log.info({ port: shopPort }, 'the shop is open');
  return {
    url: `http://${LOOPBACK}:${shopPort}`,
    returnUrl: `http://${LOOPBACK}:${shopPort}${RETURN_PATH}/{payment_id}`,
    inbox: {
      callbackUrl: `https://${receiverHost}${INBOX_PATH}`,
      pageUrl: `http://${LOOPBACK}:${shopPort}/webhooks`,
    },
    ports: { shop: shopPort, receiver: Number(new URL(`https://${receiverHost}`).port) },
    receiverHost,
    idleCallback: `https://${receiverHost}${IDLE_PATH}`,
    receiverCertificate: receiver.certificate,
    async stop() {
      await server.close();
      await receiver.stop();
    },
  };
}

/**
 * Reads the receiver's certificate or private key. The private key is public in this repository, which is safe because
 * only the sandbox trusts the certificate, and only for this receiver.
 */
function readPem(name: string): string {
  return readFileSync(new URL(name, import.meta.url), 'utf8');
}

export interface Receiver {
  /** `host:port` */
  readonly host: string;
  /** PEM certificate that the sender must trust. */
  readonly certificate: string;
  stop(): Promise<void>;
}

/** Starts an HTTPS webhook receiver. Port 0 selects any free port. `receive` resolves to the HTTP status. */
export async function startReceiver(
  port: number,
  receive: (path: string, rawBody: string, signature: string | undefined) => Promise<number>,
): Promise<Receiver> {
  const certificate = readPem('receiver-certificate.pem');
  const tls = { cert: certificate, key: readPem('receiver-key.pem') };
  const server = createServer(tls, async (request, response) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of request as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > MAXIMUM_BODY_BYTES) return void response.writeHead(413).end();
      chunks.push(chunk);
    }
    if (request.url === IDLE_PATH) return void response.writeHead(204).end();
    const { 'x-service-signature': signature } = request.headers;
    const rawBody = Buffer.concat(chunks).toString('utf8');
    const status = await receive(request.url ?? '', rawBody, [signature].flat()[0]).catch(() => 500);
    response.writeHead(status).end();
  }).listen(port, LOOPBACK);
  await once(server, 'listening');
  return {
    host: `${LOOPBACK}:${(server.address() as AddressInfo).port}`,
    certificate,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function createPageServer(
  serverSide: ShopServerSide,
  orders: ShopOrders,
  inbox: WebhookInbox,
): FastifyInstance {
  const server = fastify({ logger: false, bodyLimit: 1024, forceCloseConnections: true });
  server.register(formbody);
  server.addHook('onRequest', async (request, reply) => {
    reply.headers({
      'content-security-policy': shopContentSecurityPolicy(),
      'x-content-type-options': 'nosniff',
      // With `no-referrer`, browsers would send `Origin: null` for the shop's own forms.
      'referrer-policy': 'same-origin',
      'cache-control': 'no-store',
    });
    // Refuses other sites, even under a name that resolves to this machine (DNS rebinding).
    const { host = '', origin } = request.headers;
    const isOwnName = /^(?:127\.0\.0\.1|localhost)(?::\d+)?$/.test(host);
    const isOwnForm = request.method === 'GET' || origin === undefined || origin === `http://${host}`;
    if (!isOwnName || !isOwnForm)
      await reply.code(403).type('text/plain').send('Open the shop at its own address.');
  });
  const sendPage = (reply: FastifyReply, page: string) => reply.type('text/html; charset=utf-8').send(page);
  const notFound = (reply: FastifyReply) =>
    reply.code(404).type('text/plain').send('There is no such thing here.');

  server.get('/', (_request, reply) => sendPage(reply, catalogPage(orders.list())));
  server.get('/webhooks', (_request, reply) => sendPage(reply, inboxPage(inbox.list())));
  server.get('/shop.css', (_request, reply) => reply.type('text/css').send(shopStyle));
  server.get('/follow-order.js', (_request, reply) => reply.type('text/javascript').send(shopScript));
  server.post<{ Params: { product: string } }>('/buy/:product', async (request, reply) => {
    const product = shopProducts.find(({ id }) => id === request.params.product);
    if (product === undefined) return notFound(reply);
    const { id } = await serverSide.buy(product);
    return reply.redirect(`/orders/${id}`, 303);
  });
  server.get<{ Params: { payment: string } }>(`${RETURN_PATH}/:payment`, (request, reply) => {
    const order = orders.findByPayment(request.params.payment);
    // There is no order if the checkout was created by hand or before a restart.
    return reply.redirect(order === null ? '/' : `/orders/${order.id}`, 303);
  });
  server.get<{ Params: { order: string } }>('/orders/:order', (request, reply) => {
    const order = orders.find(request.params.order);
    if (order === null) return notFound(reply);
    const policy = shopContentSecurityPolicy(order.payment?.checkoutUrl);
    return sendPage(reply.header('content-security-policy', policy), orderPage(order));
  });
  server.post<{ Params: { order: string; what: string } }>('/orders/:order/:what', async (request, reply) => {
    const order = orders.find(request.params.order);
    if (order === null || order.received === null) return notFound(reply);
    const { rawBody, signature } = order.received;
    const isForged = request.params.what === 'forge';
    await serverSide.receive(isForged ? rawBody.replace('"paid"', '"PAID"') : rawBody, signature);
    return reply.redirect(`/orders/${order.id}`, 303);
  });
  return server;
}
