import { expect, it } from 'vitest';
import { createBaseServer } from '../../src/web/server.ts';
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
  const names = answers.flatMap((answer) => Object.keys(answer.headers));
  expect(names, 'of the software').not.toEqual(
    expect.arrayContaining([expect.stringMatching(/^(server|x-powered-by)$/)]),
  );
});

it('a proxy that TRUST_PROXY names chooses the id, in letters that a log can be searched for', async () => {
  const idOf = async (trustProxy: readonly string[], id: string, remoteAddress: string) => {
    const server = createBaseServer({ trustProxy });
    const headers = { 'x-request-id': id };
    return (await server.inject({ url: '/', headers, remoteAddress })).headers['x-request-id'];
  };
  const proxies = ['10.0.0.0/8'];
  expect(await idOf(proxies, '7f3a-55c1:9', '10.1.2.3')).toBe('7f3a-55c1:9');
  for (const [networks, id, peer] of [
    [proxies, '7f3a-55c1:9', '192.0.2.1'],
    [[], '7f3a-55c1:9', '127.0.0.1'],
    [proxies, 'with space 9', '10.1.2.3'],
    [proxies, 'x'.repeat(129), '10.1.2.3'],
  ] as const)
    expect(await idOf(networks, id, peer)).toMatch(/^[0-9a-f-]{36}$/);
});
