/** Checks for any proxy, from outside, over HTTP/2 with TLS and over plain HTTP. */
import { readFileSync } from 'node:fs';
import { request as requestPlain } from 'node:http';
import { type ClientHttp2Session, connect } from 'node:http2';
import { connect as connectTls } from 'node:tls';
import { collectOutcomes } from './host-service.ts';
import { certificateIn } from './neighbors.ts';

export interface Outcome {
  readonly name: string;
  /** Null if the check passes. */
  readonly problem: string | null;
}

interface CheckOptions {
  readonly httpPort: number;
  readonly httpsPort: number;
  readonly folder: string;
  readonly apiKey: string;
  readonly pay: (paymentId: string) => Promise<unknown>;
  /** Whether the proxy keeps a client's own `X-Forwarded-For` and appends to it. */
  readonly forwardsCallersHeader: boolean;
}

interface Answer {
  readonly status: number;
  readonly text: string;
}

const NAME = 'pay.example.com';
const EVENT_MS = 30_000;

function expectEqual(given: unknown, expected: unknown): void {
  if (given !== expected) throw new Error(`${String(given)} in place of ${String(expected)}`);
}

function openSession({ folder, httpsPort }: CheckOptions): ClientHttp2Session {
  const ca = readFileSync(certificateIn(folder).cert);
  const options = { host: '127.0.0.1', port: httpsPort, servername: NAME, ALPNProtocols: ['h2'], ca };
  return connect(`https://${NAME}`, { createConnection: () => connectTls(options) });
}

/** Response to a request; with `isEnough`, returns early from a stream. */
function send(
  session: ClientHttp2Session,
  path: string,
  headers: Readonly<Record<string, string>> = {},
  { body, isEnough }: { readonly body?: string; readonly isEnough?: (text: string) => boolean } = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const method = body === undefined ? 'GET' : 'POST';
    const stream = session.request({ ':path': path, ':method': method, ...headers });
    let status = 0;
    let text = '';
    stream.setEncoding('utf8');
    stream.setTimeout(EVENT_MS, () => stream.destroy(new Error(`only ${text} within ${EVENT_MS} ms`)));
    stream.on('response', (answer) => {
      status = Number(answer[':status']);
    });
    stream.on('data', (chunk: string) => {
      text += chunk;
      if (isEnough?.(text) !== true) return;
      resolve({ status, text });
      stream.close();
    });
    stream.on('end', () => resolve({ status, text }));
    stream.on('error', reject);
    stream.end(body);
  });
}

function sendPlain(port: number, path: string): Promise<{ status: number; location: string | undefined }> {
  return new Promise((resolve, reject) => {
    const request = requestPlain({ host: '127.0.0.1', port, path, headers: { host: NAME } }, (response) => {
      response.resume();
      resolve({ status: response.statusCode ?? 0, location: response.headers.location });
    });
    request.on('error', reject).end();
  });
}

export async function checkBehindProxy(options: CheckOptions): Promise<readonly Outcome[]> {
  const { outcomes, check } = collectOutcomes();
  const session = openSession(options);
  const headers = { authorization: `Bearer ${options.apiKey}`, 'content-type': 'application/json' };
  const order = { address: '0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65', amount: '25.00' };
  const callback = 'https://example.com/webhook';
  let id = '';

  await check('creates a payment over HTTP/2 and TLS', async () => {
    const { status, text } = await send(session, '/api/v1/wallet', headers, {
      body: JSON.stringify({ ...order, callback }),
    });
    if (status !== 200 && status !== 201) throw new Error(`${status} ${text}`);
    const created = JSON.parse(text) as { payment_id: string; checkout_url: string };
    id = created.payment_id;
    if (!created.checkout_url.startsWith(`https://${NAME}/`)) throw new Error(created.checkout_url);
  });
  await check('serves the checkout page', async () => {
    expectEqual((await send(session, `/pay/${id}`)).status, 200);
  });
  await check('passes events of an open page on while the stream is open', async () => {
    const isEnough = (text: string) => text.includes('data:');
    const path = `/pay/${id}/events?revision=0`;
    const events = send(session, path, { accept: 'text/event-stream' }, { isEnough });
    // The stream may send an event at once, or only on a change.
    await Promise.all([events, options.pay(id)]);
  });
  await check('refuses both APIs over plain HTTP', async () => {
    for (const path of ['/api/v1/wallet', '/merchant/v1/payments'])
      expectEqual((await sendPlain(options.httpPort, path)).status, 403);
  });
  await check('redirects pages from plain HTTP', async () => {
    const { status, location } = await sendPlain(options.httpPort, `/pay/${id}`);
    expectEqual(status, 308);
    expectEqual(location, `https://${NAME}/pay/${id}`);
  });
  await check('refuses a body of 4 MB with 413', async () => {
    const { status } = await send(session, '/api/v1/wallet', headers, { body: 'x'.repeat(4 * 1024 * 1024) });
    expectEqual(status, 413);
  });
  if (options.forwardsCallersHeader) {
    await check('counts clients by the forwarded address', async () => {
      const statusFrom = async (address: string) =>
        (await send(session, '/api/v1/payment-status?payment_id=none', { 'x-forwarded-for': address }))
          .status;
      const statuses: number[] = [];
      for (let count = 0; count < 5; count++) statuses.push(await statusFrom('203.0.113.9'));
      expectEqual(statuses.at(-1), 429);
      expectEqual(await statusFrom('203.0.113.10'), 401);
    });
  }
  session.destroy();
  return outcomes;
}
