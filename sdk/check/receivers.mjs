// @ts-nocheck: plain JavaScript with packages that only this check installs.
/** Tests the Go and Ruby receivers of docs/receivers.md with webhooks that the SDK signs. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { webhooks } from '@card-checkout/sdk';

const START_MS = 120_000;
const root = dirname(dirname(process.env.CARD_CHECKOUT_PROGRAM));
const page = readFileSync(join(root, 'docs/receivers.md'), 'utf8');
const programOf = (language) => new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\``, 'ms').exec(page)[1];

const id = '01a1fbd7-b7b3-7002-be38-5df3e4ebf9f4';
const token = 'ipn_test';

const languages = {
  go: {
    version: ['version'],
    files: {
      'go.mod': 'module receiver\n\ngo 1.19\n',
      'main.go': programOf('go'),
      'orders.go': `package main

type known struct{}

func (known) Token(id string) (string, bool) { return "${token}", id == "${id}" }
func (known) Fulfil(id string) error { println("fulfilled"); return nil }
func openOrders() Orders { return known{} }
`,
    },
    run: ['run', '.'],
  },
  ruby: {
    version: ['--version'],
    files: {
      'shop.rb': `${programOf('ruby')}
require 'socket'

class Known
  def token(id) = id == '${id}' ? '${token}' : nil
  def fulfil(_id) = warn('fulfilled')
end

server = TCPServer.new('127.0.0.1', ENV['PORT'].to_i)
loop do
  socket = server.accept
  headers = {}
  while (line = socket.gets) && line != "\\r\\n"
    name, value = line.split(': ', 2)
    headers[name.downcase] = value&.strip
  end
  body = socket.read(headers['content-length'].to_i)
  socket.write("HTTP/1.1 #{receive(Known.new, body, headers['x-service-signature'])} \\r\\ncontent-length: 0\\r\\nconnection: close\\r\\n\\r\\n")
  socket.close
end
`,
    },
    run: ['shop.rb'],
  },
};

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  return port;
}

async function send(url, body, signature) {
  const headers = signature === undefined ? {} : { 'x-service-signature': signature };
  return (await fetch(url, { method: 'POST', headers, body })).status;
}

const bodyOf = (fields) =>
  JSON.stringify({ event: 'payment.paid', paymentId: id, status: 'paid', note: 'Grüße 👋', ...fields });
const nowSeconds = () => Math.floor(Date.now() / 1000);

for (const [language, { version, files, run }] of Object.entries(languages)) {
  if (spawnSync(language, version).status !== 0) {
    console.log(`not checked: ${language} is not installed`);
    continue;
  }
  const cwd = join(import.meta.dirname, language);
  mkdirSync(cwd);
  for (const [name, text] of Object.entries(files)) writeFileSync(join(cwd, name), text);
  const port = await freePort();
  const env = { ...process.env, PORT: String(port), GOCACHE: join(cwd, 'cache'), GOFLAGS: '-mod=mod' };
  // Separate process group, because `go run` starts the program as a child.
  const child = spawn(language, run, { cwd, env, detached: true, stdio: ['ignore', 'ignore', 'pipe'] });
  let output = '';
  child.stderr.on('data', (chunk) => {
    output += chunk;
  });
  const url = `http://127.0.0.1:${port}/webhook`;
  try {
    const body = bodyOf({ timestamp: nowSeconds() });
    const deadlineMs = Date.now() + START_MS;
    while (!(await send(url, body, 'f'.repeat(64)).catch(() => null))) {
      assert.ok(child.exitCode === null && Date.now() < deadlineMs, output);
      await delay(100);
    }
    assert.equal(await send(url, body, webhooks.sign(body, token)), 204);
    while (!output.includes('fulfilled') && Date.now() < deadlineMs) await delay(20);
    assert.equal(output.match(/fulfilled/g)?.length, 1, output);
    const old = bodyOf({ timestamp: nowSeconds() - 301 });
    const foreign = bodyOf({ paymentId: '01a1fbd7-0000-7002-be38-5df3e4ebf9f4', timestamp: nowSeconds() });
    assert.equal(await send(url, old, webhooks.sign(old, token)), 401);
    assert.equal(await send(url, foreign, webhooks.sign(foreign, token)), 401);
    assert.equal(await send(url, `${body} `, webhooks.sign(body, token)), 401);
    assert.equal(await send(url, body, undefined), 401);
    assert.equal(await send(url, body, webhooks.sign(body, '')), 401);
    assert.equal(await send(url, 'no JSON', webhooks.sign('no JSON', token)), 400);
    for (const other of ['null', 'true', '[]', '"x"'])
      assert.ok([400, 401].includes(await send(url, other, 'f'.repeat(64))));
    assert.equal(output.match(/fulfilled/g)?.length, 1);
    console.log(`ok   the receiver in ${language}`);
  } finally {
    const ended = once(child, 'exit');
    process.kill(-child.pid, 'SIGKILL');
    await ended;
  }
}
