import { expect, it } from 'vitest';
import { isLoopbackHost, isSecureUrl } from './loopback.ts';

it.each(['localhost', '127.0.0.1', '127.8.9.10', '::1', '[::1]', '::ffff:127.0.0.1'])(
  '%s is this machine',
  (host) => {
    expect(isLoopbackHost(host)).toBe(true);
  },
);

it.each([
  '',
  'example.com',
  'localhost.example.com',
  '127.0.0.1.example.com',
  '127.999.0.1',
  '127.0.0.1\n',
  '10.0.0.1',
  '0.0.0.0',
  '::',
  '::2',
])('%j is another one', (host) => {
  expect(isLoopbackHost(host)).toBe(false);
});

it.each([
  ['https://pay.example.com/1', true],
  ['http://127.0.0.1:8545', true],
  ['http://localhost:8545/x', true],
  ['http://[::1]:8545', true],
  ['http://pay.example.com/1', false],
  ['http://127.0.0.1.example.com/', false],
  ['http://localhost@example.com/', false],
  ['ftp://localhost/', false],
  ['javascript:alert(1)', false],
])('whether %s is secure: %s', (url, isSecure) => {
  expect(isSecureUrl(new URL(url))).toBe(isSecure);
});
