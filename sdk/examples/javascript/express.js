import express from 'express';
import { openShop } from './shop.js';

const shop = openShop();
const app = express();

// Precedes any express.json(), because the signature covers the raw bytes.
app.post('/webhook', express.raw({ type: () => true, limit: '64kb' }), async (request, response) => {
  response.status(await shop.receive(request.body, request.headers['x-service-signature'])).end();
});

app.post('/orders', express.json(), async (request, response) => {
  response.json(await shop.createOrder(String(request.body.amount)));
});
app.get('/orders/:paymentId', (request, response) => {
  response.json({ fulfilments: shop.countFulfilments(request.params.paymentId) });
});

app.listen(Number(process.env['PORT'] ?? 4000), '127.0.0.1');
void shop.followEvents(new AbortController().signal);
