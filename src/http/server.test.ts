import { expect, it } from 'vitest';
import { createAllowedMethods } from './server.ts';

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
