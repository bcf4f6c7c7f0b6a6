import { type AddressInfo, createServer } from 'node:net';
import fc from 'fast-check';
import { ServiceError } from '../../../src/domain/errors.ts';
import type { ProviderAdapter, SessionRequest } from '../../../src/domain/ports/provider.ts';
import { createProviderAdapter } from '../../../src/providers/providers.ts';
import { requireKept } from './broken-promise.ts';
import { nearText, wildValue } from './values.ts';

const request: SessionRequest = {
  amountCents: 10_00,
  currency: 'EUR',
  usdUnits: 10_900_000n,
  paymentId: '01234567-89ab-7cde-8f01-23456789abcd',
  depositAddress: '0x00000000000000000000000000000000000000AA',
  email: null,
  returnUrl: 'http://localhost:3000/pay/1',
};
const ERRORS: readonly string[] = ['provider_unavailable', 'provider_inactive', 'below_minimum'];
const TIMEOUT_MS = 3_000;
/** Beyond the time limit, for a machine that is busy. */
const SLACK_MS = 20_000;

const mostly = (right: fc.Arbitrary<unknown>, near: fc.Arbitrary<unknown>) =>
  fc.oneof(
    { weight: 20, arbitrary: right },
    { weight: 2, arbitrary: near },
    { weight: 1, arbitrary: wildValue },
  );
const near = (texts: fc.Arbitrary<string>) => nearText(texts);

const amount = fc.constantFrom(
  '9.500000',
  '10.355000',
  '5.00',
  '0.000001',
  '999999999.999999',
  '0',
  '1000000000',
);
const url = fc.constantFrom(
  'https://pay.example.com/1',
  'http://pay.example.com/1',
  'http://localhost:4000/pay',
  'HTTPS://EXAMPLE.com',
  'https://a:b@example.com/',
  'javascript:alert(1)',
  'https://',
  'data:,x',
);
const reference = fc.constantFrom('order_1', 'a'.repeat(200), 'a'.repeat(201), 'a b');
const code = fc.constantFrom('suspended', 'unauthorized', 'below_minimum', 'new', '__proto__', 'toString');

const body: fc.Arbitrary<unknown> = fc.oneof(
  fc.record(
    {
      cryptoAmount: mostly(fc.option(amount), near(amount)),
      data: fc.record({ cryptoAmount: mostly(amount, near(amount)) }),
      id: mostly(reference, near(reference)),
      checkoutUrl: mostly(url, near(url)),
    },
    { requiredKeys: ['id', 'checkoutUrl'] },
  ),
  fc.record({
    error: mostly(
      fc.record(
        { code: mostly(code, near(code)), minimum_usd: mostly(amount, near(amount)) },
        { requiredKeys: ['code'] },
      ),
      wildValue,
    ),
  }),
  wildValue,
);
const text = body.map((value) => JSON.stringify(value) ?? '');
const oddBody = fc.oneof(
  { weight: 8, arbitrary: text },
  { weight: 2, arbitrary: nearText(text) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      '',
      '<html>',
      '['.repeat(20_000),
      `"${'x'.repeat(70_000)}"`,
      '\ufeff{}',
      '{"__proto__":{"cryptoAmount":"9"}}',
    ),
  },
);
const header = fc.constantFrom(
  'Content-Type: application/json',
  'Content-Type: text/html',
  'Location: http://169.254.169.254/',
  'Content-Encoding: gzip',
  'Transfer-Encoding: chunked',
  'Content-Length: 3',
  'Content-Length: 99999',
  'Content-Length: -1',
  'Set-Cookie: a=b',
  'Connection: upgrade\r\nUpgrade: h2c',
  'X: \0',
  ' folded',
  `X-Long: ${'a'.repeat(20_000)}`,
  '__proto__: 1',
  'Retry-After: 999999',
);
const statusLine = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(200, 201).map((status) => `HTTP/1.1 ${status} OK`) },
  {
    weight: 3,
    arbitrary: fc.constantFrom(401, 403, 422, 400, 404, 429).map((status) => `HTTP/1.1 ${status} No`),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      'HTTP/1.1 301 Moved',
      'HTTP/1.1 500 Oh',
      'HTTP/1.1 204 None',
      'HTTP/1.1 304 Same',
      'HTTP/1.1 100 Continue',
      'HTTP/1.1 101 Up',
      'HTTP/1.1 999 X',
      'HTTP/1.0 200',
      'HTTP/2 200',
      'ICY 200 OK',
      'HTTP/1.1 -1 X',
      '',
    ),
  },
);
const answerBytes = fc.oneof(
  {
    weight: 9,
    arbitrary: fc
      .tuple(
        statusLine,
        fc.oneof(
          { weight: 3, arbitrary: fc.constant([]) },
          { weight: 2, arbitrary: fc.array(header, { maxLength: 2 }) },
        ),
        oddBody,
        fc.integer({ min: 0, max: 9 }),
      )
      .map(([line, headers, content, isCut]) => {
        const bytes = Buffer.from(content);
        const length = headers.length === 0 ? [`Content-Length: ${bytes.length}`] : [];
        const whole = Buffer.concat([
          Buffer.from([line, ...length, ...headers, '', ''].join('\r\n'), 'latin1'),
          bytes,
        ]);
        return isCut === 0 ? whole.subarray(0, whole.length >> 1) : whole;
      }),
  },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)) },
);

/** One quote and one session of a provider that answers with these bytes. */
export async function providerAnswerCase() {
  let bytes: Buffer = Buffer.alloc(0);
  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy());
    socket.once('data', () => socket.end(bytes));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const adapter = createProviderAdapter(
    'banxa',
    { API_KEY: 'key_1', PARTNER: 'shop', BASE_URL: url },
    {
      timeoutMs: TIMEOUT_MS,
      quoteCacheMs: 0,
      nowMs: Date.now,
      webhookUrl: 'http://localhost:3000/providers/banxa/webhooks',
      baseUrl: 'http://localhost:3000',
    },
  );
  const check = fc.asyncProperty(answerBytes, async (answer) => {
    bytes = answer;
    await Promise.all([requireQuote(adapter, answer), requireSession(adapter, answer)]);
  });
  return { check, close: () => new Promise((resolve) => server.close(resolve)) };
}

async function requireQuote(adapter: ProviderAdapter, answer: Buffer): Promise<void> {
  const quote = await answerOrNull(() => adapter.quote(request), answer);
  if (quote === null) return;
  const isUsable =
    (quote.deliveryUnits === null || (quote.deliveryUnits > 0n && quote.deliveryUnits < 10n ** 15n)) &&
    (quote.minimumUsdCents === null || (quote.minimumUsdCents > 0 && quote.minimumUsdCents <= 1_000_000));
  requireKept('providerAnswers', isUsable, () => `an unusable quote of ${answer.toString('latin1')}`);
}

async function requireSession(adapter: ProviderAdapter, answer: Buffer): Promise<void> {
  const session = await answerOrNull(() => adapter.startSession(request), answer);
  if (session === null) return;
  const { protocol, hostname, username, password } = new URL(session.redirectUrl);
  const isSafe =
    protocol === 'https:' || (protocol === 'http:' && ['localhost', '127.0.0.1'].includes(hostname));
  const isUsable =
    isSafe &&
    username + password === '' &&
    /^[!-~]{1,200}$/.test(session.providerReference) &&
    Number.isSafeInteger(session.expiresAtMs) &&
    (session.quotedUnits === null || (session.quotedUnits > 0n && session.quotedUnits < 10n ** 15n));
  requireKept('providerAnswers', isUsable, () => `an unusable session of ${answer.toString('latin1')}`);
}

/** The answer; null for one of the errors that there may be. */
async function answerOrNull<T>(call: () => Promise<T>, bytes: Buffer): Promise<T | null> {
  const startedMs = performance.now();
  try {
    return await call();
  } catch (error) {
    const isKnown =
      error instanceof ServiceError && ERRORS.includes(error.errorName) && error.message.length < 300;
    requireKept('providerAnswers', isKnown, () => `${String(error)} for ${bytes.toString('latin1')}`);
    return null;
  } finally {
    const tookMs = performance.now() - startedMs;
    requireKept(
      'providerAnswers',
      tookMs < TIMEOUT_MS + SLACK_MS,
      () => `${tookMs} ms for ${bytes.toString('latin1')}`,
    );
  }
}
