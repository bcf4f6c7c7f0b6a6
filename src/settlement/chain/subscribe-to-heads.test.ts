import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { type HeadSubscription, subscribeToHeads } from './subscribe-to-heads.ts';

let server: Server;
let sockets: Socket[];
let subscription: HeadSubscription;
let heads: number;

/** Returns a text frame. Servers send their frames unmasked. */
function frame(text: string): Buffer {
  const body = Buffer.from(text);
  const head = Buffer.from([0x81, 126, body.length >> 8, body.length & 0xff]);
  return Buffer.concat([head, body]);
}

const [hash, parentHash] = ['0x11', '0x22'].map((digits) => digits.padEnd(66, digits.slice(2)));
const result = { number: '0x1', hash, parentHash, timestamp: '0x6a0b1c00' };
const announcement = frame(JSON.stringify({ method: 'eth_subscription', params: { result } }));

beforeEach(async () => {
  sockets = [];
  heads = 0;
  server = createServer();
  server.on('upgrade', (request, socket: Socket) => {
    const key = `${request.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`;
    const accept = createHash('sha1').update(key).digest('base64');
    socket.on('error', () => {});
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-accept: ${accept}\r\n\r\n`,
    );
    sockets.push(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  subscription = subscribeToHeads({
    urls: [`ws://127.0.0.1:${port}/key`],
    onHead: () => heads++,
    firstPauseMs: 20,
    silenceMs: 400,
  });
});

afterEach(async () => {
  await subscription.stop();
  for (const socket of sockets) socket.destroy();
  server.close();
});

const connections = (count: number) =>
  vi.waitFor(() => expect(sockets.length).toBeGreaterThanOrEqual(count), 5_000);

it('subscribes, and says when a block is announced', async () => {
  await connections(1);
  const [asked] = (await once(sockets[0] as Socket, 'data')) as [Buffer];
  // Clients mask their frames, so the test checks only the length.
  expect(asked.length).toBeGreaterThan(60);
  sockets[0]?.write(frame('{"jsonrpc":"2.0","id":1,"result":"0x1"}'));
  sockets[0]?.write(announcement);
  await vi.waitFor(() => expect(heads).toBe(1), 5_000);
});

it('makes one of many announcements at once', async () => {
  await connections(1);
  sockets[0]?.write(Buffer.concat(Array.from({ length: 1_000 }, () => announcement)));
  await vi.waitFor(() => expect(heads).toBe(1), 5_000);
});

it('connects again after the end of a connection', async () => {
  await connections(1);
  sockets[0]?.destroy();
  await connections(2);
  sockets[1]?.write(announcement);
  await vi.waitFor(() => expect(heads).toBe(1), 5_000);
});

it('connects again when nothing is announced, or nothing but what is no block', async () => {
  await connections(1);
  const results = [null, 5, {}, { ...result, number: 5 }, { ...result, number: '0x1ffffffffffff' }];
  const messages = results.map((each) => ({ method: 'eth_subscription', params: { result: each } }));
  for (const message of [...messages, null, [], { method: 'eth_subscription' }])
    sockets[0]?.write(frame(JSON.stringify(message)));
  await connections(2);
  expect(heads).toBe(0);
});

it('takes no message of more than 64 KiB', async () => {
  await connections(1);
  const text = JSON.stringify({ method: 'eth_subscription', padding: 'x'.repeat(100_000) });
  const head = Buffer.alloc(10);
  head.set([0x81, 127]);
  head.writeBigUInt64BE(BigInt(text.length), 2);
  sockets[0]?.write(Buffer.concat([head, Buffer.from(text)]));
  await connections(2);
  expect(heads).toBe(0);
});
