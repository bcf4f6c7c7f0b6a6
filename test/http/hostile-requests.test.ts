import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type ApiService, useApi, validRequest } from '../support/api-service.ts';

let service = {} as ApiService;
useApi((api) => (service = api), { requestsPerMinute: 1_000_000_000 });

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

const valid = Buffer.from(
  JSON.stringify({ ...validRequest, note: 'x', email: 'a@example.com', provider: 'wert' }),
);
const mutated = fc
  .record({
    at: fc.nat({ max: valid.length - 1 }),
    byte: fc.nat({ max: 255 }),
    kind: fc.constantFrom('change', 'leave out', 'double'),
  })
  .map(({ at, byte, kind }) => {
    const middle = { change: [byte], 'leave out': [], double: [valid[at] as number, byte] }[kind];
    return Buffer.concat([valid.subarray(0, at), Buffer.from(middle), valid.subarray(at + 1)]);
  });
const part = fc.oneof(
  anyText.map((text) => encodeURIComponent(text.toWellFormed())),
  fc.stringMatching(/^[!-~]{0,40}$/),
);
const query = fc
  .array(fc.tuple(fc.oneof(field, part), part), { maxLength: 8 })
  .map((pairs) => pairs.map(([name, value]) => `${name}=${value}`.replaceAll('#', '')).join('&'));

it.each<[string, fc.Arbitrary<string | Buffer>, (sent: string | Buffer) => ReturnType<typeof json>]>([
  ['any JSON value', fc.jsonValue({ maxDepth: 12 }).map((value) => JSON.stringify(value)), json],
  [
    'any values in the known fields',
    fc
      .dictionary(field, anyValue, { maxKeys: 6 })
      .map((fields) => JSON.stringify({ ...validRequest, ...fields })),
    json,
  ],
  ['any bytes', fc.uint8Array({ maxLength: 2000 }).map((bytes) => Buffer.from(bytes)), json],
  ['a valid body with one byte changed, left out or doubled', mutated, json],
  ['any query of a create', query, (text) => service.get(String(text))],
  ['any query of a status', query, (text) => service.status(String(text))],
])('answers %s in the error shape, or accepts it', async (_, sent, send) => {
  const property = fc.asyncProperty(sent, async (each) => requireSane(await send(each)));
  await fc.assert(property, { numRuns: RUNS });
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
