import { STATUS_CODES } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { type ErrorName, errorTable } from '../../src/domain/errors.ts';
import { describe, type RequestParameter, type RequestParameters } from '../../src/http/api/json-schema.ts';
import { createConstantAnswer } from '../../src/http/compression.ts';
import { bodies, exampleOf, headers, schemas, signatureParameter } from './components.ts';
import { type Operation, operations } from './operations.ts';

/** An OpenAPI 3.1 document: plain JSON. */
type OpenApiDocument = Readonly<Record<string, unknown>> & {
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationObject>>>>;
};

/** The document's description of one operation. */
interface OperationObject {
  readonly operationId: string;
  readonly responses: Readonly<Record<string, unknown>>;
}

/** The version of the interface, not of the software: docs/versioning.md says when it changes. */
const INTERFACE_VERSION = '1.0.0';

/**
 * Builds the document from the schemas with which the server validates and answers. `baseUrl` has no slash at the end.
 */
export function createOpenApiDocument(baseUrl: string): OpenApiDocument {
  const paths: Record<string, Record<string, OperationObject>> = {};
  for (const operation of operations) {
    paths[operation.path] = { ...paths[operation.path], [operation.method]: operationObject(operation) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'card-checkout',
      version: INTERFACE_VERSION,
      description:
        'Create hosted card checkouts and read the status of their payments. The customer pays by card at an on-ramp, and the value settles as USDC on Polygon in your wallet.',
      license: { name: 'MIT', identifier: 'MIT' },
      contact: { name: 'Documentation of this service', url: `${baseUrl}/docs` },
    },
    servers: [
      {
        url: '{base_url}',
        description: 'This service',
        variables: {
          base_url: { default: baseUrl, description: 'The base URL of the service.' },
        },
      },
    ],
    tags: [
      { name: 'Payments', description: 'Operations for the server of a shop, with an API key.' },
      {
        name: 'Merchant',
        description:
          'Read, follow, cancel and refund the payments of your account from your own programs. Not part of the checkout API and its version.',
      },
      { name: 'Service', description: 'Public operations, without a key.' },
      { name: 'Events', description: 'Events that the service sends to your callback, each once.' },
    ],
    paths,
    webhooks: {
      paymentPaid: webhook('paymentPaid', 'PaymentPaidEvent', 'A payment is paid'),
      paymentForwarded: webhook(
        'paymentForwarded',
        'PaymentForwardedEvent',
        'A direct USDC payment was forwarded',
      ),
    },
    components: {
      schemas,
      headers,
      securitySchemes: {
        bearerKey: { type: 'http', scheme: 'bearer', description: 'Your API key.' },
        headerKey: { type: 'apiKey', in: 'header', name: 'X-API-Key', description: 'The same key.' },
      },
    },
  };
}

function operationObject(operation: Operation): OperationObject {
  const {
    id,
    tag,
    summary,
    description,
    needsKey,
    inPath = {},
    query = {},
    headers: requestHeaders = {},
    body,
  } = operation;
  const parameters = [
    ...parametersOf(inPath, 'path'),
    ...parametersOf(query, 'query'),
    ...parametersOf(requestHeaders, 'header'),
  ];
  return {
    operationId: id,
    tags: [tag],
    summary,
    description,
    // Exactly one of the two headers.
    security: needsKey ? [{ bearerKey: [] }, { headerKey: [] }] : [],
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined ? {} : { requestBody: requestBody(body) }),
    responses: answersOf(operation, exampleOf(schemas[operation.answer])),
  } as OperationObject;
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

function requestBody(name: keyof typeof bodies): object {
  const entries = Object.entries<RequestParameter>(bodies[name]).filter(
    ([name]) => name !== 'pass_fee_to_customer',
  );
  const required = entries.filter(([, { isRequired }]) => isRequired);
  const exampleWith = (named: typeof entries) =>
    Object.fromEntries(named.map(([name, { example }]) => [name, example]));
  return {
    required: required.length > 0,
    description: 'UTF-8, at most 16 KiB.',
    content: {
      'application/json': {
        schema: { $ref: `#/components/schemas/${name}` },
        examples: {
          least: { summary: 'Required parameters', value: exampleWith(required) },
          all: { summary: 'Everything', value: exampleWith(entries) },
        },
      },
    },
  };
}

function webhook(
  operationId: string,
  name: 'PaymentPaidEvent' | 'PaymentForwardedEvent',
  summary: string,
): object {
  return {
    post: {
      operationId,
      tags: ['Events'],
      summary,
      description:
        'Sent once, over HTTPS. Verify the signature of the raw body with the stored `ipn_token`, confirm the status, and fulfill the order once.',
      security: [],
      parameters: [signatureParameter],
      requestBody: {
        required: true,
        content: {
          'application/json': {
            schema: { $ref: `#/components/schemas/${name}` },
            example: exampleOf(schemas[name]),
          },
        },
      },
      responses: {
        '2XX': { description: 'Received. Respond within ten seconds, and do slow work afterwards.' },
      },
    },
  };
}

type Answer = Readonly<Record<string, unknown>>;

const headersOf: Partial<Record<ErrorName, Readonly<Record<string, object>>>> = {
  unauthorized: { 'WWW-Authenticate': { $ref: '#/components/headers/WwwAuthenticate' } },
  rate_limited: { 'Retry-After': { $ref: '#/components/headers/RetryAfter' } },
  provider_unavailable: { 'Retry-After': { $ref: '#/components/headers/RetryAfterBusy' } },
  internal: { 'X-Request-Id': { $ref: '#/components/headers/RequestId' } },
};

/** The answers of an operation by status: its success, and its rows of the error table grouped by status. */
function answersOf(operation: Operation, example: unknown): Readonly<Record<string, Answer>> {
  const errors = new Map<number, ErrorName[]>();
  for (const name of operation.errors) {
    const { status } = errorTable[name];
    errors.set(status, [...(errors.get(status) ?? []), name]);
  }
  const answers: [string, Answer][] = [['200', successOf(operation, example)]];
  if (operation.hasTag) answers.push(['304', { description: 'You have this answer already.' }]);
  for (const [status, names] of errors) answers.push([String(status), errorOf(status, names)]);
  for (const [status, { description, example: error }] of Object.entries(operation.others ?? {})) {
    answers.push([status, { description, content: errorContent({ example: { value: { error } } }) }]);
  }
  return Object.fromEntries(answers);
}

function successOf({ answer, hasTag }: Operation, example: unknown): Answer {
  const schema = { $ref: `#/components/schemas/${answer}` };
  const headers = hasTag ? { headers: { ETag: { $ref: '#/components/headers/ETag' } } } : {};
  const type = answer === 'JournalCsv' ? 'text/csv' : 'application/json';
  return { description: 'Success.', ...headers, content: { [type]: { schema, example } } };
}

function errorOf(status: number, names: readonly ErrorName[]): Answer {
  const headers = Object.assign({}, ...names.map((name) => headersOf[name] ?? {}));
  const examples = Object.fromEntries(names.map((name) => [name, { value: exampleOfError(name) }]));
  return {
    description: `${STATUS_CODES[status]}: ${names.map((name) => errorTable[name].text).join(' ')}`,
    ...(Object.keys(headers).length === 0 ? {} : { headers }),
    content: errorContent(examples),
  };
}

function errorContent(examples: object): object {
  return { 'application/json': { schema: { $ref: '#/components/schemas/Error' }, examples } };
}

function exampleOfError(name: ErrorName): object {
  const { text, code } = errorTable[name];
  return code === null ? { error: text } : { error: text, code };
}

/** `GET /openapi.json`: the machine-readable interface, built once. */
export function registerOpenApi(server: FastifyInstance, { baseUrl }: { readonly baseUrl: string }): void {
  const document = createConstantAnswer(Buffer.from(JSON.stringify(createOpenApiDocument(baseUrl))));
  server.get('/openapi.json', { exposeHeadRoute: true }, (_request, reply) => {
    // Public, and read by tools that run in a browser.
    reply.header('cache-control', 'public, max-age=300').header('access-control-allow-origin', '*');
    return document.send(reply.type('application/json; charset=utf-8'));
  });
}
