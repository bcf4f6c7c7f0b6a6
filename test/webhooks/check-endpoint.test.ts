import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { checkEndpoint } from '../../src/webhooks/check-endpoint.ts';
import {
  createSelfSignedCertificate,
  createTestCertificateAuthority,
  type TestCertificate,
  type TestCertificateAuthority,
} from '../support/certificates.ts';
import { type RecordingTlsServer, startRecordingTlsServer } from '../support/recording-tls-server.ts';

const DAY_MS = 86_400_000;
const HOST = 'shop.example.com';
const own = { hostname: 'pay.example.com', port: 443, path: '' };

let authority: TestCertificateAuthority;
let certificate: TestCertificate;
let server: RecordingTlsServer | null = null;

beforeAll(async () => {
  authority = await createTestCertificateAuthority();
  certificate = await authority.issue({ names: [HOST], notAfter: new Date(Date.now() + 60.5 * DAY_MS) });
});
afterEach(() => server?.close());
afterAll(() => {
  server = null;
});

/** Checks an endpoint that answers so; `[name, level]` of each step, and the details. */
async function check(
  answer: string | null,
  { url = `https://${HOST}/hook`, address = '93.184.216.34', tls = certificate, port = 0 } = {},
) {
  const started = await startRecordingTlsServer(tls, ({ socket }) => {
    if (answer === null) socket.destroy();
    else socket.end(`HTTP/1.1 ${answer}\r\nContent-Length: 0\r\n\r\n`);
  });
  server = started;
  const found = await checkEndpoint(
    {
      resolver: {
        resolveFresh: async () =>
          address === '' ? { failed: 'no_address' as const } : { addresses: [address] },
      },
      ownAddresses: () => new Set<string>(),
      allowedHosts: new Set<string>(),
      own,
      ca: authority.caPem,
      connectTo: () => ({ address: '127.0.0.1', port: port || started.port }),
    },
    url,
  );
  return {
    levels: Object.fromEntries(found.map(({ name, level }) => [name, level])),
    detailOf: (name: string) => found.find((step) => step.name === name)?.detail,
    last: found.at(-1),
    requests: started.requests,
  };
}

const connected = { URL: 'ok', DNS: 'ok', Address: 'ok', Connection: 'ok', Certificate: 'ok' } as const;

describe('the test of an endpoint', () => {
  it('sends one POST without body and signature, and is content with a refusal', async () => {
    const { levels, detailOf, requests } = await check('401 Unauthorized');
    expect(levels).toEqual({ ...connected, Redirect: 'ok', Answer: 'ok', Time: 'ok' });
    expect(detailOf('Certificate')).toContain('for 60 more days');
    expect(requests).toHaveLength(1);
    expect(requests[0]?.head[0]).toBe('POST /hook HTTP/1.1');
    expect(requests[0]?.head.join('\n').toLowerCase()).not.toContain('signature');
    expect(requests[0]?.body).toBe('');
  });

  it.each([
    ['200 OK', 'warn', 'X-Service-Signature'],
    ['400 Bad Request', 'ok', 'as a receiver should'],
    ['404 Not Found', 'fail', 'Correct the path'],
    ['405 Method Not Allowed', 'fail', 'nothing receives POST'],
    ['429 Too Many Requests', 'warn', 'see its log'],
    ['500 Internal Server Error', 'warn', 'see its log'],
  ])('judges the answer %s as %s', async (answer, level, detail) => {
    const { levels, detailOf } = await check(answer);
    expect(levels['Answer']).toBe(level);
    expect(detailOf('Answer')).toContain(detail);
  });

  it('follows no redirect, and says where it leads', async () => {
    const { levels, detailOf, requests } = await check(
      '308 Permanent Redirect\r\nLocation: https://www.example.com/hook',
    );
    expect([levels['Redirect'], levels['Answer']]).toEqual(['fail', 'fail']);
    expect(detailOf('Redirect')).toContain('https://www.example.com/hook');
    expect(requests).toHaveLength(1);
  });

  it('warns before the certificate expires', async () => {
    const tls = await authority.issue({ names: [HOST], notAfter: new Date(Date.now() + 3.5 * DAY_MS) });
    const { levels, detailOf } = await check('401 Unauthorized', { tls });
    expect(levels['Certificate']).toBe('warn');
    expect(detailOf('Certificate')).toMatch(
      /^It is valid until \d{4}-\d\d-\d\d, for 3 more days\. Renew it now\.$/,
    );
  });

  it.each([
    [
      'an expired',
      async () => authority.issue({ names: [HOST], notAfter: new Date(Date.now() - 1_000) }),
      'has expired',
    ],
    ['a foreign', async () => authority.issue({ names: ['other.example.com'] }), 'for another host'],
    ['a self-signed', async () => createSelfSignedCertificate({ names: [HOST] }), 'self-signed'],
  ])('stops at %s certificate', async (_, issue, detail) => {
    const { last, levels, requests } = await check('401 Unauthorized', { tls: await issue() });
    expect(last).toMatchObject({ name: 'Certificate', level: 'fail' });
    expect(last?.detail).toContain(detail);
    expect(levels['Connection']).toBe('ok');
    expect(requests).toEqual([]);
  });

  it.each([
    ['URL', 'an http URL', { url: `http://${HOST}/` }, 'must begin with https://'],
    ['URL', 'a private literal', { url: 'https://10.0.0.1/' }, 'private'],
    ['DNS', 'a name without an address', { address: '' }, 'DNS has no address'],
    ['Address', 'a private address', { address: '192.168.1.1' }, 'not public'],
    ['Address', 'this service', { url: 'https://pay.example.com/' }, 'this service'],
    ['Connection', 'a closed port', { port: 1 }, 'refused the connection'],
  ] as const)('stops at %s for %s, and says what to do', async (name, _, options, detail) => {
    const { last, requests } = await check('401 Unauthorized', options);
    expect(last).toMatchObject({ name, level: 'fail' });
    expect(last?.detail).toContain(detail);
    expect(requests).toEqual([]);
  });

  it('fails where no answer comes', async () => {
    const { last } = await check(null);
    expect(last).toMatchObject({ name: 'Answer', level: 'fail' });
    expect(last?.detail).not.toContain('event may have arrived');
  });
});
