import { expect, it } from 'vitest';
import { createBaseServer } from '../../src/web/server.ts';
import { registerHealth } from '../../src/web/well-known.ts';
import { type ApiService, useApi } from '../support/api-service.ts';
import { FACTORY, FEE_WALLET, IMPLEMENTATION } from '../support/payment-context.ts';

let service = {} as ApiService;
useApi((api) => (service = api));

const get = (url: string) => service.server.inject({ method: 'GET', url });

it('says that it lives and is ready, as often as it is asked', async () => {
  for (let index = 0; index < 100; index++) {
    expect((await get('/health/live')).statusCode).toBe(200);
    expect((await get('/health/ready')).json()).toEqual({ status: 'ready' });
  }
});

it('answers 503 with the reason while it is not ready', async () => {
  const server = createBaseServer({ trustProxy: [] });
  registerHealth(server, () => ({ ready: false, reason: 'the chain cannot be reached' }));
  const response = await server.inject({ method: 'GET', url: '/health/ready' });
  expect(response.statusCode).toBe(503);
  expect(response.json()).toEqual({ error: 'The service is not ready: the chain cannot be reached.' });
  expect((await server.inject({ method: 'GET', url: '/health/live' })).statusCode).toBe(200);
  await server.close();
});

it('publishes what anybody needs to recompute a deposit address', async () => {
  const response = await get('/.well-known/card-checkout.json');
  expect(response.headers['cache-control']).toBe('public, max-age=300');
  expect(response.headers['access-control-allow-origin']).toBe('*');
  expect(response.json()).toMatchObject({
    chain_id: 137,
    token: '0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359',
    factories: [{ address: FACTORY, implementation: IMPLEMENTATION, code_hash: `0x${'1f'.repeat(32)}` }],
    fee_wallets: [FEE_WALLET],
    recompute_deposit_address: { reference: 'keccak256(utf8(payment_id))' },
  });
});
