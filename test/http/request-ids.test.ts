import { expect, it } from 'vitest';
import { type ApiService, useApi, validRequest } from '../support/api-service.ts';

let service = {} as ApiService;
useApi((api) => (service = api));

it('every answer has an id of its own, which no request can choose', async () => {
  const headers = { 'x-api-key': service.apiKey, 'x-request-id': 'mine' };
  const requests = [
    { method: 'POST', url: '/api/v1/wallet', headers, payload: validRequest },
    { method: 'POST', url: '/api/v1/wallet', headers, payload: {} },
    { method: 'GET', url: '/api/v1/payment-status?payment_id=x', headers },
    { method: 'GET', url: '/api/v1/payment-status' },
    { method: 'DELETE', url: '/api/v1/wallet', headers },
    { method: 'GET', url: '/nowhere', headers },
    { method: 'GET', url: '/%zz', headers },
    { method: 'GET', url: '/pay/nothing' },
    { method: 'GET', url: '/openapi.json' },
  ] as const;
  const answers = await Promise.all(requests.map((request) => service.server.inject(request)));
  expect(answers.map(({ statusCode }) => statusCode)).toEqual([200, 400, 404, 401, 405, 404, 400, 404, 200]);
  const ids = answers.map((answer) => answer.headers['x-request-id']);
  for (const id of ids) expect(id).toMatch(/^[0-9a-f-]{36}$/);
  expect(new Set(ids).size).toBe(requests.length);
});
