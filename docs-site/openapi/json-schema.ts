import { FIAT_PATTERN, HASH_PATTERN, USDC_PATTERN } from '../../src/http/api/payment-schemas.ts';
import type { ParameterSchema, RequestParameter } from '../../src/http/api/request-input.ts';

/** A JSON Schema of 2020-12, as OpenAPI 3.1 has it. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** Fields of answers, by kind. `more` adds keywords, such as a pattern. */

export const text = (description: string, example: string, more: JsonSchema = {}): JsonSchema => ({
  type: 'string',
  description,
  examples: [example],
  ...more,
});
export const textOrNull = (
  description: string,
  example: string | null,
  more: JsonSchema = {},
): JsonSchema => ({ type: ['string', 'null'], description, examples: [example], ...more });
export const oneOf = (description: string, values: readonly string[], example = values[0] ?? '') =>
  text(description, example, { enum: values });
export const oneOfOrNull = (description: string, values: readonly string[]) =>
  textOrNull(description, null, { enum: [...values, null] });
export const yesOrNo = (description: string, example: boolean): JsonSchema => ({
  type: 'boolean',
  description,
  examples: [example],
});
export const count = (description: string, example: number): JsonSchema => ({
  type: 'integer',
  minimum: 0,
  description,
  examples: [example],
});
export const time = (description: string) =>
  text(description, '2026-11-21T02:03:09.770Z', { format: 'date-time' });
export const timeOrNull = (description: string) => textOrNull(description, null, { format: 'date-time' });

export const usdc = (description: string, example = '21.010000') =>
  text(description, example, { pattern: USDC_PATTERN });
export const usdcOrNull = (description: string, example = '21.010000') =>
  textOrNull(description, example, { pattern: USDC_PATTERN });
export const fiatOrNull = (description: string, example: string | null) =>
  textOrNull(description, example, { pattern: FIAT_PATTERN });
export const hashOrNull = (description: string, example: string) =>
  textOrNull(description, example, { pattern: HASH_PATTERN });

export function object(
  properties: Readonly<Record<string, JsonSchema>>,
  optional: readonly string[] = [],
): JsonSchema {
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return { type: 'object', required, properties };
}

export function list(description: string, items: JsonSchema, example: readonly unknown[] = []): JsonSchema {
  return { type: 'array', description, items, examples: [example] };
}

/** The schema of a JSON body with these parameters. */
export function bodyOf(parameters: Readonly<Record<string, RequestParameter>>): JsonSchema {
  const entries = Object.entries(parameters);
  const required = entries.filter(([, { isRequired }]) => isRequired).map(([name]) => name);
  return {
    type: 'object',
    ...(required.length === 0 ? {} : { required }),
    properties: Object.fromEntries(entries.map(([name, parameter]) => [name, bodySchemaOf(parameter)])),
  };
}

function bodySchemaOf(parameter: RequestParameter): JsonSchema {
  const { schema, isNullable, example } = parameter;
  const documented = { ...(isNullable ? nullable(schema) : schema), description: describe(parameter) };
  return { ...documented, examples: [example] };
}

/** The parameter's schema in a query or a header, where every value is text and nothing is null. */
export function querySchemaOf({ schema, querySchema }: RequestParameter): JsonSchema {
  return { ...(querySchema ?? schema) };
}

export function describe({ description, default: fallback }: RequestParameter): string {
  return fallback === undefined ? description : `${description} Default: \`${fallback}\`.`;
}

function nullable(schema: ParameterSchema): JsonSchema {
  return {
    ...schema,
    type: [schema.type, 'null'],
    ...(schema.enum === undefined ? {} : { enum: [...schema.enum, null] }),
  };
}

/** The schema of an answer without the keywords for the serializer. */
export function answerSchemaOf(schema: {
  readonly properties: Readonly<Record<string, object>>;
}): JsonSchema {
  const properties = Object.entries(schema.properties).map(([name, property]) => {
    const { format: _forTheSerializer, ...documented } = property as Record<string, unknown>;
    return [name, documented];
  });
  return {
    type: 'object',
    required: Object.keys(schema.properties),
    properties: Object.fromEntries(properties),
  };
}

/** An example of a whole answer: its own, or made of the first example of each field. */
export function exampleOf(schema: { readonly properties?: unknown; readonly examples?: unknown }): unknown {
  if (Array.isArray(schema.examples)) return schema.examples[0];
  const properties = schema.properties as Readonly<
    Record<string, { readonly examples?: readonly unknown[] }>
  >;
  return Object.fromEntries(
    Object.entries(properties).map(([name, { examples }]) => {
      if (examples === undefined) throw new Error(`the field ${name} has no example`);
      return [name, examples[0]];
    }),
  );
}
