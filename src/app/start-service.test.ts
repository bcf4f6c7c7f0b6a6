import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pino } from 'pino';
import { expect, it } from 'vitest';
import { createSelfSignedCertificate } from '../../test/support/certificates.ts';
import { ConfigError } from '../config/config.ts';
import { createIpnTokens } from '../payment/ipn-token.ts';
import { createBaseServer } from '../web/server.ts';
import { listenOn, requireKnownSecret } from './start-service.ts';

const [OLD, NEW] = ['o'.repeat(40), 'n'.repeat(40)];

const oldFingerprint = createIpnTokens(OLD).currentFingerprint;

it('accepts any secret without payments, the same secret, and the former one among the previous', () => {
  expect(() => requireKnownSecret(null, createIpnTokens(NEW))).not.toThrow();
  expect(() => requireKnownSecret(oldFingerprint, createIpnTokens(OLD))).not.toThrow();
  expect(() => requireKnownSecret(oldFingerprint, createIpnTokens(NEW, [OLD]))).not.toThrow();
});

it('refuses a secret that replaced another one, and repeats neither', () => {
  const start = () => requireKnownSecret(oldFingerprint, createIpnTokens(NEW));
  expect(start).toThrow(ConfigError);
  expect(start).toThrow(/SECRET_KEY_PREVIOUS/);
  expect(start).not.toThrow(new RegExp(`${OLD}|${NEW}`));
});

it('logs the address that it listens on, as https where it speaks TLS', async () => {
  const { certPem: cert, keyPem: key } = await createSelfSignedCertificate({ names: ['localhost'] });
  for (const [tls, scheme] of [
    [null, 'http'],
    [{ cert, key }, 'https'],
  ] as const) {
    const log: string[] = [];
    const logger = pino({}, { write: (line) => void log.push(line) });
    const server = createBaseServer({ trustProxy: [], tls, logger });
    await listenOn(server, { host: '127.0.0.1', port: 0 }, 'PORT');
    const { port } = server.server.address() as AddressInfo;
    await server.close();
    expect(log.join('')).toContain(`"Server listening at ${scheme}://127.0.0.1:${port}"`);
  }
});

it.each([
  ['EMFILE', /cannot listen on 127\.0\.0\.2: this process may not open more files: raise its limit/],
  ['ENFILE', /this machine may not open more files/],
  ['EADDRNOTAVAIL', /\(EADDRNOTAVAIL\): set ADMIN_HOST to an address of this machine$/],
  ['ENOTFOUND', /\(ENOTFOUND\): set ADMIN_HOST to an address of this machine$/],
  ['EAFNOSUPPORT', /has no IPv6: set HOST and ADMIN_HOST to IPv4 addresses$/],
  ['EACCES', /may not listen on port 1/],
])('a server that cannot listen for %s says what to do about that', async (code, sentence) => {
  const listen = async () => {
    throw Object.assign(new Error(code), { code, syscall: 'listen' });
  };
  const server = { server: createServer(), listen } as never;
  await expect(listenOn(server, { host: '127.0.0.2', port: 1 }, 'ADMIN_PORT')).rejects.toThrow(sentence);
});
