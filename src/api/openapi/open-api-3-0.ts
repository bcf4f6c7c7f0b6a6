import type { JsonSchema } from '../json-schema.ts';

const isObject = (value: unknown): value is JsonSchema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isNull = (value: unknown) => isObject(value) && value['type'] === 'null';

/** Keywords whose values are data, not schemas. */
const data = ['example', 'examples', 'enum', 'required'];

/** The document in OpenAPI 3.0, for generators that do not know 3.1. */
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
