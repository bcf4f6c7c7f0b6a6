import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { inspect } from 'node:util';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ChainUnavailableError } from './chain.ts';
import {
  AnswerTooLargeError,
  AnswerTooSlowError,
  createJsonRpcClient,
  JsonRpcAnswerError,
  type JsonRpcClient,
  type JsonRpcOptions,
} from './json-rpc.ts';

type Request = { id: number; method: string; params: unknown[] };
type Handler = (body: Request | Request[], response: ServerResponse, request: IncomingMessage) => void;

let server: Server;
let handle: Handler;
let clients: JsonRpcClient[];

beforeEach(async () => {
  clients = [];
  server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    handle(JSON.parse(Buffer.concat(chunks).toString()), response, request);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});

afterEach(async () => {
  server.closeAllConnections();
  server.close();
  for (const client of clients) await client.close();
});

function connect(options: Partial<JsonRpcOptions> = {}, place = ''): JsonRpcClient {
  const { port } = server.address() as AddressInfo;
  const client = createJsonRpcClient({ url: `http://127.0.0.1:${port}${place}`, ...options });
  clients.push(client);
  return client;
}

const respond = (response: ServerResponse, body: unknown, status = 200) =>
  response.writeHead(status).end(typeof body === 'string' ? body : JSON.stringify(body));

/** Creates a handler that answers a call with `text` as its raw JSON result. */
const resultOf =
  (text: string): Handler =>
  (body, response) =>
    respond(response, `{"id":${(body as Request).id},"result":${text}}`);

const echo: Handler = (body, response) => {
  const answer = ({ id, params }: Request) => ({ jsonrpc: '2.0', id, result: params[0] });
  respond(response, Array.isArray(body) ? body.map(answer).reverse() : answer(body));
};

describe('calls', () => {
  it('give the result', async () => {
    handle = echo;
    expect(await connect().call('eth_echo', [{ a: 1 }])).toEqual({ a: 1 });
    expect(await connect().call('eth_echo', [null])).toBeNull();
  });

  it('in a batch keep their order, whatever order the node answers in', async () => {
    handle = echo;
    const calls = [1, 2, 3, 4, 5].map((value) => ({ method: 'eth_echo', params: [value] }));
    expect(await connect().callBatch(calls)).toEqual([1, 2, 3, 4, 5]);
  });
});

describe('a compressed answer', () => {
  const compressed = (response: ServerResponse, body: Buffer, encoding = 'gzip') =>
    response.writeHead(200, { 'content-encoding': encoding }).end(body);
  const result = (value: unknown) => gzipSync(JSON.stringify({ jsonrpc: '2.0', id: 1, result: value }));

  it('is asked for and read', async () => {
    handle = (_body, response, request) => {
      expect(request.headers['accept-encoding']).toBe('gzip');
      compressed(response, result('x'.repeat(100_000)));
    };
    expect(await connect().call('eth_getLogs', [])).toBe('x'.repeat(100_000));
  });

  it('is bounded by what it decompresses to, without being decompressed to its end', async () => {
    // 200 MB of spaces in 200 kB, of which the process may decompress only a part.
    const spaces = gzipSync(' '.repeat(1_000_000));
    handle = (_body, response) =>
      compressed(response, Buffer.concat(Array.from({ length: 200 }, () => spaces)));
    const before = process.memoryUsage().arrayBuffers;
    const client = connect({ maximumResponseBytes: 2_000_000 });
    await expect(client.call('eth_getLogs', [])).rejects.toThrow(AnswerTooLargeError);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(50_000_000);
  });

  it('is bounded by its compressed size where it decompresses to nothing', async () => {
    const nothing = gzipSync('');
    handle = (_body, response) =>
      compressed(response, Buffer.concat(Array.from({ length: 10_000 }, () => nothing)));
    await expect(connect({ maximumResponseBytes: 10_000 }).call('eth_getLogs', [])).rejects.toThrow(
      AnswerTooLargeError,
    );
  });

  it.each([
    ['is not compressed at all', Buffer.from('{"jsonrpc":"2.0","id":1,"result":1}'), 'gzip'],
    ['breaks off', result('x'.repeat(1_000)).subarray(0, 30), 'gzip'],
    ['is compressed in another way', result(1), 'br'],
  ])('that %s is an error of the endpoint', async (_, body, encoding) => {
    handle = (_body, response) => compressed(response, body, encoding);
    await expect(connect().call('eth_echo', [])).rejects.toThrow(ChainUnavailableError);
  });
});

describe('whatever goes wrong is a chain that is unavailable', () => {
  const wrongAnswers: [string, Handler, RegExp][] = [
    ['an HTTP status', (_body, response) => respond(response, 'no', 503), /HTTP 503/],
    ['no JSON', (_body, response) => respond(response, '<html>'), /not JSON/],
    ['an empty answer', (_body, response) => respond(response, ''), /not JSON/],
    ['no result', (_body, response) => respond(response, { jsonrpc: '2.0', id: 1 }), /did not answer/],
    ['another id', (_body, response) => respond(response, { id: 99, result: 1 }), /did not answer/],
    ['a list for one call', (_body, response) => respond(response, []), /did not answer/],
    ['a redirect', (_body, response) => response.writeHead(302, { location: '/' }).end(), /HTTP 302/],
    ['a closed connection', (_body, response) => response.destroy(), /did not answer/],
    [
      'an error',
      (body, response) => respond(response, { ...body, error: { code: -1, message: 'no' } }),
      /no \(-1\)/,
    ],
    [
      'an error behind HTTP 429',
      (_body, response) => respond(response, { error: { code: 5, message: 'slow down' } }, 429),
      /slow down/,
    ],
  ];

  it.each(wrongAnswers)('%s', async (_name, handler, message) => {
    handle = handler;
    const calling = connect().call('eth_getLogs', []);
    await expect(calling).rejects.toThrow(ChainUnavailableError);
    await expect(calling).rejects.toThrow(message);
  });

  it('a batch of which one answer is missing or an error', async () => {
    const calls = [1, 2].map((value) => ({ method: 'eth_echo', params: [value] }));
    handle = (body, response) => respond(response, [{ id: (body as Request[])[0]?.id, result: 1 }]);
    await expect(connect().callBatch(calls)).rejects.toThrow(/did not answer/);
    handle = (_body, response) => respond(response, { error: { code: 1, message: 'no batches' } });
    await expect(connect().callBatch(calls)).rejects.toThrow(/no batches/);
  });

  it('an answer that is too large, also one that says nothing of its length', async () => {
    handle = (body, response) => {
      const { id } = body as Request;
      response.write(`{"id":${id},"result":"`);
      response.end(`${'x'.repeat(5_000)}"}`);
    };
    await expect(connect({ maximumResponseBytes: 5_000 }).call('eth_getLogs', [])).rejects.toThrow(
      AnswerTooLargeError,
    );
    expect(await connect({ maximumResponseBytes: 6_000 }).call('eth_getLogs', [])).toHaveLength(5_000);
  });

  it('an answer that is nested too deeply, before it is parsed', async () => {
    handle = resultOf('['.repeat(2_000_000) + ']'.repeat(2_000_000));
    await expect(connect().call('eth_getLogs', [])).rejects.toThrow('nested deeper than 32');
    const text = '"[[[[\\"'.repeat(20);
    handle = resultOf(JSON.stringify([text]));
    expect(await connect().call('eth_getLogs', [])).toEqual([text]);
  });

  it.each(['[]', '{}', '[[[[[]]]]]'])('an answer of little but %s, before it is parsed', async (unit) => {
    handle = resultOf(`[${Array(100_000).fill(unit).join(',')}]`);
    await expect(connect().call('eth_getLogs', [])).rejects.toThrow('more values than');
  });

  it('an answer of ever different keys, before it is parsed', async () => {
    const objects = Array.from({ length: 100_000 }, (_, index) => `{"a${index}":"${'0'.repeat(64)}"}`);
    const keys = Array.from({ length: 10_000 }, (_, index) => `"b${index}" :"${'0'.repeat(64)}"`);
    for (const result of [`[${objects.join(',')}]`, `{${keys.join(',')}}`]) {
      handle = resultOf(result);
      const startedAtMs = process.cpuUsage().user / 1_000;
      await expect(connect().call('eth_getLogs', [])).rejects.toThrow(/more than 100 kinds of|bytes of keys/);
      expect(process.cpuUsage().user / 1_000 - startedAtMs).toBeLessThan(500);
    }
  });

  it.each([
    ['eth_chainId', []],
    ['eth_getTransactionCount', []],
    ['eth_call', []],
    ['eth_getBlockByNumber', ['0x1', false]],
    ['eth_getLogs', [{ fromBlock: '0x1', toBlock: '0x2' }]],
  ])('a longer answer than %s can have, however small it is compressed', async (method, params) => {
    const answer = gzipSync(`{"id":1,"result":"${' '.repeat(9_000_000)}"}`);
    handle = (_body, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(answer);
    await expect(connect().call(method, params)).rejects.toThrow(AnswerTooLargeError);
  });

  it('a refusal, whose text is one line that every database takes and no longer than 500 characters', async () => {
    const message = `no\u0000 \ud83d\n\u202eway ${'x'.repeat(1_000)}`;
    handle = (body, response) => respond(response, { ...body, error: { code: -1, message } });
    const refusal = await connect()
      .call('eth_getLogs', [])
      .catch((error: unknown) => error as JsonRpcAnswerError);
    expect(refusal).toBeInstanceOf(JsonRpcAnswerError);
    const { nodeMessage } = refusal as JsonRpcAnswerError;
    expect(nodeMessage.slice(0, 10)).toBe('no  \ufffd way ');
    expect(nodeMessage).toHaveLength(501);
  });

  it('but not a batch of the shortest answers', async () => {
    const calls = Array.from({ length: 100 }, () => ({ method: 'eth_getLogs', params: [] }));
    handle = (body, response) =>
      respond(
        response,
        (body as Request[]).map(({ id }) => ({ id, result: '0x' })),
      );
    expect(await connect().callBatch(calls)).toHaveLength(100);
  });

  it('an answer that does not begin, or begins and does not end, within the time', async () => {
    handle = () => undefined;
    await expect(connect({ timeoutMs: 100 }).call('eth_getLogs', [])).rejects.toThrow(AnswerTooSlowError);
    handle = (_body, response) => response.write('{"id":1,');
    await expect(connect({ timeoutMs: 100 }).call('eth_getLogs', [])).rejects.toThrow(AnswerTooSlowError);
  });
});

describe('credentials in the URL', () => {
  const place = '/v2/pathsecret123?apikey=querysecret456';
  const withUser = (url: string) => url.replace('http://', 'http://usersecret:pass%2Fsecret@');

  function connectSecretly(options: Partial<JsonRpcOptions> = {}): JsonRpcClient {
    const { port } = server.address() as AddressInfo;
    return connect({ ...options, url: withUser(`http://127.0.0.1:${port}${place}`) });
  }

  it('are sent', async () => {
    let seen: unknown;
    handle = (body, response, request) => {
      seen = [request.url, request.headers.authorization];
      echo(body, response, request);
    };
    await connectSecretly().call('eth_echo', [1]);
    expect(seen).toEqual([place, `Basic ${Buffer.from('usersecret:pass/secret').toString('base64')}`]);
    const { port } = server.address() as AddressInfo;
    await connect({ url: `http://user%zz:50%25%@127.0.0.1:${port}/` }).call('eth_echo', [1]);
    const asTheyAre = `Basic ${Buffer.from('user%zz:50%25%').toString('base64')}`;
    expect(seen, 'a percent sign that encodes nothing').toEqual(['/', asTheyAre]);
  });

  it('are in no error, whatever fails and whatever the node says', async () => {
    const failures: unknown[] = [];
    const attempt = (client: JsonRpcClient) =>
      client.call('eth_getLogs', []).catch((error) => failures.push(error));
    const repeated = `bad key pathsecret123 or querysecret456 of usersecret:pass/secret`;
    handle = (body, response) => respond(response, { ...body, error: { code: -1, message: repeated } });
    await attempt(connectSecretly());
    handle = (_body, response) => respond(response, repeated, 401);
    await attempt(connectSecretly());
    handle = () => undefined;
    await attempt(connectSecretly({ timeoutMs: 50 }));
    handle = (_body, response) => response.destroy();
    await attempt(connectSecretly());
    const closed = connectSecretly();
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
    await attempt(closed);
    expect(failures).toHaveLength(5);
    for (const failure of failures) {
      expect(failure).toBeInstanceOf(ChainUnavailableError);
      expect(inspect(failure, { depth: 9, showHidden: true })).not.toMatch(/secret\d*\b(?!\])/);
    }
  });

  it('are not in the label, nor in the error for a URL that is none', () => {
    expect(connectSecretly().label).toMatch(/^127\.0\.0\.1:\d+$/);
    for (const url of ['ws://usersecret@host/pathsecret123', 'usersecret', '']) {
      const create = () => createJsonRpcClient({ url });
      expect(create).toThrow(TypeError);
      expect(create).not.toThrow(/secret/);
    }
  });
});
