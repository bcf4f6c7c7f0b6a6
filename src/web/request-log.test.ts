import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from 'fastify';
import { beforeEach, expect, it } from 'vitest';
import { createRequestLog, describeError, redact } from './request-log.ts';

let lines: string[];
let log: ReturnType<typeof createRequestLog>;

beforeEach(() => {
  lines = [];
  const write = (level: string) => (_fields: object, message: string) => lines.push(`${level} ${message}`);
  const logger = { info: write('info'), warn: write('warn') } as unknown as FastifyBaseLogger;
  log = createRequestLog(logger, null);
});

function complete(elapsedTime: number, type = 'text/html'): void {
  const request = { method: 'GET', routeOptions: { url: '/' } } as unknown as FastifyRequest;
  log.completed(request, { elapsedTime, statusCode: 200, getHeader: () => type } as unknown as FastifyReply);
}

it('logs every slow request but open streams, and no other', () => {
  for (let index = 0; index < 500; index++) complete(index % 2 === 0 ? 999 : 1_000);
  complete(60_000, 'text/event-stream; charset=utf-8');
  expect(lines).toEqual(Array.from({ length: 250 }, () => 'warn slow request'));
});

it('leaves the names of npm packages, and takes every email address beside them', () => {
  for (const text of [
    "Cannot find module '@resvg/resvg-js-linux-x64-gnu'",
    'at Object.<anonymous> (/app/node_modules/@resvg/resvg-js/index.js:12:3)',
    'node_modules/@fastify/multipart/index.js',
    `/${'a'.repeat(90)}/node_modules/@fastify/multipart`,
  ]) {
    expect(redact(text)).toBe(text);
  }
  expect(redact('/node_modules/@scope/anna@shop.example/x')).toBe('/node_modules/@scope/[redacted email]/x');
  expect(redact('see node_modules/anna@localhost/x')).toBe('see [redacted email]/x');
  expect(redact('anna/node_modules/@shop.example/')).toBe('[redacted email]/');
  expect(redact("to 'anna@shop.example'")).toBe("to [redacted email]'");
  expect(redact('xnode_modules/@host/')).toBe('[redacted email]/');
  for (const user of ["o'brien", "joe'", 'joe/', 'a/b', 'a`b'])
    expect(redact(`550 <${user}@example.com>`)).toBe('550 <[redacted email]>');
  expect(redact('anna%40shop.example/')).toBe('[redacted email]/');
});

it.each(['a', '@', 'a.', '/', '?', 'a@', 'ipn_', 'service_live_'])(
  'is quick with long hostile text of %j',
  (part) => {
    const startedMs = performance.now();
    redact(part.repeat(100_000));
    // Linear matching takes a few milliseconds. Backtracking from every position would take minutes.
    expect(performance.now() - startedMs).toBeLessThan(10_000);
  },
);

it('describes an error with its causes, as deep as it is useful', () => {
  const error = new TypeError('outer a@example.com', {
    cause: new Error('inner', { cause: 'text b@example.com' }),
  });
  expect(describeError(error)).toEqual({
    type: 'TypeError',
    message: 'outer [redacted email]',
    stack: expect.stringContaining('request-log.test.ts'),
    cause: {
      type: 'Error',
      message: 'inner',
      stack: expect.any(String),
      cause: { type: 'string', message: 'text [redacted email]' },
    },
  });
  const endless = new Error('loop');
  endless.cause = endless;
  expect(JSON.stringify(describeError(endless)).match(/"loop"/g)).toHaveLength(6);
});
