/** Bytes as they come over a connection: valid requests that were mangled, one after the other, or mere noise. */
import fc from 'fast-check';

export interface ValidRequests {
  readonly apiKey: string;
  readonly paymentId: string;
  readonly createBody: string;
  readonly createQuery: string;
}

const CRLF = '\r\n';
/** Headers that may break a request, contradict another header, or smuggle one. */
const strangeHeader = fc.constantFrom(
  'Transfer-Encoding: chunked',
  'Transfer-Encoding: chunked, identity',
  'Transfer-Encoding:\x0bchunked',
  'Transfer-Encoding: gzip',
  'Content-Length: 0',
  'Content-Length: -1',
  'Content-Length: +5',
  'Content-Length: 99999999999999999999',
  'Content-Length: 5, 5',
  'Content-Length: 0x10',
  'Expect: 100-continue',
  'Expect: 200-ok',
  'Upgrade: websocket\r\nConnection: Upgrade',
  'Upgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: AAMAAABkAAQAAP__',
  'Host: a\r\nHost: b',
  'Host:',
  'Host: [::1]:99999',
  'X-API-Key: x',
  'Authorization: Bearer x',
  'Authorization: Basic eDp4',
  'X-API-Key:',
  'X-HTTP-Method-Override: DELETE',
  'X-Forwarded-For: 127.0.0.1, <script>, ::1',
  'X-Forwarded-Host: evil.example',
  'Content-Type: application/json; charset=utf-16',
  'Content-Type: text/plain',
  'Content-Encoding: gzip',
  'Idempotency-Key: a b',
  'Idempotency-Key: \x80',
  `Idempotency-Key: ${'k'.repeat(256)}`,
  'Accept-Version: 1.x',
  'Range: bytes=0-0',
  'If-None-Match: *',
  'Sec-Fetch-Site: cross-site',
  'Origin: null',
  'Cookie: __proto__=1',
  '__proto__: 1',
  'constructor: 1',
  ': nameless',
  'no colon',
  ' folded',
  'Name : space',
  'X-\u0130: 1',
  'X-Nul: a\0b',
  'X-Bare: a\nb',
  'X-Return: a\rb',
  `X-Long: ${'a'.repeat(9_000)}`,
  Array.from({ length: 120 }, (_, index) => `X-${index}: 1`).join(CRLF),
);

const strangePath = fc.constantFrom(
  '*',
  '/',
  '//',
  '/api/v1/wallet/',
  '/api/v1/wallet?',
  '/API/v1/wallet',
  '/api/v1/wallet%00',
  '/api//v1/wallet',
  '/api/v1/../v1/wallet',
  '/api/v1/wallet;x',
  '/%',
  '/%zz',
  '/pay/%2e%2e',
  '/pay/',
  '/s/',
  '/s/%00',
  '/pay/a/b/c',
  'http://evil.example/api/v1/wallet',
  'evil.example:443',
  '/api/v1/wallet#x',
  '/\u0130',
  '/?__proto__=1',
  '/api/v1/payment-status?ipn_token',
  `/${'a'.repeat(3_000)}`,
  '/metrics',
  '/.env',
  '/health/ready?x',
);
const strangeMethod = fc.constantFrom(
  'HEAD',
  'OPTIONS',
  'PUT',
  'DELETE',
  'PATCH',
  'TRACE',
  'CONNECT',
  'PROPFIND',
  'post',
  'GET ',
  'QUERY',
  'PRI',
  '',
);
const strangeVersion = fc.constantFrom(
  'HTTP/1.0',
  'HTTP/0.9',
  'HTTP/2.0',
  'HTTP/1.2',
  'HTTP/1.10',
  'http/1.1',
  'RTSP/1.0',
  '',
);

interface Request {
  readonly method: string;
  readonly path: string;
  readonly version: string;
  readonly headers: readonly string[];
  readonly body: string;
}

/** Plain requests of every kind, each of which is answered as it should be. */
function validRequests(known: ValidRequests): fc.Arbitrary<Request> {
  const host = ['Host: pay.example.com', `X-API-Key: ${known.apiKey}`];
  const get = (path: string): Request => ({
    method: 'GET',
    path,
    version: 'HTTP/1.1',
    headers: host,
    body: '',
  });
  const post = (path: string, type: string, body: string): Request => ({
    ...get(path),
    method: 'POST',
    headers: [...host, `Content-Type: ${type}`, `Content-Length: ${Buffer.byteLength(body)}`],
    body,
  });
  const create = post('/api/v1/wallet', 'application/json', known.createBody);
  const chunked = {
    ...create,
    headers: [...host, 'Content-Type: application/json', 'Transfer-Encoding: chunked'],
    body: `${known.createBody.length.toString(16)}${CRLF}${known.createBody}${CRLF}0${CRLF}${CRLF}`,
  };
  return fc.constantFrom(
    create,
    create,
    chunked,
    get(`/api/v1/wallet?${known.createQuery}`),
    get(`/api/v1/payment-status?payment_id=${known.paymentId}`),
    get('/health/live'),
    get('/.well-known/card-checkout.json'),
    { ...get('/api/v1/payment-status'), headers: ['Host: pay.example.com'] },
  );
}

function bytesOf({ method, path, version, headers, body }: Request): Buffer {
  return Buffer.from([`${method} ${path} ${version}`, ...headers, '', body].join(CRLF), 'latin1');
}

function strange(request: Request): fc.Arbitrary<Request> {
  return fc.oneof(
    {
      weight: 6,
      arbitrary: fc.tuple(strangeHeader, fc.boolean()).map(([header, isFirst]) => ({
        ...request,
        headers: isFirst ? [header, ...request.headers] : [...request.headers, header],
      })),
    },
    { weight: 2, arbitrary: strangePath.map((path) => ({ ...request, path })) },
    { weight: 1, arbitrary: strangeMethod.map((method) => ({ ...request, method })) },
    { weight: 1, arbitrary: strangeVersion.map((version) => ({ ...request, version })) },
    {
      weight: 1,
      arbitrary: fc
        .nat({ max: 20 })
        .map((at) => ({ ...request, headers: request.headers.filter((_, index) => index !== at) })),
    },
    {
      weight: 1,
      arbitrary: fc.nat({ max: 20 }).map((at) => ({
        ...request,
        headers: [...request.headers, ...request.headers.slice(at % request.headers.length)],
      })),
    },
  );
}

const oddByte = fc.oneof(fc.nat({ max: 255 }), fc.constantFrom(0, 0x0a, 0x0d, 0x20, 0x3a, 0x7f, 0x80, 0xff));

function mangled(bytes: Buffer): fc.Arbitrary<Buffer> {
  const change = fc.tuple(
    fc.nat({ max: 10_000 }),
    oddByte,
    fc.constantFrom('change', 'leave out', 'put', 'cut'),
  );
  return fc.array(change, { minLength: 1, maxLength: 3 }).map((changes) => {
    let result: Buffer = bytes;
    for (const [place, byte, kind] of changes) {
      const at = result.length === 0 ? 0 : place % result.length;
      if (kind === 'cut') result = result.subarray(0, at);
      else {
        const middle = Buffer.from(kind === 'leave out' ? [] : [byte]);
        result = Buffer.concat([
          result.subarray(0, at),
          middle,
          result.subarray(kind === 'put' ? at : at + 1),
        ]);
      }
    }
    return result;
  });
}

/** What one connection sends: up to three requests of which any may be strange. */
export function rawBytes(known: ValidRequests): fc.Arbitrary<Buffer> {
  const valid = validRequests(known);
  const one = fc.oneof(
    { weight: 2, arbitrary: valid.map(bytesOf) },
    { weight: 5, arbitrary: valid.chain(strange).map(bytesOf) },
    { weight: 1, arbitrary: valid.chain(strange).chain(strange).map(bytesOf) },
    { weight: 4, arbitrary: valid.map(bytesOf).chain(mangled) },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)) },
    {
      weight: 1,
      arbitrary: fc
        .constantFrom('\r\n\r\n', '\0', '\x16\x03\x01\x02\x00', 'GET', 'hello\r\n')
        .map((text) => Buffer.from(text, 'latin1')),
    },
  );
  return fc.array(one, { minLength: 1, maxLength: 3 }).map((parts) => Buffer.concat(parts));
}
