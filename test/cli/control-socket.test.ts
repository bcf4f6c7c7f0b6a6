import { once } from 'node:events';
import { statSync, writeFileSync } from 'node:fs';
import { createServer, request, type Server } from 'node:http';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openSqliteStore } from '../../src/app/store/sqlite-store.ts';
import type { Store } from '../../src/app/store/store.ts';
import { callServer, NoServerError, startControlServer } from '../../src/cli/control-socket.ts';
import { operationsContext } from '../support/operations.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

let folder: string;
let socket: string;
let store: Store;
let server: Server;

beforeEach(async () => {
  folder = temporaryFolder();
  socket = join(folder, 'control.sock');
  store = await openSqliteStore({ file: join(folder, 'store.sqlite') });
  server = await start();
});
afterEach(async () => {
  await stop(server);
  await store.close();
});

function start(): Promise<Server> {
  return startControlServer(socket, operationsContext(store));
}

async function stop(listening: Server): Promise<void> {
  listening.closeAllConnections();
  if (listening.listening) await new Promise((resolve) => listening.close(resolve));
}

it('is not taken from a running service', async () => {
  await expect(start()).rejects.toThrow(`${folder} is the DATA_DIR of a running service`);
  expect(await callServer(socket, 'account list', {})).toEqual([]);
});

/** Sends these bytes in these pieces, and returns what the server answers. */
async function send(...pieces: (string | Buffer)[]): Promise<unknown> {
  const outgoing = request({ socketPath: socket, method: 'POST', path: '/' });
  for (const piece of pieces) {
    await new Promise((resolve) => outgoing.write(piece, resolve));
    // Lets the server read this piece before the next one is there.
    await new Promise((resolve) => setImmediate(resolve));
  }
  outgoing.end();
  const [response] = await once(outgoing, 'response');
  let text = '';
  for await (const chunk of response) text += chunk;
  return JSON.parse(text);
}

it('is a socket that only its owner can open', () => {
  const { mode } = statSync(socket);
  expect([mode & 0o777, statSync(socket).isSocket()]).toEqual([0o600, true]);
});

it('runs operations, many at a time', async () => {
  const created = await Promise.all(
    Array.from({ length: 20 }, (_, index) => callServer(socket, 'account create', { name: `Shop ${index}` })),
  );
  expect(new Set(created.map((result) => (result as { account_id: string }).account_id)).size).toBe(20);
  expect(await callServer(socket, 'account list', {})).toHaveLength(20);
});

it('hands on what is wrong in the operation’s own words', async () => {
  await expect(callServer(socket, 'account create', {})).rejects.toThrow('name is missing');
  await expect(callServer(socket, 'payment destroy', {})).rejects.toThrow(
    'The operation payment destroy does not exist.',
  );
  await store.close();
  await expect(callServer(socket, 'account list', {})).rejects.toThrow(
    /unexpected error: .*the store is closed/,
  );
});

it('reads letters that arrive in two pieces', async () => {
  const bytes = Buffer.from(JSON.stringify({ name: 'account create', args: { name: 'Bücher 🦊' } }));
  const cut = bytes.indexOf(Buffer.from('🦊')) + 2;
  await send(bytes.subarray(0, cut), bytes.subarray(cut));
  expect(await callServer(socket, 'account list', {})).toMatchObject([{ name: 'Bücher 🦊' }]);
});

it.each(['', 'no JSON', 'null', '1', '{}', '[]', '{"name":"account create"}', '{"name":{},"args":{}}'])(
  'answers %j with an error, and lives',
  async (body) => {
    expect(await send(body)).toEqual({ error: expect.stringMatching(/.+/) });
    expect(await callServer(socket, 'account list', {})).toEqual([]);
  },
);

it('takes the place of a socket that a killed server left behind', async () => {
  await stop(server);
  writeFileSync(socket, '');
  server = await start();
  expect(await callServer(socket, 'account list', {})).toEqual([]);
});

it('sends lines of progress only to a command that asks, because version 0.1.0 reads nothing but the reply', async () => {
  const asked: unknown[] = [];
  const options = { onProgress: (step: unknown) => void asked.push(step) };
  await callServer(socket, 'verify', { offline: true }, options);
  expect(asked).toContainEqual({ unit: 'journal entries', done: 0, total: 0 });
  expect(await send(JSON.stringify({ name: 'verify', args: { offline: true } }))).toMatchObject({
    result: { payments: 0 },
  });
});

it('skips steps of a kind that only a newer server knows', async () => {
  const newer = join(folder, 'newer.sock');
  const known = { unit: 'payments', done: 1, total: null };
  const steps = [
    { step: 'indexes', percent: 40 },
    { ...known, done: '1' },
    'text',
    7,
    null,
    [],
    { ...known, rate: 9 },
  ];
  const served = createServer((_, response) => {
    response.end(`${steps.map((step) => `${JSON.stringify(step)}\n`).join(' ')}{"result":"fine"}`);
  });
  await once(served.listen(newer), 'listening');
  const seen: unknown[] = [];
  const options = { onProgress: (step: unknown) => void seen.push(step) };
  expect(await callServer(newer, 'verify', {}, options)).toBe('fine');
  expect(seen).toEqual([{ ...known, rate: 9 }]);
  await stop(served);
});

it('is NoServerError when nobody listens: no socket, or one left behind', async () => {
  await stop(server);
  await expect(callServer(socket, 'account list', {})).rejects.toThrow(NoServerError);
  const abandoned = join(folder, 'abandoned.sock');
  writeFileSync(abandoned, '');
  await expect(callServer(abandoned, 'account list', {})).rejects.toThrow(NoServerError);
});

it('is another error when a server goes away in the middle: the command may have been done', async () => {
  const dying = join(folder, 'dying.sock');
  const cut = createServer((incoming) => incoming.socket.destroy());
  cut.listen(dying);
  await once(cut, 'listening');
  const outcome = await callServer(dying, 'account list', {}).catch((error: unknown) => error);
  expect(outcome).toBeInstanceOf(Error);
  expect(outcome).not.toBeInstanceOf(NoServerError);
  await stop(cut);
});
