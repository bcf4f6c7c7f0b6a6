import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { request } from 'undici';
import { afterAll, expect, it } from 'vitest';
import { openTunnel, parseEgressProxy } from '../../src/platform/egress-proxy.ts';
import { createOutgoingAgent } from '../../src/platform/outgoing-calls.ts';
import { deliverWebhook } from '../../src/webhooks/deliver.ts';
import { createTestCertificateAuthority } from '../support/certificates.ts';
import { startRecordingTlsServer } from '../support/recording-tls-server.ts';

const cleanUps: (() => unknown)[] = [];
afterAll(async () => {
  for (const cleanUp of cleanUps) await cleanUp();
});

/** A proxy that leads each CONNECT to one loopback port, and records what it was asked for. */
async function startProxy(port: number, status = 200) {
  const asked: (string | undefined)[][] = [];
  const server = createServer().on('connect', (asking, client) => {
    asked.push([asking.url, asking.headers['proxy-authorization']]);
    client.on('error', () => {});
    client.write(`HTTP/1.1 ${status} x\r\n\r\n`);
    if (status !== 200) return client.end();
    const target = connect(port, '127.0.0.1').on('error', () => {});
    return client.pipe(target).pipe(client);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanUps.push(() => server.close());
  const proxy = parseEgressProxy(`http://ops:s%40fe@127.0.0.1:${(server.address() as AddressInfo).port}`);
  if (proxy === null) throw new Error('the URL of the proxy was not read');
  return { asked, proxy };
}

const CREDENTIALS = `Basic ${Buffer.from('ops:s@fe').toString('base64')}`;
const authority = await createTestCertificateAuthority();
const shop = await startRecordingTlsServer(await authority.issue({ names: ['shop.example'] }), ({ socket }) =>
  socket.end('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'),
);
cleanUps.push(shop.close);

const rules = {
  resolver: { resolveFresh: async () => ({ addresses: ['203.0.114.7'] }) },
  ownAddresses: () => new Set<never>(),
  own: null,
  allowedHosts: new Set<string>(),
  ca: authority.caPem,
};
const delivery = { url: 'https://shop.example/hook', body: '{}', signature: null };

it('sends a webhook through the proxy to the checked address, and never by the name', async () => {
  const { asked, proxy } = await startProxy(shop.port);
  expect(await deliverWebhook({ ...rules, proxy }, delivery)).toMatchObject({ outcome: 'delivered' });
  expect(asked).toEqual([['203.0.114.7:443', CREDENTIALS]]);
});

it('checks the address before the proxy is asked', async () => {
  const { asked, proxy } = await startProxy(shop.port);
  const resolver = {
    resolveFresh: async () => ({ addresses: ['10.0.0.7'] }),
  };
  const outcome = await deliverWebhook({ ...rules, resolver, proxy }, delivery);
  expect(outcome).toMatchObject({ outcome: 'blocked', reason: 'blocked_address' });
  expect(asked).toEqual([]);
});

it('counts a refusal of the proxy as a webhook that was not sent', async () => {
  const { proxy } = await startProxy(shop.port, 403);
  const outcome = await deliverWebhook({ ...rules, proxy }, delivery);
  expect(outcome).toMatchObject({ outcome: 'failed', reason: 'connect_failed' });
});

it('names a proxy that does not answer', async () => {
  const silent = createServer().on('connect', () => {});
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  cleanUps.push(() => silent.closeAllConnections());
  const proxy = { host: '127.0.0.1', port: (silent.address() as AddressInfo).port, authorization: null };
  const opening = openTunnel(proxy, { host: 'shop.example', port: 443 }, AbortSignal.timeout(100));
  await expect(opening).rejects.toThrow(`the proxy 127.0.0.1:${proxy.port} did not answer CONNECT in time`);
});

it('leads calls to providers, endpoints and rates through the proxy by name, and those to loopback past it', async () => {
  const { asked, proxy } = await startProxy(shop.port);
  const agent = createOutgoingAgent({ proxy });
  cleanUps.push(() => agent.destroy());
  // Another authority than the system's: the call ends in TLS, after the tunnel was opened.
  await expect(request('https://shop.example/quote', { dispatcher: agent })).rejects.toThrow(/certificate/);
  expect(asked).toEqual([['shop.example:443', CREDENTIALS]]);
  await expect(request(`http://127.0.0.1:${shop.port}/`, { dispatcher: agent })).rejects.toThrow();
  expect(asked).toHaveLength(1);
  const refusing = createOutgoingAgent({ proxy: (await startProxy(shop.port, 407)).proxy });
  cleanUps.push(() => refusing.destroy());
  await expect(request('https://shop.example/', { dispatcher: refusing })).rejects.toThrow(
    /^the proxy 127\.0\.0\.1:\d+ answers CONNECT with 407$/,
  );
});
