import dns from 'node:dns';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { Worker } from 'node:worker_threads';
import { request } from 'undici';
import { afterEach, expect, it, vi } from 'vitest';
import { createOutgoingAgent } from './outgoing-calls.ts';

const agent = createOutgoingAgent({ connectTimeoutMs: 8_000 });
let worker: Worker | null = null;
let waiting: Socket[] = [];

afterEach(async () => {
  vi.restoreAllMocks();
  for (const socket of waiting) socket.destroy();
  waiting = [];
  await worker?.terminate();
  worker = null;
});

/** Makes every host name resolve to these addresses. */
function resolveTo(...addresses: string[]): void {
  const all = addresses.map((address) => ({ address, family: 4 }));
  const lookup = (_host: string, _options: object, callback: (error: null, found: object) => void) =>
    callback(null, all);
  vi.spyOn(dns, 'lookup').mockImplementation(lookup as unknown as typeof dns.lookup);
}

/** Starts a server on 127.0.0.1 that accepts no connections for `busyMs`, so that the first SYN packet is lost. */
async function startBusyServer(busyMs: number): Promise<number> {
  worker = new Worker(
    `const { parentPort, workerData } = require('node:worker_threads');
     const server = require('node:http').createServer((_, response) => response.end('late'));
     server.listen({ host: '127.0.0.1', port: 0, backlog: 1 }, () => {
       parentPort.postMessage(server.address().port);
       Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, workerData);
     });`,
    { eval: true, workerData: busyMs },
  );
  const [port] = (await once(worker, 'message')) as [number];
  waiting = Array.from({ length: 4 }, () => connect(port, '127.0.0.1').on('error', () => {}));
  await Promise.all(waiting.slice(0, 2).map((socket) => once(socket, 'connect')));
  return port;
}

it('waits for a slow address although the host has another one, which is dead', async () => {
  const port = await startBusyServer(500);
  resolveTo('127.0.0.1', '127.0.0.2');
  const { body } = await request(`http://two.test:${port}/`, { dispatcher: agent });
  expect(await body.text()).toBe('late');
});

it('names each address of a host that cannot be connected to, and the reason', async () => {
  resolveTo('127.0.0.1', '127.0.0.2');
  await expect(request('http://two.test:1/', { dispatcher: agent })).rejects.toThrow(
    'connect ECONNREFUSED 127.0.0.1:1, connect ECONNREFUSED 127.0.0.2:1',
  );
});
