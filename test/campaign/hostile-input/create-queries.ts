import fc from 'fast-check';
import { type Answer, faultOfStatus } from './answer-shape.ts';
import { requireKept } from './broken-promise.ts';
import { requireHandled, requireJudged, verdictOfParameters } from './create-bodies.ts';
import type { HostileService } from './hostile-service.ts';
import * as values from './values.ts';

type Pairs = readonly (readonly [name: string, value: string])[];

const asText = (value: fc.Arbitrary<unknown>) =>
  value.map((given) => (typeof given === 'string' ? given : String(JSON.stringify(given))));
const pair = (name: string, value: fc.Arbitrary<unknown>, isRequired = false) =>
  fc
    .option(asText(value), { nil: null, freq: isRequired ? 40 : 1 })
    .map((given): Pairs => (given === null ? [] : [[name, given]]));
const words = fc.constantFrom('true', 'false', 'True', '1', '', 'null');

const right = fc
  .tuple(
    pair('address', values.address, true),
    pair('callback', values.callback, true),
    pair('amount', values.amount, true),
    pair('currency', values.currency),
    pair('passFeeToCustomer', words),
    pair('pass_fee_to_customer', words),
    pair('provider', values.provider),
    pair('email', values.email),
    pair('note', values.note),
  )
  .map((pairs): Pairs => pairs.flat());

const encode = (text: string) => encodeURIComponent(text.toWellFormed());
const queryOf = (pairs: Pairs) => pairs.map(([name, value]) => `${encode(name)}=${encode(value)}`).join('&');
/** Pieces that lenient parsers guess at. */
const piece = fc.constantFrom(
  '%',
  '%zz',
  '%c0%80',
  '%ed%a0%80',
  '%00',
  '&&',
  '==',
  '&amount=1',
  'amount[]=1',
  'amount%00=1',
  '&__proto__=1',
  '&__proto__[amount]=1',
  ';',
  '+',
  '%2B',
  '&constructor=1',
  '?',
  '&=',
  '%uff11',
  '&amount',
  '&Amount=2',
  '&ipn_token=',
  '&payment_id=',
  "'",
  '"',
  '<',
  '{',
  '|',
  '^',
  '`',
);

const broken = fc
  .tuple(right.map(queryOf), fc.array(fc.tuple(fc.nat({ max: 3000 }), piece), { minLength: 1, maxLength: 3 }))
  .map(([query, pieces]) => {
    let text = query;
    for (const [place, odd] of pieces) {
      const at = place % (text.length + 1);
      text = text.slice(0, at) + odd + text.slice(at);
    }
    return text;
  });

/** One create by its query. */
export function createQueryCase({ service, takeStored }: HostileService) {
  const query = fc.oneof(
    { weight: 3, arbitrary: right.map((pairs) => ({ pairs, text: queryOf(pairs) })) },
    { weight: 2, arbitrary: broken.map((text) => ({ pairs: null, text })) },
  );
  return fc.asyncProperty(query, async ({ pairs, text }) => {
    const response = await service.get(text);
    const answer: Answer = { status: response.statusCode, headers: response.headers, body: response.body };
    await requireHandled('createQueries', answer, await takeStored());
    const sent = Object.fromEntries((pairs ?? []).map(([name, value]) => [name, value.toWellFormed()]));
    requireJudged(answer, pairs === null ? 'open' : verdictOfParameters(sent, 'query'), text);
  });
}

/** One status question. */
export async function statusQueryCase({ service, takeStored }: HostileService) {
  const response = await service.get({ ...validQuery });
  const { payment_id: id, ipn_token: token } = response.json() as { payment_id: string; ipn_token: string };
  await takeStored();
  const known = fc.constantFrom(id, token, '');
  const value = fc.oneof(
    known,
    values.nearText(known),
    fc.string({ unit: 'binary', maxLength: 120 }),
    values.oddText,
  );
  const name = fc.constantFrom(
    'ipn_token',
    'payment_id',
    'ipn_token',
    'payment_id',
    'id',
    '__proto__',
    'IPN_TOKEN',
  );
  const text = fc
    .array(fc.tuple(name, value), { maxLength: 3 })
    .map(queryOf)
    .chain((query) =>
      fc.oneof(
        fc.constant(query),
        piece.map((odd) => query + odd),
      ),
    );
  return fc.asyncProperty(text, async (query) => {
    const { statusCode, headers, body } = await service.status(query);
    const answer: Answer = { status: statusCode, headers, body };
    const fault = faultOfStatus(answer);
    requireKept('createQueries', fault === null, () => `${fault}: ${body}`);
    const given = new URLSearchParams(query.replaceAll('+', '%2B'));
    const isKnown = [...given.values()].some((word) => word.toLowerCase() === id || word === token);
    requireKept('createQueries', answer.status !== 200 || isKnown, () => `a payment for ${query}`);
    requireKept('createQueries', (await takeStored()).length === 0, () => 'a question stored a payment');
  });
}

const validQuery = {
  address: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
  callback: 'https://shop.example.com/hook',
  amount: '100.00',
};
