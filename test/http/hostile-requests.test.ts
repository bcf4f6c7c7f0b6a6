import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ApiService, createApiService, validRequest } from '../support/api-service.ts';

let service: ApiService;
beforeAll(async () => {
  service = await createApiService({ requestsPerMinute: 1_000_000_000 });
});
afterAll(() => service.close());

const RUNS = 400;

/** Never a 500, and always either a payment or the shape of an error. */
function requireSane(response: { statusCode: number; body: string }) {
  expect([200, 400, 404, 413]).toContain(response.statusCode);
  const body = JSON.parse(response.body);
  if (response.statusCode === 200) return;
  expect(typeof body.error).toBe('string');
  expect(body.error.length).toBeLessThan(300);
  expect(Object.keys(body).filter((key) => key !== 'error' && key !== 'code')).toEqual([]);
}

const json = (body: string | Buffer) => service.post(body, { 'content-type': 'application/json' });
const anyText = fc.string({ unit: 'binary', maxLength: 600 });
const anyValue = fc.oneof(
  fc.jsonValue({ maxDepth: 4 }),
  anyText,
  fc.constantFrom('', '0', '-1', '1e309', '0x0', null, true, [], {}, 1e21, -0, 'multi', 'klarna', '\ud800'),
);
const field = fc.constantFrom(
  ...Object.keys(validRequest),
  'currency',
  'passFeeToCustomer',
  'pass_fee_to_customer',
  'provider',
  'email',
  'note',
  '__proto__',
  'constructor',
  'toString',
);

it('answers any JSON value in the error shape', async () => {
  await fc.assert(
    fc.asyncProperty(fc.jsonValue({ maxDepth: 12 }), async (value) =>
      requireSane(await json(JSON.stringify(value))),
    ),
    { numRuns: RUNS },
  );
});

it('answers any values in the known fields, or accepts them', async () => {
  const change = fc.dictionary(field, anyValue, { maxKeys: 6 });
  await fc.assert(
    fc.asyncProperty(change, async (fields) =>
      requireSane(await json(JSON.stringify({ ...validRequest, ...fields }))),
    ),
    { numRuns: RUNS },
  );
});

it('answers any bytes in the error shape', async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 2000 }), async (bytes) =>
      requireSane(await json(Buffer.from(bytes))),
    ),
    { numRuns: RUNS },
  );
});

it('answers a valid body with one byte changed, left out or doubled', async () => {
  const valid = Buffer.from(
    JSON.stringify({ ...validRequest, note: 'x', email: 'a@example.com', provider: 'wert' }),
  );
  const mutation = fc.record({
    at: fc.nat({ max: valid.length - 1 }),
    byte: fc.nat({ max: 255 }),
    kind: fc.constantFrom('change', 'leave out', 'double'),
  });
  await fc.assert(
    fc.asyncProperty(mutation, async ({ at, byte, kind }) => {
      const middle = { change: [byte], 'leave out': [], double: [valid[at] as number, byte] }[kind];
      requireSane(
        await json(Buffer.concat([valid.subarray(0, at), Buffer.from(middle), valid.subarray(at + 1)])),
      );
    }),
    { numRuns: RUNS },
  );
});

it('answers any query of both operations in the error shape', async () => {
  const part = fc.oneof(
    anyText.map((text) => encodeURIComponent(text.toWellFormed())),
    fc.stringMatching(/^[!-~]{0,40}$/),
  );
  const query = fc.array(fc.tuple(fc.oneof(field, part), part), { maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(query, fc.boolean(), async (pairs, isStatus) => {
      const text = pairs.map(([name, value]) => `${name}=${value}`.replaceAll('#', '')).join('&');
      requireSane(await (isStatus ? service.status(text) : service.get(text)));
    }),
    { numRuns: RUNS },
  );
});

it('quotes no value of the request in an error', async () => {
  const canary = 'canary7391';
  for (const name of [
    ...Object.keys(validRequest),
    'currency',
    'provider',
    'email',
    'note',
    'passFeeToCustomer',
    canary,
  ]) {
    for (const value of [`${canary}\0`, [canary], { [canary]: canary }]) {
      const response = await json(JSON.stringify({ ...validRequest, [name]: value }));
      if (response.statusCode !== 200) expect(response.body).not.toContain(canary);
    }
  }
});
