import fc from 'fast-check';
import { RESERVED_ADDRESS } from '../../support/payment-context.ts';
import { type Answer, faultOfCreate, parseObject } from './answer-shape.ts';
import { requireKept } from './broken-promise.ts';
import type { HostileService } from './hostile-service.ts';
import type { HostileInputPromise } from './promises.ts';
import {
  amountCentsOf,
  isEmailOrBlank,
  isNote,
  isPayoutAddress,
  keptNote,
  readCreateBody,
  type Verdict,
  verdictOfCallback,
} from './second-reading.ts';
import * as values from './values.ts';

const reserved = new Set([RESERVED_ADDRESS]);

/** JSON of an object whose names may occur more than once, and whose values may be no JSON at all. */
type Pairs = readonly (readonly [name: string, json: string])[];

const textOf = (pairs: Pairs) =>
  `{${pairs.map(([name, json]) => `${JSON.stringify(name)}:${json}`).join(',')}}`;
/** What JSON cannot say is left to be a text. */
const jsonOf = (value: unknown) => JSON.stringify(value) ?? 'null';

const optional = (name: string, value: fc.Arbitrary<unknown>) =>
  fc
    .option(value, { nil: undefined, freq: 1 })
    .map((given): Pairs => (given === undefined ? [] : [[name, jsonOf(given)]]));
const required = (name: string, value: fc.Arbitrary<unknown>) =>
  fc.oneof(
    { weight: 40, arbitrary: value.map((given): Pairs => [[name, jsonOf(given)]]) },
    { weight: 1, arbitrary: fc.constant<Pairs>([]) },
  );

const fields = fc
  .tuple(
    required('address', values.address),
    required('callback', values.callback),
    required('amount', values.amount),
    optional('currency', values.currency),
    optional('passFeeToCustomer', values.passFee),
    optional('pass_fee_to_customer', values.passFee),
    optional('provider', values.provider),
    optional('email', values.email),
    optional('note', values.note),
  )
  .map((pairs): Pairs => pairs.flat());

const deep = fc.integer({ min: 5, max: 2000 }).map((depth) => `${'['.repeat(depth)}${']'.repeat(depth)}`);
/** Written numbers that a parser may read in its own way. */
const writtenNumber = fc.constantFrom(
  '1e400',
  '-0',
  '1E2',
  '100.000',
  '0.1e1',
  '12345678901234567890',
  '1e-400',
  '0.010',
  '-1e0',
);
const extra = fc.oneof(
  fc.tuple(fc.constantFrom('amount', 'address', 'callback'), writtenNumber),
  fc.tuple(
    fc.constantFrom(
      '__proto__',
      'constructor',
      'toString',
      'prototype',
      'then',
      'toJSON',
      '',
      'Amount',
      ' amount',
    ),
    fc.oneof(deep, fc.jsonValue({ maxDepth: 4 }).map(jsonOf), fc.constant('{"prototype":{"amount":"1"}}')),
  ),
  fc.tuple(fc.constantFrom('amount', 'note'), values.wildValue.map(jsonOf)),
);

/** A valid text with bytes changed, left out, doubled or put in. */
const mangled = (text: string) =>
  fc
    .array(
      fc.tuple(
        fc.nat({ max: 2000 }),
        fc.oneof(fc.nat({ max: 255 }), fc.constantFrom(0, 0x22, 0x5c, 0x7b, 0x7d, 0xc0, 0xed, 0xef, 0xff)),
        fc.constantFrom('change', 'leave out', 'put'),
      ),
      { minLength: 1, maxLength: 4 },
    )
    .map((changes) => {
      let bytes: Buffer = Buffer.from(text);
      for (const [place, byte, kind] of changes) {
        const at = bytes.length === 0 ? 0 : place % bytes.length;
        const middle = kind === 'leave out' ? [] : [byte];
        bytes = Buffer.concat([
          bytes.subarray(0, at),
          Buffer.from(middle),
          bytes.subarray(kind === 'put' ? at : at + 1),
        ]);
      }
      return bytes;
    });

const structured = fc
  .tuple(fields, fc.array(extra, { maxLength: 2 }), fc.boolean())
  .map(([own, others, isAhead]) => Buffer.from(textOf(isAhead ? [...others, ...own] : [...own, ...others])));

const body: fc.Arbitrary<Buffer> = fc.oneof(
  { weight: 8, arbitrary: fields.map((pairs) => Buffer.from(textOf(pairs))) },
  { weight: 3, arbitrary: structured },
  { weight: 3, arbitrary: fields.chain((pairs) => mangled(textOf(pairs))) },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)) },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 10 }).map((value) => Buffer.from(JSON.stringify(value))) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fields, fc.integer({ min: 15_000, max: 17_500 }))
      .map(([pairs, length]) => Buffer.from(textOf([...pairs, ['padding', jsonOf('p'.repeat(length))]]))),
  },
);

const contentType = fc.oneof(
  { weight: 30, arbitrary: fc.constant('application/json') },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      'application/json; charset=utf-8',
      'application/json;charset=latin1',
      'text/plain',
      'application/JSON',
      '',
      'application/json, text/html',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'application/json; charset="utf-16"',
      ';',
      'application/',
    ),
  },
);

/** One create by its body. */
export function createBodyCase({ service, takeStored }: HostileService) {
  return fc.asyncProperty(body, contentType, async (bytes, type) => {
    const response = await service.post(bytes, { 'content-type': type });
    const answer: Answer = { status: response.statusCode, headers: response.headers, body: response.body };
    const isPlain = type === 'application/json' && bytes.length <= 16 * 1024;
    await requireHandled('createBodies', answer, await takeStored());
    const expected = isPlain ? verdictOfJson(bytes) : 'open';
    requireJudged(answer, expected, bytes.toString('latin1'));
    if (answer.status === 200)
      await requireAsGiven(service, answer, readCreateBody(bytes.toString('utf8')) ?? {});
  });
}

/** In the specified shape, and one payment is stored with 200, none otherwise. */
export async function requireHandled(
  promise: HostileInputPromise,
  answer: Answer,
  stored: readonly string[],
): Promise<void> {
  const fault = faultOfCreate(answer);
  requireKept(promise, fault === null, () => `${fault}: ${answer.body}`);
  const given = answer.status === 200 ? [String(parseObject(answer.body)?.['payment_id'])] : [];
  requireKept(
    promise,
    stored.join() === given.join(),
    () => `answered ${answer.status}, stored ${stored.length}`,
  );
}

/** Taken or refused as the second reading has it. */
export function requireJudged(answer: Answer, expected: Verdict, input: string): void {
  const isTaken = answer.status === 200;
  const isRight = expected === 'open' || isTaken === (expected === 'taken');
  requireKept(
    'judgement',
    isRight,
    () => `${expected} by the rules, answered ${answer.status} ${answer.body} to ${input}`,
  );
}

/** What was stored is what was sent. */
async function requireAsGiven(
  service: HostileService['service'],
  answer: Answer,
  sent: Readonly<Record<string, unknown>>,
): Promise<void> {
  const answered = parseObject(answer.body) ?? {};
  const payment = await service.store.payments.findPaymentById(String(answered['payment_id']));
  const cents = amountCentsOf(sent['amount']);
  const asked = payment?.originalAmountCents ?? payment?.amountCents;
  const isSame =
    payment?.callbackUrl === sent['callback'] &&
    answered['callback_url'] === sent['callback'] &&
    payment?.payoutAddress.toLowerCase() === String(sent['address']).toLowerCase() &&
    payment?.note === (keptNote(sent['note']) ?? null) &&
    payment?.email === (String(sent['email'] ?? '').trim() || null) &&
    payment?.currency === (sent['currency'] ?? 'USD') &&
    asked === cents;
  requireKept('createBodies', isSame, () => `stored otherwise than sent: ${JSON.stringify(sent)}`);
}

function verdictOfJson(bytes: Buffer): Verdict {
  const text = bytes.toString('utf8');
  if (!Buffer.from(text).equals(bytes)) return 'refused';
  const given = readCreateBody(text);
  // Of the text, because a copy has no `__proto__` of its own.
  return given === null || !isHarmless(parseObject(text), 1) ? 'refused' : verdictOfParameters(given, 'json');
}

/** By the rules for each parameter; open where a provider has a say. */
export function verdictOfParameters(
  given: Readonly<Record<string, unknown>>,
  source: 'json' | 'query',
): Verdict {
  const words = source === 'json' ? [true, false] : ['true', 'false'];
  const isAbsent = (name: string) => given[name] === undefined || given[name] === null;
  const passed = ['passFeeToCustomer', 'pass_fee_to_customer']
    .map((name) => given[name])
    .filter((word) => word !== undefined);
  const cents = amountCentsOf(given['amount']);
  const isRight =
    cents !== null &&
    isPayoutAddress(given['address'], reserved) &&
    (isAbsent('note') || isNote(given['note'])) &&
    (isAbsent('email') || isEmailOrBlank(given['email'])) &&
    (isAbsent('currency') || ['USD', 'EUR', 'CAD', 'INR'].includes(given['currency'] as string)) &&
    passed.every((word) => words.includes(word as never)) &&
    new Set(passed).size <= 1 &&
    (isAbsent('provider') || (typeof given['provider'] === 'string' && given['provider'] !== ''));
  if (!isRight) return 'refused';
  // 10000 less the account's 2.5 %, and what comes to more with them.
  if (passed[0] === words[0] && cents > 975_000) return 'refused';
  const callback = verdictOfCallback(given['callback']);
  return callback === 'taken' && !isAbsent('provider') && given['provider'] !== 'multi' ? 'open' : callback;
}

function isHarmless(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  if (depth > 8) return false;
  return Object.entries(value).every(([name, inner]) => {
    const hasPrototype = typeof inner === 'object' && inner !== null && Object.hasOwn(inner, 'prototype');
    return name !== '__proto__' && !(name === 'constructor' && hasPrototype) && isHarmless(inner, depth + 1);
  });
}
