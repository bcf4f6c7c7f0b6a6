import { createHmac } from 'node:crypto';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { beforeEach, expect, it } from 'vitest';
import { type EventCopy, type ListenContext, listen } from '../../sandbox/listen.ts';
import { NoServerError } from '../../src/cli/control-socket.ts';
import { listenOnLoopback } from '../support/listen-on-loopback.ts';
import { waitFor } from '../support/wait-for.ts';

let received: { headers: IncomingHttpHeaders; body: string; path: string }[];
let answer: { status: number; text: string };
let url: string;

beforeEach(async () => {
  received = [];
  answer = { status: 200, text: 'thank you' };
  const endpoint = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString('utf8');
    received.push({ headers: request.headers, body, path: request.url ?? '' });
    response.writeHead(answer.status, { location: '/elsewhere' }).end(answer.text);
  });
  url = `${await listenOnLoopback(endpoint)}/hook?shop=1`;
});

const body = '{ "event":"payment.paid",\t"note":"Grüße 👋" }';
const copy: EventCopy = {
  event: 'payment.paid',
  payment_id: '01a1fbd7-b7b3-7002-be38-5df3e4ebf9f4',
  callback: 'https://shop.example/webhook',
  body,
  signature: createHmac('sha256', 'ipn_test').update(body).digest('hex'),
  headers: { 'webhook-id': 'evt_1', 'webhook-timestamp': '1795262584', 'webhook-signature': 'v1,c2ln' },
  ipn_token: 'ipn_test',
  at: '2026-11-21T12:03:04.000Z',
};

type Step = EventCopy[] | Error | { missed: number };

/** Listens to a sandbox that answers this, one after the other, until `isDone` says that enough was seen. */
async function listenTo(
  steps: readonly Step[],
  options: Partial<ListenContext>,
  isDone: (out: string) => boolean,
): Promise<{ out: string; err: string; cursors: (string | null)[] }> {
  const seen = { out: '', err: '', cursors: [] as (string | null)[] };
  const done = new AbortController();
  const left = [...steps];
  const listening = listen({
    isJson: false,
    dataDir: '/srv/data',
    ...options,
    async readEvents(cursor) {
      seen.cursors.push(cursor);
      const step = cursor === null ? [] : left.shift();
      if (step instanceof Error) throw step;
      if (step === undefined) {
        // As long as nothing happens, the sandbox lets a listener wait.
        await new Promise((resolve) => setImmediate(resolve));
        return { cursor, missed: 0, events: [] };
      }
      const next = String(seen.cursors.length);
      return Array.isArray(step)
        ? { cursor: next, missed: 0, events: step }
        : { cursor: next, missed: step.missed, events: [] };
    },
    write(text) {
      seen.out += text;
    },
    writeError(text) {
      seen.err += text;
    },
    signal: done.signal,
  });
  try {
    await Promise.race([
      listening,
      waitFor('the listener', 20_000, () => isDone(seen.out + seen.err) || undefined),
    ]);
  } finally {
    done.abort();
  }
  await listening;
  return seen;
}

it('hands a copy on with body and signatures unchanged, and prints it with the answer', async () => {
  const { out } = await listenTo([[copy]], { forwardTo: url }, (text) => text.includes('after'));
  expect(received).toHaveLength(1);
  const [got] = received;
  expect(got?.body).toBe(body);
  expect(got?.path).toBe('/hook?shop=1');
  expect(got?.headers).toMatchObject({
    'content-type': 'application/json',
    'x-service-signature': copy.signature,
    ...copy.headers,
    'user-agent': 'card-checkout-webhook/1',
  });
  expect(
    createHmac('sha256', 'ipn_test')
      .update(got?.body ?? '')
      .digest('hex'),
  ).toBe(copy.signature);
  for (const part of [
    'These are copies',
    'openssl dgst -sha256 -hmac',
    `12:03:04 payment.paid ${copy.payment_id}`,
    'https://shop.example/webhook',
    copy.signature,
    'ipn_test',
    'webhook-signature: v1,c2ln',
    // What is shown can be no command to the terminal.
    '{ "event":"payment.paid",\\u0009"note":"Grüße 👋" }',
  ]) {
    expect(out).toContain(part);
  }
  expect(out).toMatch(/→ answered 200 after \d+ ms: thank you\n/);
});

it('prints one line of JSON an event, and everything else on standard error', async () => {
  const { out, err } = await listenTo([[copy]], { forwardTo: url, isJson: true }, (text) =>
    text.includes('"forwarded"'),
  );
  expect(
    out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line)),
  ).toEqual([
    {
      ...copy,
      forwarded: { status: 200, problem: null, duration_ms: expect.any(Number), answer: 'thank you' },
    },
  ]);
  expect(err).toContain('These are copies');
});

it('forwards nothing unless it is told where', async () => {
  const { out } = await listenTo([[copy]], {}, (text) => text.includes(copy.signature));
  expect(out).toContain('--forward-to');
  expect(out).toContain('run in another terminal: npx card-checkout trigger');
  expect(received).toEqual([]);
});

it('follows no redirect, sends nothing twice, and shows no more of an answer than it must', async () => {
  answer = { status: 307, text: `\u001b[2J${'x'.repeat(5_000)}` };
  const { out } = await listenTo([[copy]], { forwardTo: url }, (text) => text.includes('after'));
  expect(out).toMatch(/→ answered 307 after \d+ ms: \\u001b\[2Jx{900,996}\n/);
  expect(received).toHaveLength(1);
});

it('says so when nobody answers, and goes on', async () => {
  const other = { ...copy, payment_id: '01a1fbd7-b7b3-7002-be38-000000000000' };
  const { out } = await listenTo(
    [[copy], [other]],
    { forwardTo: 'http://127.0.0.1:9/' },
    (text) => text.match(/→ connect ECONNREFUSED 127.0.0.1:9 after/g)?.length === 2,
  );
  expect(out).toContain(other.payment_id);
});

it('goes on where it was when the sandbox is started again, and says what it missed', async () => {
  const away = new NoServerError('no server is running');
  const reset = Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' });
  const { cursors, err } = await listenTo([[copy], reset, away, { missed: 3 }], { forwardTo: url }, (text) =>
    text.includes('too fast'),
  );
  expect(cursors.slice(0, 5)).toEqual([null, '1', '2', '2', '2']);
  expect(err).toBe('3 events are missing, because they came too fast.\n');
});

it('ends with clear words where no sandbox runs, it is refused, or the address is none', async () => {
  const context = { isJson: false, dataDir: '/srv/data', write: () => {}, writeError: () => {} };
  const failing = (error: Error) => listen({ ...context, readEvents: () => Promise.reject(error) });
  await expect(failing(new NoServerError('no server is running'))).rejects.toThrow(
    /no sandbox runs with the data folder \/srv\/data: .*npm start/,
  );
  await expect(failing(new Error('runs in live mode'))).rejects.toThrow('runs in live mode');
  await expect(listenTo([new Error('This works only …')], {}, () => false)).rejects.toThrow(
    'This works only',
  );
  const readEvents = () => Promise.resolve({ cursor: '1', missed: 0, events: [] });
  for (const forwardTo of ['localhost:4000', 'ftp://x', '/hook'])
    await expect(listen({ ...context, forwardTo, readEvents })).rejects.toThrow('http or https');
});
