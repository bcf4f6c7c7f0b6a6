import { fastify } from 'fastify';
import { openShop } from './shop.js';

const shop = openShop();
const server = fastify({ bodyLimit: 65_536 });

// Keeps raw bytes only in this plugin. Elsewhere, JSON is parsed as usual.
void server.register(async (webhook) => {
  webhook.removeAllContentTypeParsers();
  webhook.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  webhook.post('/webhook', async (request, reply) => {
    const rawBody = /** @type {Buffer} */ (request.body);
    return reply.code(await shop.receive(rawBody, request.headers['x-service-signature'])).send();
  });
});

server.post('/orders', (request) => {
  const { amount } = /** @type {{ amount: string }} */ (request.body);
  return shop.createOrder(String(amount));
});
server.get('/orders/:paymentId', async (request) => {
  const { paymentId } = /** @type {{ paymentId: string }} */ (request.params);
  return { fulfilments: shop.countFulfilments(paymentId) };
});

await server.listen({ port: Number(process.env['PORT'] ?? 4000), host: '127.0.0.1' });
void shop.followEvents(new AbortController().signal);
