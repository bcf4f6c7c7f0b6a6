import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { openShop } from './shop.js';

const shop = openShop();
const app = new Hono();

app.post('/webhook', async (context) => {
  const rawBody = await context.req.arrayBuffer();
  const status = await shop.receive(rawBody, context.req.header('x-service-signature'));
  return new Response(null, { status });
});

app.post('/orders', async (context) => {
  const { amount } = await context.req.json();
  return context.json(await shop.createOrder(String(amount)));
});
app.get('/orders/:paymentId', (context) =>
  context.json({ fulfilments: shop.countFulfilments(context.req.param('paymentId')) }),
);

serve({ fetch: app.fetch, port: Number(process.env['PORT'] ?? 4000), hostname: '127.0.0.1' });
void shop.followEvents(new AbortController().signal);
