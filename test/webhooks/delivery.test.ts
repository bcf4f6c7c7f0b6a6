import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ServiceLocation } from '../../src/payment/callback-url.ts';
import { createCallbackHostCheck, createHostResolver } from '../../src/webhooks/callback-host.ts';
import type { AttemptOutcome } from '../../src/webhooks/deliver.ts';
import { deliverWebhook } from '../../src/webhooks/deliver.ts';
import cases from '../cases/callback-urls.json' with { type: 'json' };
import { startBlackhole } from '../support/blackhole.ts';
import {
  createSelfSignedCertificate,
  createTestCertificateAuthority,
  type TestCertificateAuthority,
} from '../support/certificates.ts';
import { startDnsServer } from '../support/dns-server.ts';
import {
  type RecordingTlsServer,
  type RequestContext,
  startRecordingTlsServer,
} from '../support/recording-tls-server.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { waitFor } from '../support/wait-for.ts';
import { BOMB, behave, drip, type ServerFacts } from './misbehave.ts';

const PUBLIC_ADDRESS = '93.184.216.34';
const BODY = '{"event":"payment.paid","note":"é€😀"}';
const SIGNATURE = 'f00d'.repeat(16);
const DAY_MS = 86_400_000;

/** What must become of each row, how often its server is asked, and how long that may take. */
interface Expected {
  readonly outcome: AttemptOutcome['outcome'];
  readonly reason: AttemptOutcome['reason'];
  readonly status: number | null;
  readonly requests: 0 | 1;
  readonly fromMs?: number;
  readonly toMs?: number;
}

/** What ended at the deadline did so because of it: none of these servers would ever answer. */
const AT_DEADLINE = { fromMs: 9_900, toMs: 60_000 } as const;
/** What did not end at the deadline. */
const BEFORE_DEADLINE_MS = 10_000;
const failed = (reason: AttemptOutcome['reason'], requests: 0 | 1 = 0, status: number | null = null) =>
  ({ outcome: 'failed', reason, status, requests }) as const;
const unknown = (reason: AttemptOutcome['reason']) =>
  ({ outcome: 'unknown', reason, status: null, requests: 1 }) as const;
const delivered = (status: number) => ({ outcome: 'delivered', reason: null, status, requests: 1 }) as const;

const EXPECTED: Readonly<Record<string, Expected>> = {
  rebind1: { outcome: 'blocked', reason: 'blocked_address', status: null, requests: 0 },
  rebind2: { outcome: 'blocked', reason: 'blocked_address', status: null, requests: 0 },
  r302: failed('http_302', 1, 302),
  r307: failed('http_307', 1, 307),
  r301http: failed('http_301', 1, 301),
  'slow-dns': { ...failed('dns_timeout'), ...AT_DEADLINE },
  'slow-connect': { ...failed('connect_timeout'), ...AT_DEADLINE },
  'slow-tls': { ...failed('tls_timeout'), ...AT_DEADLINE },
  'slow-headers': { ...unknown('timeout'), ...AT_DEADLINE },
  drip: { ...unknown('timeout'), ...AT_DEADLINE },
  'ok-9s': { ...delivered(204), fromMs: 8_900 },
  huge: delivered(200),
  bomb: delivered(200),
  bighdr: failed('response_headers_too_large', 1),
  h2: delivered(200),
  reset: unknown('reset'),
  '100': unknown('no_response'),
  expired: failed('tls_expired'),
  selfsigned: failed('tls_self_signed'),
  wronghost: failed('tls_wrong_host'),
  tls10: failed('tls_version'),
  proxyenv: delivered(200),
};

interface RowResult {
  readonly delivery: AttemptOutcome;
  readonly server: RecordingTlsServer | null;
  readonly connectedTo: readonly string[];
  readonly questions: readonly string[];
}

const rows = cases
  .filter((row) => row.stage === 'delivery')
  .map((row) => ({
    url: String(row.url),
    verdict: row.verdict,
    why: row.why,
    name: new URL(String(row.url)).hostname.split('.')[0] ?? '',
    facts: (row.server ?? {}) as ServerFacts,
  }));

const results = new Map<string, RowResult>();
const cleanUps: (() => unknown)[] = [];
let authority: TestCertificateAuthority;

beforeAll(async () => {
  authority = await createTestCertificateAuthority();
  // All at once, each with its own server and the real ten seconds; made ready before, as certificates take their time.
  const prepared = await Promise.all(rows.map(prepareRow));
  // The one that has but a second to spare is not to spend it waiting while this process serves all the others.
  const tight = prepared.filter(({ name }) => name === 'ok-9s');
  const begun = tight.map(runRow);
  await waitFor('its request', 60_000, () => tight.every(({ server }) => server?.requests.length === 1));
  await Promise.all([...begun, ...prepared.filter((row) => !tight.includes(row)).map(runRow)]);
}, 120_000);

afterAll(async () => {
  for (const cleanUp of cleanUps.reverse()) await cleanUp();
});

interface PreparedRow {
  readonly name: string;
  readonly server: RecordingTlsServer | null;
  /** Makes the one delivery; everything around it is ready. */
  deliver(): Promise<RowResult>;
}

async function runRow({ name, deliver }: PreparedRow): Promise<void> {
  results.set(name, await deliver());
}

/** Brings the row's world about. */
async function prepareRow({ name, url, facts }: (typeof rows)[number]): Promise<PreparedRow> {
  const dns = await startDnsServer((_, type, earlier) => ({
    A: type === 'A' ? [addressesOf(facts)?.[earlier] ?? PUBLIC_ADDRESS] : [],
    ttlSeconds: 0,
    ...(facts.dns_delay_ms === undefined ? {} : { delayMs: facts.dns_delay_ms }),
  }));
  const resolver = createHostResolver({
    servers: [dns.server],
    timeoutMs: 5_000,
  });
  cleanUps.push(() => dns.close());
  const { port, server } = await startRowServer(url, facts);
  // A sequence of answers begins with the lookup at creation.
  if (addressesOf(facts) !== undefined) {
    const check = createCallbackHostCheck(resolver, () => new Set());
    expect(await check(new URL(url).hostname)).toBeNull();
  }
  const before = dns.questions.length;

  const connectedTo: string[] = [];
  const connectTo = (address: string, wantedPort: number) => {
    connectedTo.push(`${address}:${wantedPort}`);
    return { address: '127.0.0.1', port };
  };
  const parts = {
    resolver,
    ownAddresses: () => new Set<never>(),
    own: null,
    allowedHosts: new Set<never>(),
    ca: authority.caPem,
    connectTo,
  };
  async function deliver(): Promise<RowResult> {
    const delivery = await (facts.env === undefined
      ? deliverWebhook(parts, { url, body: BODY, signature: SIGNATURE })
      : deliverBehindProxyVariables(url, dns.server, port));
    const questions = dns.questions.slice(before).map((question) => `${question.type} ${question.name}`);
    return { delivery, server, connectedTo, questions };
  }
  return { name, server, deliver };
}

function addressesOf(facts: ServerFacts): readonly string[] | undefined {
  return facts.dns_sequence ?? facts.dns_per_lookup;
}

async function startRowServer(url: string, facts: ServerFacts) {
  if (facts.connect === 'blackhole') {
    const blackhole = await startBlackhole();
    cleanUps.push(blackhole.close);
    return { port: blackhole.port, server: null };
  }
  if (facts.tls === 'stall') {
    const silent = createServer((socket) => socket.on('error', () => {}).resume());
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    cleanUps.push(() => silent.close());
    return { port: (silent.address() as AddressInfo).port, server: null };
  }
  const server = await startRecordingTlsServer(
    await certificateFor(new URL(url).hostname, facts),
    (context) => behave(context, facts),
    facts.tls === '1.0' ? { minVersion: 'TLSv1', maxVersion: 'TLSv1', ciphers: 'DEFAULT@SECLEVEL=0' } : {},
  );
  cleanUps.push(server.close);
  return { port: server.port, server };
}

function certificateFor(hostname: string, facts: ServerFacts) {
  const names = [facts.tls === 'wrong-host' ? 'other.example.com' : hostname];
  if (facts.tls === 'self-signed') return createSelfSignedCertificate({ names });
  if (facts.tls !== 'expired') return authority.issue({ names });
  return authority.issue({
    names,
    notBefore: new Date(Date.now() - 2 * DAY_MS),
    notAfter: new Date(Date.now() - DAY_MS),
  });
}

/** The delivery in its own process, where every variable that names a proxy points to one that counts. */
async function deliverBehindProxyVariables(url: string, dnsServer: string, connectToPort: number) {
  let proxied = 0;
  const proxy = createServer((socket) => {
    proxied += 1;
    socket.destroy();
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  cleanUps.push(() => proxy.close());
  const proxyUrl = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  const outcome = await deliverInProcess(
    { url, allowedHosts: [], dnsServer, connectToPort },
    {
      NODE_EXTRA_CA_CERTS: await authorityFile(),
      NODE_USE_ENV_PROXY: '1',
      HTTPS_PROXY: proxyUrl,
      https_proxy: proxyUrl,
      HTTP_PROXY: proxyUrl,
      ALL_PROXY: proxyUrl,
    },
  );
  expect(proxied).toBe(0);
  return outcome;
}

async function deliverInProcess(
  input: { url: string; allowedHosts: string[]; dnsServer?: string; connectToPort?: number },
  environment: Record<string, string>,
): Promise<AttemptOutcome> {
  const script = new URL('../support/deliver-webhooks.ts', import.meta.url).pathname;
  const { url, ...others } = input;
  const words = [script, JSON.stringify({ urls: [url], ...others })];
  const { stdout } = await promisify(execFile)(process.execPath, words, {
    env: { PATH: process.env['PATH'], ...environment },
  });
  return JSON.parse(stdout).outcomes[0];
}

const folder = temporaryFolder(afterAll);

async function authorityFile(): Promise<string> {
  const file = join(folder, 'ca.pem');
  await writeFile(file, authority.caPem);
  return file;
}

function resultOf(name: string): RowResult {
  const result = results.get(name);
  if (result === undefined) throw new Error(`the row ${name} has not run`);
  return result;
}

describe('the callback cases at delivery', () => {
  it('are all here, each with its expectation', () => {
    expect(rows.map(({ name }) => name).sort()).toEqual(Object.keys(EXPECTED).sort());
    expect(rows).toHaveLength(22);
  });

  it.each(rows)('$name: $why', async ({ name, facts }) => {
    const { delivery, server, connectedTo, questions } = resultOf(name);
    const expected = EXPECTED[name];
    expect(delivery).toMatchObject({
      outcome: expected?.outcome,
      reason: expected?.reason,
      httpStatus: expected?.status,
    });
    expect(delivery.durationMs).toBeGreaterThanOrEqual(expected?.fromMs ?? 0);
    expect(delivery.durationMs).toBeLessThan(expected?.toMs ?? BEFORE_DEADLINE_MS);
    // By now the slowest row is over: a second request or connection would have come.
    expect(server?.requests.length ?? 0).toBe(expected?.requests);
    expect(server?.connections.length ?? 0).toBeLessThanOrEqual(1);
    await waitFor('the end of its connection', 60_000, () => (server?.openConnections() ?? 0) === 0);
    if (facts.env === undefined) {
      const reachesNetwork = expected?.outcome !== 'blocked' && facts.dns_delay_ms === undefined;
      expect(connectedTo).toEqual(reachesNetwork ? [`${PUBLIC_ADDRESS}:443`] : []);
    }
    const isRepeated = facts.dns_delay_ms !== undefined;
    // One lookup: a question for each family. Only a silent server is asked the same again within it.
    expect((isRepeated ? [...new Set(questions)] : questions).toSorted()).toEqual([
      `A ${name}.example.com`,
      `AAAA ${name}.example.com`,
    ]);
  });

  it('whose verdict is reject end without success, those with accept are delivered', () => {
    for (const { name, verdict } of rows) {
      expect(resultOf(name).delivery.outcome === 'delivered' ? 'accept' : 'reject', name).toBe(verdict);
    }
  });

  it('read at most 64 KiB of an endless answer, and of a gzip bomb what was sent, never what it unpacks to', () => {
    expect(resultOf('huge').delivery.responseBytes).toBe(64 * 1024);
    expect(resultOf('huge').delivery.responseExcerpt).toBe('x'.repeat(1024));
    expect(BOMB.length).toBeLessThan(64 * 1024);
    expect(resultOf('bomb').delivery.responseBytes).toBe(BOMB.length);
  });

  it('offer HTTP/1.1 and nothing else', () => {
    const connections = rows.flatMap(({ name }) => resultOf(name).server?.connections ?? []);
    const finished = connections.filter(({ offeredProtocols }) => offeredProtocols.length > 0);
    expect(finished.length).toBeGreaterThanOrEqual(15);
    for (const { offeredProtocols } of finished) expect(offeredProtocols).toEqual(['http/1.1']);
  });
});

/** One delivery to a server that misbehaves in its own way, trusted and reached through the seams. */
async function deliverTo(
  behavior: (context: RequestContext) => unknown,
  options: {
    url?: string;
    names?: string[];
    /** The answers of the first, second, … lookup; the last one stays. */
    A?: string[][];
    allowedHosts?: (port: number) => string[];
    ownAddresses?: string[];
    own?: ServiceLocation;
    connectTo?: (address: string, serverPort: number) => { address: string; port: number };
    timeoutMs?: number;
    server?: Parameters<typeof startRecordingTlsServer>[2];
  } = {},
) {
  const certificate = await authority.issue({ names: options.names ?? ['shop.example.com'] });
  const server = await startRecordingTlsServer(certificate, behavior, options.server);
  const answers = options.A ?? [[PUBLIC_ADDRESS]];
  const dns = await startDnsServer((_, __, earlier) => ({ A: answers[earlier] ?? answers.at(-1) ?? [] }));
  const resolver = createHostResolver({
    servers: [dns.server],
    timeoutMs: 20_000,
  });
  cleanUps.push(server.close, () => dns.close());
  const url = (options.url ?? 'https://shop.example.com/hook').replace('PORT', String(server.port));
  const connectedTo: string[] = [];
  const connectTo = (address: string) => {
    connectedTo.push(address);
    return options.connectTo?.(address, server.port) ?? { address: '127.0.0.1', port: server.port };
  };
  const delivery = await deliverWebhook(
    {
      resolver,
      ownAddresses: () => new Set(options.ownAddresses ?? []),
      own: options.own ?? null,
      allowedHosts: new Set(options.allowedHosts?.(server.port) ?? []),
      ca: authority.caPem,
      ...(options.allowedHosts === undefined ? { connectTo } : {}),
    },
    { url, body: BODY, signature: SIGNATURE, timeoutMs: options.timeoutMs ?? 5_000 },
  );
  return { delivery, server, connectedTo, questions: dns.questions };
}

const say = (text: string) => (context: RequestContext) => void context.socket.end(text);
const sayOk = say('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');

describe('what the receiver sees', () => {
  it('is exactly the request of the specification, with the signed bytes', async () => {
    const { delivery, server } = await deliverTo(sayOk, {
      url: 'https://Shop.Example.COM.:8443/a/%0d%0a?b=c d'.replace(' ', '%20').concat('#fragment'),
    });
    expect(delivery).toMatchObject({ outcome: 'delivered', responseBytes: 2, responseExcerpt: 'ok' });
    expect(server.requests).toEqual([
      {
        head: [
          'POST /a/%0d%0a?b=c%20d HTTP/1.1',
          'Host: shop.example.com:8443',
          'User-Agent: card-checkout-webhook/1',
          'Content-Type: application/json',
          `Content-Length: ${Buffer.byteLength(BODY)}`,
          `X-Service-Signature: ${SIGNATURE}`,
          'Connection: close',
        ],
        body: BODY,
      },
    ]);
    expect(server.connections).toEqual([{ servername: 'shop.example.com', offeredProtocols: ['http/1.1'] }]);
  });

  it('has no server name when the callback is an address, and the certificate must be for that address', async () => {
    const url = 'https://8.8.8.8/hook';
    const right = await deliverTo(sayOk, { url, names: ['8.8.8.8'] });
    expect(right.delivery.outcome).toBe('delivered');
    expect(right.server.connections[0]?.servername).toBeNull();
    expect(right.server.requests[0]?.head).toContain('Host: 8.8.8.8');
    expect(right.questions).toEqual([]);
    const wrong = await deliverTo(sayOk, { url, names: ['8.8.4.4'] });
    expect(wrong.delivery).toMatchObject({ outcome: 'failed', reason: 'tls_wrong_host' });
    expect(wrong.server.requests).toEqual([]);
  });
});

describe('where a delivery goes', () => {
  it('reaches an allowed localhost directly and without DNS', async () => {
    const { delivery, server, questions } = await deliverTo(sayOk, {
      url: 'https://localhost:PORT/hook',
      names: ['localhost'],
      allowedHosts: (port) => [`localhost:${port}`],
    });
    expect(delivery.outcome).toBe('delivered');
    expect(server.requests[0]?.head).toContain(`Host: localhost:${server.port}`);
    expect(questions).toEqual([]);
  });

  it('reaches an allowed name that resolves to a private address, but only at its port', async () => {
    const options = { url: 'https://receiver:PORT/', names: ['receiver'], A: [['127.0.0.1']] };
    const right = await deliverTo(sayOk, { ...options, allowedHosts: (port) => [`receiver:${port}`] });
    expect(right.delivery.outcome).toBe('delivered');
    const wrong = await deliverTo(sayOk, { ...options, allowedHosts: (port) => [`receiver:${port + 1}`] });
    expect(wrong.delivery).toMatchObject({ outcome: 'blocked', reason: 'blocked_url' });
    expect(wrong.questions).toEqual([]);
    expect(wrong.server.connections).toEqual([]);
  });

  it('is blocked by one private answer among public ones', async () => {
    const { delivery, server } = await deliverTo(sayOk, { A: [[PUBLIC_ADDRESS, '10.0.0.1']] });
    expect(delivery).toMatchObject({ outcome: 'blocked', reason: 'blocked_address' });
    expect(server.connections).toEqual([]);
  });

  it("is blocked by one of this machine's own addresses", async () => {
    const { delivery, server } = await deliverTo(sayOk, { ownAddresses: ['93.184.216.34'] });
    expect(delivery).toMatchObject({ outcome: 'blocked', reason: 'blocked_own_address' });
    expect(server.connections).toEqual([]);
  });

  it("is blocked by this service's own public name, unless the operator lists it", async () => {
    const own = { hostname: 'shop.example.com', port: 443, path: '' };
    const { delivery, server, questions } = await deliverTo(sayOk, { own });
    expect(delivery).toMatchObject({ outcome: 'blocked', reason: 'blocked_own_address' });
    expect(server.connections).toEqual([]);
    expect(questions).toEqual([]);
    const elsewhere = await deliverTo(sayOk, { own: { ...own, path: '/checkout' } });
    expect(elsewhere.delivery).toMatchObject({ outcome: 'delivered' });
  });

  it('moves on to the next address while nothing has been sent, and still sends once', async () => {
    const blackhole = await startBlackhole();
    cleanUps.push(blackhole.close);
    const { delivery, server, connectedTo } = await deliverTo(sayOk, {
      A: [[PUBLIC_ADDRESS, '93.184.216.35']],
      connectTo: (address, serverPort) => ({
        address: '127.0.0.1',
        port: address === PUBLIC_ADDRESS ? blackhole.port : serverPort,
      }),
    });
    expect(delivery.outcome).toBe('delivered');
    expect(connectedTo).toEqual([PUBLIC_ADDRESS, '93.184.216.35']);
    expect(server.requests).toHaveLength(1);
  });

  it('does not speak to a peer that is not the address it meant to reach', async () => {
    const { delivery, server } = await deliverTo(sayOk, {
      // Resolved by the system behind our back: it connects, but to something that was never named.
      connectTo: (_, serverPort) => ({ address: 'localhost', port: serverPort }),
    });
    expect(delivery).toMatchObject({ outcome: 'failed', reason: 'connect_failed' });
    expect(server.requests).toEqual([]);
  });

  it('fails when nobody listens', async () => {
    const closed = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => closed.once('listening', resolve));
    const { port } = closed.address() as AddressInfo;
    await new Promise((resolve) => closed.close(resolve));
    const { delivery } = await deliverTo(sayOk, { connectTo: () => ({ address: '127.0.0.1', port }) });
    expect(delivery).toMatchObject({ outcome: 'failed', reason: 'connect_refused', httpStatus: null });
  });
});

describe('whom a delivery trusts', () => {
  it('includes the authority named by NODE_EXTRA_CA_CERTS, and no variable turns the check off', async () => {
    const certificate = await authority.issue({ names: ['127.0.0.1'] });
    const server = await startRecordingTlsServer(certificate, sayOk);
    cleanUps.push(server.close);
    const host = `127.0.0.1:${server.port}`;
    const input = { url: `https://${host}/`, allowedHosts: [host] };
    const [trusting, careless] = await Promise.all([
      deliverInProcess(input, { NODE_EXTRA_CA_CERTS: await authorityFile() }),
      deliverInProcess(input, { NODE_TLS_REJECT_UNAUTHORIZED: '0' }),
    ]);
    expect(trusting).toMatchObject({ outcome: 'delivered', httpStatus: 200 });
    expect(careless).toMatchObject({ outcome: 'failed', reason: 'tls_untrusted' });
    expect(server.requests).toHaveLength(1);
  });

  it('needs a server that speaks HTTP/1.1', async () => {
    const { delivery, server } = await deliverTo(sayOk, { server: { ALPNCallback: () => undefined } });
    expect(delivery).toMatchObject({ outcome: 'failed', reason: 'tls_failed' });
    expect(server.requests).toEqual([]);
  });
});

describe('what a delivery makes of an answer', () => {
  it.each([
    ['no HTTP at all', 'HELLO\r\n\r\n', 'failed', 'invalid_response', null],
    [
      'a change of protocol',
      'HTTP/1.1 101 Switching\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n',
      'failed',
      'http_101',
      101,
    ],
    ['endless hints', 'HTTP/1.1 103 Hint\r\n\r\n'.repeat(9), 'failed', 'too_many_interim_responses', null],
    ['a hint and then success', 'HTTP/1.1 103 Hint\r\n\r\nHTTP/1.1 200 OK\r\n\r\n', 'delivered', null, 200],
    ['half a status line', 'HTTP/1.1 20', 'unknown', 'no_response', null],
    ['an end without a word', '', 'unknown', 'no_response', null],
    ['a body that is cut short', 'HTTP/1.1 202 OK\r\nContent-Length: 9\r\n\r\nab', 'delivered', null, 202],
    ['an error', 'HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n', 'failed', 'http_500', 500],
    [
      'two answers',
      'HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\nHTTP/1.1 200 OK\r\n\r\n',
      'failed',
      'http_503',
      503,
    ],
  ])('%s', async (_, text, outcome, reason, httpStatus) => {
    const { delivery, server } = await deliverTo(say(text));
    expect(delivery).toMatchObject({ outcome, reason, httpStatus });
    expect(server.requests).toHaveLength(1);
  });

  it('a body that drips does not change success, nor keep the connection beyond the deadline', async () => {
    const { delivery } = await deliverTo(
      (context) => {
        context.socket.write('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nab');
        return drip(context, 'c'.repeat(98));
      },
      { timeoutMs: 4_000 },
    );
    expect(delivery).toMatchObject({ outcome: 'delivered', httpStatus: 200 });
    expect(delivery.durationMs).toBeGreaterThan(3_900);
    // A byte a second: it was cut off long before its end.
    expect(delivery.responseBytes).toBeLessThan(60);
  });

  it('keeps at most 1 KiB of it for the log, with nothing that could disturb one', async () => {
    const hostile = Buffer.concat([
      Buffer.from('ok é\u001b[31m\r\n\u202e'),
      Buffer.from([0xff, 0]),
      Buffer.alloc(4000, 0xc3),
    ]);
    const { delivery } = await deliverTo(({ socket }) => {
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${hostile.length}\r\n\r\n`);
      socket.end(hostile);
    });
    expect(delivery.responseExcerpt.startsWith('ok é.[31m.....')).toBe(true);
    expect(delivery.responseExcerpt).not.toMatch(/[\p{C}\ufffd]/u);
    expect(Buffer.byteLength(delivery.responseExcerpt)).toBeLessThanOrEqual(1024);
    expect(delivery.responseBytes).toBe(hostile.length);
  });
});
