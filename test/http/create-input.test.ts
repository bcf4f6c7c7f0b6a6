import { expect, it } from 'vitest';
import { type ApiService, PAYOUT_ADDRESS, useApi, validRequest } from '../support/api-service.ts';
import { RESERVED_ADDRESS } from '../support/payment-context.ts';

let service = {} as ApiService;
useApi((api) => (service = api), { requestsPerMinute: 1_000_000 });

const lower = PAYOUT_ADDRESS.toLowerCase();
const upper = `0x${PAYOUT_ADDRESS.slice(2).toUpperCase()}`;
const address254 = `${'a'.repeat(64)}@${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(57)}.ab`;

/** A value sent as JSON text of its own, because JSON.stringify cannot write it (1e3, -0). */
const literal = (json: string) => ({ literal: json });

async function postField(field: string, value: unknown) {
  const isLiteral = typeof value === 'object' && value !== null && 'literal' in value;
  const body = isLiteral
    ? JSON.stringify({ ...validRequest, [field]: '@' }).replace('"@"', value.literal as string)
    : JSON.stringify({ ...validRequest, [field]: value });
  return service.post(body, { 'content-type': 'application/json' });
}

const taken: Readonly<Record<string, readonly unknown[]>> = {
  amount: [
    ...['10000.00', '0.01', '1.1', '10000', 0.29, 4.35, 10000],
    ...'1e3 10.00 10.10 1.0 1e2 1.005E+1 1e-2'.split(' ').map(literal),
  ],
  address: [lower, upper, PAYOUT_ADDRESS],
  currency: ['USD', 'EUR', 'CAD', 'INR'],
  passFeeToCustomer: [true, false],
  email: [address254, "o'neil@example.com", 'a@xn--exmple-cua.com'],
  note: ['x'.repeat(500), '🫖'.repeat(500), 'one\n\ttwo', '=1+1<script>'],
  callback: [`https://shop.example.com/${'p'.repeat(2048 - 25)}`],
};

it.each(Object.entries(taken).flatMap(([field, values]) => values.map((value) => [field, value] as const)))(
  'takes %s %j',
  async (field, value) => {
    expect((await postField(field, value)).json()).toHaveProperty('payment_id');
  },
);

it('judges the amount of the body itself, the last of several, and none further in', async () => {
  const body = valid.replace(/"amount":"[^"]*"/, '"x":{"amount":1.001},"amount":1.001,"amount":2.50');
  expect((await raw(body)).json()).toMatchObject({ amount: '2.50' });
  expect((await raw(body.replace('2.50', '2.501'))).json()).toEqual({ error: amountRule });
});

it('stores a note of a text area with LF for its line breaks', async () => {
  const { payment_id } = (await postField('note', 'one\r\ntwo\r\n\r\nthree\n')).json();
  expect((await service.store.payments.findPaymentById(payment_id))?.note).toBe('one\ntwo\n\nthree\n');
  // Each line break counts as one character.
  expect((await postField('note', '\r\n'.repeat(500))).statusCode).toBe(200);
  expect((await postField('note', '\r\n'.repeat(501))).statusCode).toBe(400);
});

const amountRule = 'amount must be a decimal from 0.01 to 10000 with at most two decimals';
const addressRule =
  'address must be a non-zero Polygon address: 0x and 40 hex digits, with a valid checksum if the case is mixed';
const internationalRule =
  'email must be ASCII: internationalized addresses are not supported; write the domain in its xn-- form';
const emailRule = 'email must be one email address of at most 254 characters';
const noteControlRule = 'note must not contain control characters other than newline and tab';
const wrongAmounts = ['1e3', ' 1.00', '01.00', '0', '10000.01', '１０', '1,5', ''];

const wrongNumbers = '10.000000000000000000001 10.100 100e-3 -0 1e400 1e-400'.split(' ');
const longDomain = `a@${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(63)}.${'e'.repeat(63)}`;
const localRule =
  'callback must not point to a private, local or reserved address. Use a public host name. For a receiver on your machine, use card-checkout listen --forward-to, or allow its host with CALLBACK_ALLOWED_HOSTS';

const refused: readonly (readonly [field: string, error: string, values: readonly unknown[]])[] = [
  ['amount', amountRule, [...wrongAmounts, ['10.00'], true, { value: 1 }, ...wrongNumbers.map(literal)]],
  ['amount', 'amount is required', [null, undefined]],
  ['address', 'address is required', [null, undefined]],
  [
    'address',
    addressRule,
    [
      ...['0x5AAeb6053F3E94C9b9A09f33669435E7Ef1BeAed', `0X${PAYOUT_ADDRESS.slice(2)}`],
      ...[`0x${'0'.repeat(40)}`, [PAYOUT_ADDRESS], 5],
    ],
  ],
  ['address', 'address belongs to the service and cannot receive payouts', [RESERVED_ADDRESS]],
  ['currency', 'currency must be one of USD, EUR, CAD, INR', ['usd', 'GBP', ['USD']]],
  ['passFeeToCustomer', 'passFeeToCustomer must be true or false', ['true', 1, '']],
  ['pass_fee_to_customer', 'pass_fee_to_customer must be true or false', ['yes']],
  ['provider', 'provider must be "multi" or a provider id', ['', 7, ['multi']]],
  [
    'email',
    emailRule,
    [
      ...[
        'a@b@example.com',
        'a@example.com\n',
        'a@example.com\r\nBcc: b@example.com',
        'Anna <a@example.com>',
      ],
      ...['a@example.com,b@example.com', 'a@-example.com', '@example.com', 'a@', 'a@example\0.com'],
      ...[`a${address254}`, `${'a'.repeat(65)}@example.com`, longDomain],
    ],
  ],
  ['email', internationalRule, ['ä@example.com', 'a@exämple.com']],
  ['email', 'email must be a string', [5]],
  ['note', 'note must not be empty: omit it instead', ['']],
  ['note', 'note must be at most 500 characters long', ['x'.repeat(501), '🫖'.repeat(501)]],
  ['note', noteControlRule, ['a\0b', 'a\rb', 'a\r\r\nb', 'a\u001bb', 'a\u007fb', 'a\u0085b']],
  ['note', 'note must be valid Unicode text', ['a\ud800b']],
  ['note', 'note must be a string', [5]],
  ['callback', 'callback is required', [undefined, null]],
  ['callback', 'callback must be a string', [5]],
  ['callback', 'callback must begin with https:// and a host name', ['ftp://shop.example.com/']],
  ['callback', localRule, ['https://10.0.0.1/']],
  ['callback', 'callback must not contain user:password credentials', ['https://u:p@shop.example.com/']],
  [
    'callback',
    'callback must be at most 2048 characters long',
    [`https://shop.example.com/${'p'.repeat(2049 - 25)}`],
  ],
];

it.each(refused.flatMap(([field, error, values]) => values.map((value) => [field, value, error] as const)))(
  'refuses %s %j',
  async (field, value, error) => {
    const response = await postField(field, value);
    expect(response.statusCode).toBe(400);
    expect(response.json()).toEqual({ error });
  },
);

const raw = (body: string | Buffer, type = 'application/json') =>
  service.post(body, { 'content-type': type });
const valid = JSON.stringify(validRequest);
const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`;

it.each([
  ['an array', '[]', 'The body must be a JSON object.'],
  ['null', 'null', 'The body must be a JSON object.'],
  ['a string', '"x"', 'The body must be a JSON object.'],
  ['nothing', '', 'The body must be valid JSON.'],
  ['broken JSON', '{"a":', 'The body must be valid JSON.'],
  [
    'a byte order mark',
    `\ufeff${valid}`,
    'The body must not begin with a byte order mark (EF BB BF): encode it as UTF-8 without one.',
  ],
  [
    'bytes that are not UTF-8',
    Buffer.from('{"note":"\xff"}', 'latin1'),
    'The body must be UTF-8, without compression.',
  ],
  [
    'deep nesting',
    valid.replace('}', `,"x":${nested(8)}}`),
    'The body must not be nested more than 8 levels deep.',
  ],
  ['very deep nesting', `{"x":${nested(8000)}}`, 'The body must not be nested more than 8 levels deep.'],
  [
    '__proto__',
    valid.replace('}', ',"__proto__":{"amount":"1"}}'),
    'The body must not have the key __proto__.',
  ],
  [
    '__proto__ within',
    valid.replace('}', ',"x":[{"__proto__":1}]}'),
    'The body must not have the key __proto__.',
  ],
  [
    'constructor.prototype',
    valid.replace('}', ',"constructor":{"prototype":{"a":1}}}'),
    'The body must not have the key constructor.',
  ],
])('refuses a body of %s', async (_name, body, error) => {
  const response = await raw(body);
  expect(response.statusCode).toBe(400);
  expect(response.json()).toEqual({ error });
});

it('takes the character that stands for lost ones, where it was written itself', async () => {
  expect((await raw(valid.replace('}', ',"note":"lost: \ufffd"}'))).statusCode).toBe(200);
});

it('takes nesting up to the eighth level where it is ignored anyway', async () => {
  expect((await raw(valid.replace('}', `,"x":${nested(7)}}`))).statusCode).toBe(200);
});

it.each([
  'text/plain',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'application/jsonp',
  'application/vnd.api+json',
  'nonsense',
  'application/json; charset=latin1',
])('refuses the content type %s with 400: the specification has no 415', async (type) => {
  const response = await raw(valid, type);
  expect(response.statusCode).toBe(400);
  expect(Object.keys(response.json())).toEqual(['error']);
});

it.each(['application/json; charset=utf-8', 'application/json;charset="UTF-8"', 'Application/JSON'])(
  'takes the content type %s',
  async (type) => {
    expect((await raw(valid, type)).statusCode).toBe(200);
  },
);

it('refuses a body without a content type', async () => {
  const headers = { 'x-api-key': service.apiKey, 'content-type': undefined };
  const response = await service.server.inject({
    method: 'POST',
    url: '/api/v1/wallet',
    headers: headers as unknown as Record<string, string>,
    payload: valid,
  });
  expect(response.statusCode).toBe(400);
  expect(response.json()).toHaveProperty('error');
});

it('takes a body of 16 KiB and refuses one byte more with 413', async () => {
  const padded = (size: number) => valid.replace('}', `,"x":"${'y'.repeat(size - valid.length - 7)}"}`);
  expect([Buffer.byteLength(padded(16_384)), (await raw(padded(16_384))).statusCode]).toEqual([16_384, 200]);
  const tooLarge = await raw(padded(16_385));
  expect(tooLarge.statusCode).toBe(413);
  expect(tooLarge.json()).toEqual({ error: 'The request body is larger than 16 KiB.' });
});

it.each([
  ['a duplicate', 'amount=1&amount=1', 'amount must be given only once'],
  ['a duplicate by encoding', 'amount=1&%61mount=1', 'amount must be given only once'],
  ['a duplicate of an unknown parameter', 'x=1&x=2', 'x must be given only once'],
  ['broken percent-encoding', 'note=%zz', 'The query must be percent-encoded UTF-8.'],
  ['bytes that are not UTF-8', 'note=%ff', 'The query must be percent-encoded UTF-8.'],
  ['__proto__', '__proto__=1', 'The query must not have the key __proto__.'],
  ['a word that is no boolean', 'passFeeToCustomer=1', 'passFeeToCustomer must be true or false'],
  ['an upper-case boolean', 'passFeeToCustomer=TRUE', 'passFeeToCustomer must be true or false'],
  ['an empty boolean', 'pass_fee_to_customer=', 'pass_fee_to_customer must be true or false'],
  ['an empty note', 'note=', 'note must not be empty: omit it instead'],
  ['an empty currency', 'currency=', 'currency must be one of USD, EUR, CAD, INR'],
  ['an empty provider', 'provider=', 'provider must be "multi" or a provider id'],
])('refuses a query with %s', async (_name, extra, error) => {
  const { amount, ...rest } = validRequest;
  const parameters = new URLSearchParams(extra.includes('mount') ? rest : { ...rest, amount });
  const response = await service.get(`${parameters}&${extra}`);
  expect(response.statusCode).toBe(400);
  expect(response.json()).toEqual({ error });
});

it('reads "+" in a query as the space it is, so a mailbox with a tag must be encoded', async () => {
  expect((await service.get(`${new URLSearchParams(validRequest)}&email=a+b@example.com`)).statusCode).toBe(
    400,
  );
  expect((await service.get(`${new URLSearchParams(validRequest)}&email=a%2Bb@example.com`)).statusCode).toBe(
    200,
  );
});

it('refuses parameters in both query and body, whichever way', async () => {
  const headers = { 'x-api-key': service.apiKey };
  const posted = await service.server.inject({
    method: 'POST',
    url: '/api/v1/wallet?note=x',
    headers,
    payload: validRequest,
  });
  const got = await service.server.inject({
    method: 'GET',
    url: `/api/v1/wallet?${new URLSearchParams(validRequest)}`,
    headers: { ...headers, 'content-type': 'application/json' },
    payload: '{}',
  });
  for (const response of [posted, got]) {
    expect(response.statusCode).toBe(400);
    expect(response.json().error).toContain('either as a JSON body with POST or in the query with GET');
  }
});

it('creates nothing for a refused request', async () => {
  const { account, apiKey } = await service.addAccount();
  for (const amount of wrongAmounts) await service.post({ ...validRequest, amount }, { 'x-api-key': apiKey });
  expect(await service.store.payments.listPayments({ accountId: account.id }, null, 10)).toEqual([]);
});
