import { createConfig, lintFromString } from '@redocly/openapi-core';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createOpenApiDocument, toOpenApi30 } from '../../src/api/openapi/create-openapi-document.ts';
import type { Operation } from '../../src/api/openapi/operations.ts';
import {
  createParameters,
  parseCreateRequest,
  statusParameters,
} from '../../src/api/parse-create-request.ts';
import { apiDescription } from '../../src/app/features.ts';
import { ServiceError } from '../../src/payment/errors.ts';
import type { Payment } from '../../src/payment/payment.ts';
import { paidWebhook } from '../../src/payment/payment-events.ts';
import { validRequest } from '../support/api-service.ts';
import { answerFault, strictValidator } from '../support/described-answers.ts';

const { operations } = apiDescription;
const document = createOpenApiDocument('https://pay.shop.test', apiDescription);
const text = JSON.stringify(document);

async function lint(source: string, rules: Readonly<Record<string, 'off'>> = {}): Promise<readonly string[]> {
  const config = await createConfig({ extends: ['recommended-strict'], rules });
  const problems = await lintFromString({ source, absoluteRef: 'openapi.json', config });
  return problems.map(({ ruleId, message, location }) => `${ruleId}: ${message} ${location[0]?.pointer}`);
}

describe('the OpenAPI document', () => {
  it('passes the linter with its strictest rules', async () => {
    expect(await lint(text)).toEqual([]);
  });

  it('has the address of the service as its only server, and passes the linter as a copy in OpenAPI 3.0', async () => {
    expect(document.servers).toEqual([{ url: 'https://pay.shop.test', description: 'This service' }]);
    expect(document.info.contact.url).toBe('https://pay.shop.test/docs');
    const copy = toOpenApi30(document);
    // Generators read `nullable` beside `allOf` as a type or null; the linter's examples do not.
    const rules = { 'no-invalid-media-type-examples': 'off' } as const;
    expect(await lint(JSON.stringify(copy), rules)).toEqual([]);
    expect(copy['paths']).toMatchObject({ '/api/v1/wallet': { post: { operationId: 'createCheckout' } } });
    expect(JSON.stringify(copy)).not.toMatch(/"type":\[|"null"|"const":|"examples":\[/);
  });

  it('gives generators one way to send the key, names for all objects, and patterns that every language knows', () => {
    expect(Object.keys(document.components.securitySchemes)).toEqual(['bearerKey']);
    expect(text).not.toMatch(/"pattern":"[^"]*(\(\?[=!<]|\\\\u)/);
    const anonymous = Object.entries(document.components.schemas).flatMap(([name, schema]) =>
      [
        ...JSON.stringify(schema)
          .slice(1)
          .matchAll(/\{"type":"object",[^}]*"properties"/g),
      ].map(() => name),
    );
    // The rule for its two names of one flag.
    expect([...new Set(anonymous)]).toEqual(['CreateCheckout']);
  });

  it('opens the words to which versions add others, and closes those of the specification', () => {
    const accepts = (name: string, value: string) => strictValidator(`#/components/schemas/${name}`)(value);
    for (const name of ['EventType', 'Provider', 'ErrorCode']) expect(accepts(name, 'new'), name).toBe(true);
    const { PaymentStatus, Payment: created } = document.components.schemas;
    const fields: Readonly<Record<string, object>> = Object.assign(
      {},
      created?.['properties'],
      PaymentStatus?.['properties'],
    );
    for (const name of ['status', 'forward_status', 'payment_type'])
      expect(fields[name]).toHaveProperty('enum');
    for (const name of ['created_at', 'paid_at']) expect(fields[name]).toHaveProperty('format', 'date-time');
  });

  it('has an example of every answer and every request, which its schema accepts', () => {
    const contents = [
      ...text.matchAll(/"application\/json":\{"schema":\{"\$ref":"#([^"]+)"\},"(examples?)":/g),
    ];
    const all = [...text.matchAll(/"application\/json":\{/g)];
    expect(contents).toHaveLength(all.length);
    expect(all.length).toBeGreaterThan(40);
    for (const operation of operations) {
      const [content] = Object.values(successOf(operation).content);
      expect(content?.example).toBeDefined();
      const body = JSON.stringify(content?.example);
      const { path, method } = operation;
      expect(
        answerFault({ path, method: method.toUpperCase(), status: 200, headers: { etag: '"x"' }, body }),
      ).toBeNull();
    }
  });

  it('describes the webhook that is sent', () => {
    const payment = {
      id: '01a1fbd7-b7b3-7002-be38-5df3e4ebf9f4',
      amountCents: 10257,
      originalAmountCents: 10000,
      customerFeeCents: 257,
      passFeeToCustomer: true,
      currency: 'EUR',
      note: 'x',
      email: null,
      receivedUnits: 21_010_000n,
      forwardedUnits: 20_484_750n,
      txidIn: `0x${'a'.repeat(64)}`,
      txidOut: `0x${'b'.repeat(64)}`,
    } as unknown as Payment;
    const validate = strictValidator('#/components/schemas/PaymentPaidEvent');
    const { fields } = paidWebhook(payment);
    expect(validate({ ...fields, timestamp: 1_795_226_590 }), JSON.stringify(validate.errors)).toBe(true);
    expect(validate({ ...fields, timestamp: 1_795_226_590, secret: 'x' })).toBe(false);
    expect(validate(fields)).toBe(false);
  });
});

function successOf({ path, method, id }: Operation): Success {
  const success = document.paths[path]?.[method]?.responses['200'];
  if (success === undefined) throw new Error(`${id} has no success`);
  return success as Success;
}

interface Success {
  readonly content: Readonly<Record<string, { readonly example: unknown }>>;
}

describe('the schema of a create request', () => {
  const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, formats: {} });
  const validate = ajv.compile(
    (document as unknown as { components: { schemas: { CreateCheckout: object } } }).components.schemas
      .CreateCheckout,
  );

  /** Why the server refuses the form, or null. */
  async function refusalOf(body: Readonly<Record<string, unknown>>): Promise<string | null> {
    try {
      const callbacks = { refusalOf: async () => null };
      const request = await parseCreateRequest({ callbacks }, body, 'json', null);
      return createParameters.provider.schema.enum.some((id) => id === request.provider) ? null : 'provider';
    } catch (error) {
      if (error instanceof ServiceError) return error.message;
      throw error;
    }
  }

  const decimals = fc
    .tuple(fc.integer({ min: -2, max: 10_002 }), fc.integer({ min: 0, max: 1_000 }))
    .map(([whole, fraction]) => `${whole}.${fraction}`);
  const noteCharacter = fc.oneof(
    fc.constantFrom('a', '\n', '\t', '\r', '\u0000', '\u007f', '\u0085', '🫖', 'é'),
    fc.string({ unit: 'grapheme', minLength: 1, maxLength: 1 }),
  );
  /** Values at and around the rules, for each parameter whose rules a schema can say in full. */
  const values: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
    amount: fc.oneof(
      decimals,
      fc.stringMatching(/^[01]?[0-9]{0,5}(\.[0-9]{0,3})?$/),
      fc.constantFrom(...'0 0.0 0.01 10000 10000.00 10000.01 1e3 01 .5'.split(' '), ' 1', '1\n', null, true),
      fc.integer({ min: -5, max: 20_000 }),
    ),
    currency: fc.oneof(fc.constantFrom('USD', 'EUR', 'CAD', 'INR', 'usd', '', null, 1), fc.string()),
    passFeeToCustomer: fc.constantFrom(true, false, 'true', null, 0, 1),
    provider: fc.constantFrom('multi', 'wert', 'Wert', '', null, 7, 'stipe'),
    note: fc.oneof(
      fc.array(noteCharacter, { maxLength: 8 }).map((parts) => parts.join('')),
      fc.constantFrom('x'.repeat(500), 'x'.repeat(501), '🫖'.repeat(500), '🫖'.repeat(501), '', null, 3),
    ),
    email: fc.oneof(
      fc.emailAddress(),
      fc.stringMatching(/^[ \t\u00a0]?[a-z.+'`]{0,3}@?[a-z.-]{0,6}[ \n]?$/),
      fc.constantFrom(
        ...['', ' ', '\n', 'x', 'a@b', 'a@b.', 'a@-b', 'a@b\n', ' a@b.example '],
        ...['a@b, c@d', '"a b"@c', null, 1],
        ...[64, 65].map((length) => `${'x'.repeat(length)}@example.com`),
        ...['é@example.com', 'a@müller.example'],
        ...[63, 64].map((length) => `a@${'x'.repeat(length)}.example`),
        ...[252, 253].map((length) => `a@${'x.'.repeat(126)}x`.padEnd(length, 'y').slice(0, length + 1)),
      ),
    ),
    address: fc.oneof(
      fc.stringMatching(/^0[xX][0-9a-f]{39,41}$/),
      fc.constantFrom(`0x${'0'.repeat(40)}`, validRequest.address, null, 5, ''),
    ),
  };

  it.each(Object.keys(values))('accepts just the values of %s that the server accepts', async (name) => {
    let accepted = 0;
    await fc.assert(
      fc.asyncProperty(values[name] as fc.Arbitrary<unknown>, async (value) => {
        const body = { ...validRequest, [name]: value };
        const refusal = await refusalOf(body);
        if (refusal === null) accepted++;
        expect(validate(body), `${JSON.stringify(value)}: ${refusal}`).toBe(refusal === null);
      }),
      { numRuns: 300 },
    );
    expect(accepted).toBeGreaterThan(0);
  });

  it('refuses the two names of one flag where they contradict each other, as the server does', async () => {
    for (const [one, other] of [
      [true, true],
      [false, false],
      [true, false],
      [false, true],
    ]) {
      const body = { ...validRequest, passFeeToCustomer: one, pass_fee_to_customer: other };
      expect(validate(body), JSON.stringify(body)).toBe((await refusalOf(body)) === null);
      expect(validate(body)).toBe(one === other);
    }
  });

  it('says of a number as amount what only the service can check', async () => {
    const body = { ...validRequest, amount: 1.005 };
    expect(await refusalOf(body)).not.toBeNull();
    // Binary fractions: a validator that divides by 0.01 would refuse 0.29 as well.
    expect(validate(body)).toBe(true);
    const { CreateCheckout } = (
      document as unknown as { components: { schemas: { CreateCheckout: { description: string } } } }
    ).components.schemas;
    expect(CreateCheckout.description).toContain('the decimals of a numeric `amount`');
    expect(validate({ ...validRequest, amount: '1.005' })).toBe(false);
  });

  it('requires what the server requires', async () => {
    for (const name of Object.keys(validRequest)) {
      const { [name]: _, ...others } = validRequest as Readonly<Record<string, unknown>>;
      expect(await refusalOf(others), name).not.toBeNull();
      expect(validate(others), name).toBe(false);
    }
    expect(await refusalOf(validRequest)).toBeNull();
    expect(validate(validRequest)).toBe(true);
  });

  it('lets a payment_id beside an ipn_token be empty, as the server does, which does not look at it', () => {
    expect(ajv.validate(statusParameters.payment_id.schema, '')).toBe(true);
  });

  it('gives examples that the server accepts', async () => {
    const example = Object.fromEntries(
      Object.entries(createParameters).map(([name, each]) => [name, each.example]),
    );
    expect(validate(example)).toBe(true);
    expect(await refusalOf(example)).toBeNull();
  });
});
