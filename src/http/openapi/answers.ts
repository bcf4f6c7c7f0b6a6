import { STATUS_CODES } from 'node:http';
import { type ErrorName, errorTable } from '../../domain/errors.ts';
import type { Operation } from './operations.ts';

type Answer = Readonly<Record<string, unknown>>;

const headersOf: Partial<Record<ErrorName, Readonly<Record<string, object>>>> = {
  unauthorized: { 'WWW-Authenticate': { $ref: '#/components/headers/WwwAuthenticate' } },
  rate_limited: { 'Retry-After': { $ref: '#/components/headers/RetryAfter' } },
  provider_unavailable: { 'Retry-After': { $ref: '#/components/headers/RetryAfterBusy' } },
  internal: { 'X-Request-Id': { $ref: '#/components/headers/RequestId' } },
};

/** The answers of an operation by status: its success, and its rows of the error table put together by status. */
export function answersOf(
  operation: Operation,
  example: Readonly<Record<string, unknown>>,
): Readonly<Record<string, Answer>> {
  const errors = new Map<number, ErrorName[]>();
  for (const name of operation.errors) {
    const { status } = errorTable[name];
    errors.set(status, [...(errors.get(status) ?? []), name]);
  }
  const answers: [string, Answer][] = [['200', successOf(operation, example)]];
  for (const [status, names] of errors) answers.push([String(status), errorOf(status, names)]);
  for (const [status, { description, example: error }] of Object.entries(operation.others ?? {})) {
    answers.push([status, { description, content: errorContent({ example: { value: { error } } }) }]);
  }
  return Object.fromEntries(answers);
}

function successOf({ answer }: Operation, example: Answer): Answer {
  const schema = { $ref: `#/components/schemas/${answer}` };
  return { description: 'Success.', content: { 'application/json': { schema, example } } };
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
