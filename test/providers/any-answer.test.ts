import { createServer } from 'node:net';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { ServiceError } from '../../src/payment/errors.ts';
import { listenOnLoopback } from '../support/listen-on-loopback.ts';
import { adapterWith, someSession } from './stage.ts';

const scalar = fc.oneof(
  fc.constantFrom('9.500000', '0', '-1', '1e309', '1000000000', 'order_1', 'a'.repeat(201), 'suspended'),
  fc.constantFrom('https://pay.example.com/1', 'https://a:b@example.com/', 'javascript:alert(1)', 'https://'),
  fc.jsonValue({ maxDepth: 3 }),
);
const body = fc.oneof(
  fc.dictionary(fc.constantFrom('cryptoAmount', 'id', 'checkoutUrl', '__proto__'), scalar),
  fc.record({ data: fc.record({ cryptoAmount: scalar }) }),
  fc.record({ error: fc.record({ code: scalar, minimum_usd: scalar }) }),
  scalar,
);
const text = fc.oneof(
  { weight: 8, arbitrary: body.map((value) => JSON.stringify(value) ?? '') },
  fc.constantFrom('', '<html>', '['.repeat(20_000), `"${'x'.repeat(70_000)}"`, '\ufeff{}'),
);
const status = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom('HTTP/1.1 200 OK', 'HTTP/1.1 422 No', 'HTTP/1.1 429 Busy') },
  fc.constantFrom(
    'HTTP/1.1 301 Moved',
    'HTTP/1.1 204 None',
    'HTTP/1.1 101 Up',
    'HTTP/2 200',
    'ICY 200 OK',
    '',
  ),
);
const header = fc.constantFrom(
  'Location: http://169.254.169.254/',
  'Content-Encoding: gzip',
  'Transfer-Encoding: chunked',
  'Content-Length: 99999',
  'Content-Length: -1',
  'Retry-After: 999999',
  `X-Long: ${'a'.repeat(20_000)}`,
);
const answer = fc.oneof(
  {
    weight: 9,
    arbitrary: fc
      .tuple(status, fc.option(header, { freq: 2 }), text)
      .map(([line, extra, content]) =>
        Buffer.from(
          [line, extra ?? `Content-Length: ${Buffer.byteLength(content)}`, '', content].join('\r\n'),
        ),
      ),
  },
  fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
);

const isUsable = (units: bigint | null) => units === null || (units > 0n && units < 10n ** 15n);

it('any bytes from a provider are a usable quote and session, or one of three errors', async () => {
  let bytes: Buffer = Buffer.alloc(0);
  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy());
    socket.once('data', () => socket.end(bytes));
  });
  const BASE_URL = await listenOnLoopback(server);
  const adapter = adapterWith('banxa', { API_KEY: 'key_1', PARTNER: 'shop', BASE_URL });
  const orError = async <T>(asked: Promise<T>): Promise<T | null> => {
    try {
      return await asked;
    } catch (error) {
      expect(error).toBeInstanceOf(ServiceError);
      const { errorName, message } = error as ServiceError;
      expect(['provider_unavailable', 'provider_inactive', 'below_minimum']).toContain(errorName);
      expect(message.length).toBeLessThan(300);
      return null;
    }
  };
  await fc.assert(
    fc.asyncProperty(answer, async (given) => {
      bytes = given;
      const quote = await orError(adapter.quote(someSession));
      if (quote !== null) expect(isUsable(quote.deliveryUnits)).toBe(true);
      const session = await orError(adapter.startSession(someSession));
      if (session === null) return;
      const { protocol, username, password } = new URL(session.redirectUrl);
      expect([protocol, username + password, isUsable(session.quotedUnits)]).toEqual(['https:', '', true]);
      expect(session.providerReference).toMatch(/^[!-~]{1,200}$/);
    }),
    { numRuns: 150 },
  );
});
