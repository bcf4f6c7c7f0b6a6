import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createPeerCheck, refusePlainPeers } from '../../src/http/plain-peers.ts';

let server: Server;
let served: number;

beforeEach(() => {
  served = 0;
  server = createServer((_request, response) => {
    served++;
    response.end('served');
  });
});
afterEach(() => new Promise((resolve) => server.close(resolve)));

async function listen(isTrusted: (address: string) => boolean): Promise<number> {
  refusePlainPeers(server, isTrusted);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

/** Sends a request and returns all that comes back before the connection ends. */
function request(port: number): Promise<string> {
  return new Promise((resolve) => {
    let answer = '';
    const socket = connect({ host: '127.0.0.1', port });
    socket.on('data', (chunk) => (answer += chunk.toString('utf8')));
    socket.on('error', () => {});
    socket.on('close', () => resolve(answer));
    socket.write('POST /api/v1/wallet HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nConnection: close\r\n\r\n');
  });
}

it('serves whom it trusts', async () => {
  expect(await request(await listen(createPeerCheck([])))).toContain('served');
});

it('tells everybody else that HTTPS is required, and carries nothing out', async () => {
  const answer = await request(await listen(() => false));
  expect(answer).toMatch(/^HTTP\/1\.1 403 Forbidden\r\n/);
  expect(answer).toContain('{"error":"HTTPS is required."}');
  expect(served).toBe(0);
});

it.each([
  ['127.0.0.1', true],
  ['127.8.9.10', true],
  ['::1', true],
  ['::ffff:127.0.0.1', true],
  ['10.1.2.3', true],
  ['::ffff:10.1.2.3', true],
  ['192.0.2.7', true],
  ['fd00::1', true],
  ['192.0.2.8', false],
  ['11.0.0.1', false],
  ['fd01::1', false],
  ['', false],
])(
  '%s may speak plain HTTP beside the proxies 10.0.0.0/8, 192.0.2.7 and fd00::/16: %s',
  (address, isTrusted) => {
    expect(createPeerCheck(['10.0.0.0/8', '192.0.2.7', 'fd00::/16'])(address)).toBe(isTrusted);
  },
);
