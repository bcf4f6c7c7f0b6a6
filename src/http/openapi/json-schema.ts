import type { ParameterSchema, RequestParameter } from '../api/request-input.ts';

/** A JSON Schema of 2020-12, as OpenAPI 3.1 has it. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** The parameter's schema in a JSON body. */
export function bodySchemaOf(parameter: RequestParameter): JsonSchema {
  const { schema, isNullable, example } = parameter;
  const documented = { ...(isNullable ? nullable(schema) : schema), description: describe(parameter) };
  return { ...documented, examples: [example] };
}

/** The parameter's schema in a query or a header, where every value is text and nothing is null. */
export function querySchemaOf({ schema, querySchema }: RequestParameter): JsonSchema {
  return { ...(querySchema ?? schema) };
}

/** The parameter's description and default. */
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
