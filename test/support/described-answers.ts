import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { FastifyInstance } from 'fastify';
import { createOpenApiDocument } from '../../src/api/openapi/create-openapi-document.ts';
import { apiDescription } from '../../src/app/features.ts';
import type { DescribedError } from '../../src/payment/errors.ts';

export interface Answer {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
}

interface DescribedAnswer {
  readonly headers?: Readonly<Record<string, { readonly $ref: string }>>;
  readonly content?: { readonly 'application/json'?: { readonly schema: { readonly $ref: string } } };
}

const { operations } = apiDescription;
const document = createOpenApiDocument('https://pay.example.com', apiDescription);
const ajv = new Ajv2020({ strict: false, allErrors: true });
addFormats.default(ajv);
ajv.addSchema({ $id: 'openapi', ...document });
const validators = new Map<string, ValidateFunction>();

/** The document's schema at `#/…`, and beyond it: no field that the document does not know. */
export function strictValidator(reference: string): ValidateFunction {
  const known = validators.get(reference);
  if (known !== undefined) return known;
  const schema = { allOf: [{ $ref: `openapi${reference}` }], unevaluatedProperties: false };
  const made = ajv.compile(schema);
  validators.set(reference, made);
  return made;
}

/** What is wrong with an answer according to the OpenAPI document, or null. */
export function answerFault(answer: Answer): string | null {
  const { method, path, status, body } = answer;
  const operation = operations.find(
    (each) => isPathOf(each.path, path) && each.method === method.toLowerCase(),
  );
  const where = `${method} ${path} ${status}`;
  if (operation === undefined) {
    const isError = status >= 400 && String(answer.headers['content-type']).startsWith('application/json');
    return isError && method !== 'HEAD' ? bodyFault(where, '#/components/schemas/Error', body) : null;
  }
  const described = document.paths[operation.path]?.[operation.method]?.responses[status] as
    | DescribedAnswer
    | undefined;
  if (described === undefined) return `${where} is not described`;
  for (const [name, { $ref }] of Object.entries(described.headers ?? {})) {
    const isOptional = status === 403 || $ref === '#/components/headers/RetryAfterBusy';
    const value = answer.headers[name.toLowerCase()];
    if (value === undefined && !isOptional) return `${where} lacks the header ${name} (${$ref})`;
  }
  const reference = described.content?.['application/json']?.schema.$ref;
  const fault = reference === undefined ? null : bodyFault(where, reference, body);
  return (
    fault ?? (status === 200 || status === 304 ? null : codeFault(where, operation.errors, status, body))
  );
}

/** Whether a path is one of a template like `/payments/{payment_id}`. */
function isPathOf(template: string, path: string): boolean {
  const parts = template.split('/');
  const given = path.split('/');
  return (
    parts.length === given.length &&
    parts.every((part, index) => part.startsWith('{') || part === given[index])
  );
}

function bodyFault(where: string, reference: string, body: string): string | null {
  const validate = strictValidator(reference);
  try {
    return validate(JSON.parse(body)) ? null : `${where}: ${ajv.errorsText(validate.errors)} in ${body}`;
  } catch {
    return `${where}: the body is no JSON: ${body}`;
  }
}

/** A `code` has to belong to an error that the document names for this operation and status. */
function codeFault(
  where: string,
  errors: readonly DescribedError[],
  status: number,
  body: string,
): string | null {
  const { code = null } = JSON.parse(body) as { code?: string };
  const rows = errors.filter((row) => row.status === status);
  return rows.length === 0 || rows.some((row) => row.code === code)
    ? null
    : `${where}: the code ${code} is not described`;
}

/**
 * Holds every answer of a server to the document. Call it before the routes are registered, and the function it
 * returns at the end: that one throws when an answer was not as described.
 */
export function checkAnswers(server: FastifyInstance): () => void {
  const faults = new Set<string>();
  server.addHook('onSend', async (request, reply, payload) => {
    const isText = typeof payload === 'string' || Buffer.isBuffer(payload);
    const fault = answerFault({
      method: request.method,
      path: (request.raw.url ?? '').split('?')[0] ?? '',
      status: reply.statusCode,
      headers: reply.getHeaders(),
      body: isText ? payload.toString() : '',
    });
    if (fault !== null && faults.size < 10) faults.add(fault);
    return payload;
  });
  return () => {
    if (faults.size > 0) throw new Error(`not as the OpenAPI document says:\n${[...faults].join('\n')}`);
  };
}
