import { expect, it } from 'vitest';
import { createAllowedMethods, createBaseServer } from './server.ts';

const allowed = createAllowedMethods();
allowed.add('/api/v1/wallet', 'POST');
allowed.add('/api/v1/wallet', ['GET']);
allowed.add('/pay/:id', 'GET');
allowed.add('/pay/:id/start', ['POST']);

it.each([
  ['/api/v1/wallet', ['GET', 'POST']],
  ['/pay/anything', ['GET']],
  ['/pay/anything/start', ['POST']],
  ['/pay/', []],
  ['/pay', []],
  ['/api/v1/wallet/', []],
  ['/', []],
  ['', []],
])('knows what is served at %s', (path, methods) => {
  expect(allowed.at(path)).toEqual(methods);
});

it('shows a page to a person who opens an unknown path, and answers everybody else with data', async () => {
  const server = createBaseServer({
    trustProxy: [],
    sendNotFoundPage: (_request, reply) => reply.code(404).type('text/html').send('<h1>Not here</h1>'),
  });
  server.post('/known', () => 'known');
  const typeOf = async (method: 'GET' | 'POST', url: string, accept: string) => {
    const { statusCode, headers } = await server.inject({ method, url, headers: { accept } });
    return [statusCode, String(headers['content-type'])];
  };
  const browser = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
  const data = 'application/json; charset=utf-8';
  expect(await typeOf('GET', '/nowhere', browser)).toEqual([404, 'text/html']);
  expect(await typeOf('GET', '/nowhere', '*/*')).toEqual([404, data]);
  expect(await typeOf('GET', '/api/v1/nowhere', browser)).toEqual([404, data]);
  expect(await typeOf('GET', '/merchant/v1/nowhere', browser)).toEqual([404, data]);
  expect(await typeOf('POST', '/nowhere', browser)).toEqual([404, data]);
  expect(await typeOf('GET', '/known', browser)).toEqual([405, data]);
  await server.close();
});
