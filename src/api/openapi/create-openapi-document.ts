import { STATUS_CODES } from 'node:http';
import type { FastifyInstance } from 'fastify';
import type { ErrorName } from '../../payment/errors.ts';
import { type CompressedForms, sendCompressed } from '../../web/compression.ts';
import { describe, type JsonSchema, type RequestParameters, reference } from '../json-schema.ts';
import type { AddedEvents } from '../merchant/merchant-schemas.ts';
import { bodies, exampleOf, headers, schemasWith, signatureParameter } from './components.ts';
import { type Operation, operations } from './operations.ts';

/** Version of the interface, not of the software; docs/versioning.md says when it changes. */
const INTERFACE_VERSION = '1.0.0';

/** @param baseUrl without a trailing slash */
export function createOpenApiDocument(baseUrl: string, description: ApiDescription) {
  const schemas = withComponents(description.schemas);
  const paths: Record<string, Record<string, ReturnType<typeof operationObject>>> = {};
  for (const operation of description.operations) {
    const { path, method } = operation;
    paths[path] = { ...paths[path], [method]: operationObject(operation, description) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'card-checkout',
      version: INTERFACE_VERSION,
      description:
        'Create hosted card checkouts and read the status of their payments. ' +
        'The customer pays by card at an on-ramp, and the value settles as USDC on Polygon in your wallet.',
      license: { name: 'MIT', identifier: 'MIT' },
      contact: { name: 'Documentation of this service', url: `${baseUrl}/docs` },
    },
    servers: [{ url: baseUrl, description: 'This service' }],
    tags: [
      { name: 'Payments', description: 'Operations for the server of a shop, with an API key.' },
      {
        name: 'Merchant',
        description: description.merchantTag,
      },
      { name: 'Service', description: 'Public operations, without a key.' },
      { name: 'Events', description: 'Events that the service sends to your callback, each once.' },
    ],
    paths,
    webhooks: {
      paymentPaid: webhook(description.schemas, 'paymentPaid', 'PaymentPaidEvent', 'A payment is paid'),
      paymentForwarded: webhook(
        description.schemas,
        'paymentForwarded',
        'PaymentForwardedEvent',
        'A direct USDC payment was forwarded',
      ),
    },
    components: {
      schemas,
      headers,
      securitySchemes: {
        bearerKey: {
          type: 'http',
          scheme: 'bearer',
          // Describes `X-API-Key` only in text, because generated clients would send both headers and be refused.
          description: 'Your API key. `X-API-Key: <key>` is accepted instead, but not both headers.',
        },
      },
    },
  };
}

/** Moves titled schemas into components, so that generators name their types. Titled enums accept any string. */
function withComponents(schemas: Schemas): Schemas {
  const named: Record<string, JsonSchema> = {};
  const words: Record<string, readonly unknown[]> = {};
  const refer = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(refer);
    if (!isObject(value)) return value;
    const schema = Object.fromEntries(Object.entries(value).map(([name, each]) => [name, refer(each)]));
    const { title, description, enum: known, examples: _, ...own } = schema as JsonSchema;
    if (typeof title !== 'string') return schema;
    if (Array.isArray(known)) words[title] = [...new Set([...(words[title] ?? []), ...known])];
    const open = { anyOf: [{ type: 'string', enum: words[title] }, { type: 'string' }] };
    named[title] = known === undefined ? own : open;
    return { ...reference(title), ...(description !== undefined && { description }) };
  };
  return { ...(refer(schemas) as Schemas), ...named };
}

function operationObject(operation: Operation, { bodies, schemas }: ApiDescription) {
  const { id, tag, summary, description, needsKey, inPath, query = {}, headers = {}, body } = operation;
  const parameters = [
    ...parametersOf(inPath, 'path'),
    ...parametersOf(query, 'query'),
    ...parametersOf(headers, 'header'),
  ];
  return {
    operationId: id,
    tags: [tag],
    summary,
    description,
    security: needsKey ? [{ bearerKey: [] }] : [],
    ...(parameters.length > 0 && { parameters }),
    ...(body !== undefined && { requestBody: requestBody(body, bodies[body] ?? {}) }),
    responses: answersOf(operation, schemas),
  };
}

function parametersOf(named: RequestParameters, place: 'path' | 'query' | 'header'): object[] {
  return Object.entries(named).map(([name, parameter]) => ({
    name,
    in: place,
    required: parameter.isRequired ?? false,
    description: describe(parameter),
    schema: parameter.querySchema ?? parameter.schema,
    example: parameter.example,
  }));
}

const contentOf = (name: string, more: object, type = 'application/json') => ({
  [type]: { schema: reference(name), ...more },
});

function requestBody(name: string, body: RequestParameters): object {
  const { pass_fee_to_customer: _alias, ...parameters } = body;
  const all = Object.entries(parameters);
  const required = all.filter(([, { isRequired }]) => isRequired);
  const exampleWith = (named: typeof all) =>
    Object.fromEntries(named.map(([name, { example }]) => [name, example]));
  const examples = {
    least: { summary: 'Required parameters', value: exampleWith(required) },
    all: { summary: 'Everything', value: exampleWith(all) },
  };
  return {
    required: required.length > 0,
    description: 'UTF-8, at most 16 KiB.',
    content: contentOf(name, { examples }),
  };
}

type Schemas = ApiDescription['schemas'];

const webhook = (schemas: Schemas, operationId: string, name: string, summary: string) => ({
  post: {
    operationId,
    tags: ['Events'],
    summary,
    description:
      'Sent once, over HTTPS. Verify the signature of the raw body with the stored `ipn_token`, confirm the status, and fulfill the order once.',
    security: [],
    parameters: [signatureParameter],
    requestBody: { required: true, content: contentOf(name, { example: exampleOf(schemas[name] ?? {}) }) },
    responses: {
      '2XX': { description: 'Received. Respond within ten seconds, and do slow work afterwards.' },
    },
  },
});

const headerOf = (name: string, component: keyof typeof headers) => ({
  [name]: { $ref: `#/components/headers/${component}` },
});

const headersOf: Readonly<Record<string, object>> = {
  unauthorized: headerOf('WWW-Authenticate', 'WwwAuthenticate'),
  rate_limited: headerOf('Retry-After', 'RetryAfter'),
  provider_unavailable: headerOf('Retry-After', 'RetryAfterBusy'),
  internal: headerOf('X-Request-Id', 'RequestId'),
} satisfies Partial<Record<ErrorName, object>>;

/** Returns the answers of an operation by status: success, and its errors grouped by status. */
function answersOf(
  { answer, hasTag, errors, others = {} }: Operation,
  schemas: Schemas,
): Readonly<Record<string, unknown>> {
  const type = answer === 'JournalCsv' ? 'text/csv' : 'application/json';
  const byStatus = Object.groupBy(errors, (error) => error.status);
  return {
    200: {
      description: 'Success.',
      ...(hasTag && { headers: headerOf('ETag', 'ETag') }),
      content: contentOf(answer, { example: exampleOf(schemas[answer] ?? {}) }, type),
    },
    ...(hasTag && { 304: { description: 'You have this answer already.' } }),
    ...mapValues(byStatus, (rows = [], status) => {
      const headers = Object.assign({}, ...rows.map(({ name }) => headersOf[name]));
      const examples = rows.map(({ name, text, code }) => [
        name,
        { value: { error: text, ...(code !== null && { code }) } },
      ]);
      return {
        description: `${STATUS_CODES[status]}: ${rows.map(({ text }) => text).join(' ')}`,
        ...(Object.keys(headers).length > 0 && { headers }),
        content: contentOf('Error', { examples: Object.fromEntries(examples) }),
      };
    }),
    ...mapValues(others, ({ description, example: error }) => ({
      description,
      content: contentOf('Error', { examples: { example: { value: { error } } } }),
    })),
  };
}

function mapValues<Value>(
  object: Readonly<Record<string, Value>>,
  change: (value: Value, name: string) => object,
): object {
  return Object.fromEntries(Object.entries(object).map(([name, value]) => [name, change(value, name)]));
}

const isObject = (value: unknown): value is JsonSchema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isNull = (value: unknown) => isObject(value) && value['type'] === 'null';

/** Keywords whose values are data, not schemas. */
const data = ['example', 'examples', 'enum', 'required'];

/** Converts the document to OpenAPI 3.0, for generators that do not support 3.1. */
export function toOpenApi30(document: JsonSchema): JsonSchema {
  const { info, webhooks, ...others } = downgrade(document) as JsonSchema;
  const license = { name: 'MIT', url: 'https://opensource.org/license/mit' };
  const known = { ...(info as JsonSchema), license };
  return { ...others, openapi: '3.0.3', info: known, 'x-webhooks': webhooks };
}

function downgrade(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(downgrade);
  if (!isObject(value)) return value;
  const { propertyNames: _, ...known } = value;
  const {
    $ref,
    type,
    anyOf,
    const: only,
    examples,
    ...others
  } = Object.fromEntries(
    Object.entries(known).map(([key, each]) => [key, data.includes(key) ? each : downgrade(each)]),
  );
  return {
    ...others,
    ...($ref !== undefined && (Object.keys(others).length === 0 ? { $ref } : { allOf: [{ $ref }] })),
    ...(type !== undefined && typeKeywords(type)),
    ...(Array.isArray(anyOf) && alternatives(anyOf)),
    ...(only !== undefined && { enum: [only] }),
    ...(examples !== undefined && (Array.isArray(examples) ? { example: examples[0] } : { examples })),
  };
}

function typeKeywords(type: unknown): JsonSchema {
  if (!Array.isArray(type)) return { type };
  const [first, ...more] = type.filter((each) => each !== 'null');
  if (more.length > 0) throw new Error(`OpenAPI 3.0 has one type: ${type}`);
  return { type: first, ...(type.includes('null') && { nullable: true }) };
}

function alternatives(anyOf: readonly unknown[]): JsonSchema {
  const [first, ...more] = anyOf.filter((each) => !isNull(each));
  // Generators for Go and Java turn this extension into a plain type, but `anyOf` into a wrapped union.
  if (isObject(first) && 'enum' in first) return { type: 'string', 'x-extensible-enum': first['enum'] };
  const nullable = anyOf.some(isNull) && { type: 'object', nullable: true };
  return { ...nullable, ...(more.length === 0 ? { allOf: [first] } : { anyOf: [first, ...more] }) };
}

/** Registers `GET /openapi.json` and its copy in OpenAPI 3.0. Builds each document only once. */
export function registerOpenApi(
  server: FastifyInstance,
  { baseUrl }: { readonly baseUrl: string },
  description: ApiDescription,
): void {
  const document = createOpenApiDocument(baseUrl, description);
  const answers = { '/openapi.json': document, '/openapi-3.0.json': toOpenApi30(document) };
  for (const [path, answer] of Object.entries(answers)) {
    const bytes = Buffer.from(JSON.stringify(answer));
    const made: CompressedForms = new Map();
    server.get(path, { exposeHeadRoute: true }, (_request, reply) => {
      // Allows every origin, because tools in browsers read the document.
      reply.header('cache-control', 'public, max-age=300').header('access-control-allow-origin', '*');
      return sendCompressed(reply.type('application/json; charset=utf-8'), bytes, made);
    });
  }
}

/** Additions of features to the description of the API. */
export interface DescribedFeatures {
  readonly merchantTag: string;
  /** Groups of operations, each with the id of the operation that it follows. */
  readonly operations: readonly { readonly after: string; readonly added: readonly Operation[] }[];
  readonly bodies: Readonly<Record<string, RequestParameters>>;
  readonly schemas: Readonly<Record<string, JsonSchema>>;
  readonly events: AddedEvents;
}

export type ApiDescription = ReturnType<typeof describeApi>;

export function describeApi(features: DescribedFeatures) {
  const addedAfter = (id: string) =>
    features.operations.flatMap(({ after, added }) => (after === id ? added : []));
  return {
    merchantTag: features.merchantTag,
    operations: operations.flatMap((operation) => [operation, ...addedAfter(operation.id)]),
    bodies: { ...bodies, ...features.bodies } as Readonly<Record<string, RequestParameters>>,
    schemas: schemasWith(features.schemas, features.events),
  };
}
