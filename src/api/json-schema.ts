/** JSON Schema 2020-12, as in OpenAPI 3.1. `Schema` adds the type of the values: one source for answers and docs. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** Symbol that exists for the type checker only. */
declare const described: unique symbol;
export type Schema<Value> = JsonSchema & { readonly [described]?: Value };
export type ValueOf<Described> = Described extends Schema<infer Value> ? Value : never;

/** Creates a schema builder for a type. The example of a whole answer uses the first example of each field. */
const field =
  <Value>(type: string | readonly string[], always: JsonSchema = {}) =>
  (description: string, example: Value | readonly Value[], more: JsonSchema = {}): Schema<Value> => ({
    type,
    description,
    examples: [example].flat(),
    ...always,
    ...more,
  });

const FIAT_PATTERN = '^[0-9]+\\.[0-9]{2}$';
const USDC_PATTERN = '^[0-9]+\\.[0-9]{6}$';
export const ADDRESS_PATTERN = '^0x[0-9a-fA-F]{40}$';
export const HASH_PATTERN = '^0x[0-9a-f]{64}$';

export const EXAMPLE_ID = '01a1fbd7-b7b3-7002-be38-5df3e4ebf9f4';
export const EXAMPLE_HASH = `0x${'5b484cd3e9340db0'.repeat(4)}`;
export const EXAMPLE_ADDRESS = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC';

export const text = field<string>('string');
export const textOrNull = field<string | null>(['string', 'null']);
export const yesOrNo = field<boolean>('boolean');
export const decimal = field<number>('number');
export const count = field<number>('integer', { minimum: 0 });
export const countOrNull = field<number | null>(['integer', 'null']);
export const texts = field<Readonly<Record<string, string>>>('object', {
  additionalProperties: { type: 'string' },
});
export const address = field<string>('string', { pattern: ADDRESS_PATTERN });
export const fiat = field<string>('string', { pattern: FIAT_PATTERN });
export const fiatOrNull = field<string | null>(['string', 'null'], { pattern: FIAT_PATTERN });
export const hashOrNull = field<string | null>(['string', 'null'], { pattern: HASH_PATTERN });

export const usdc = (description: string, example = '21.010000') =>
  text(description, example, { pattern: USDC_PATTERN });
export const usdcOrNull = (description: string, example = '21.010000') =>
  textOrNull(description, example, { pattern: USDC_PATTERN });
export const TIME = { format: 'date-time' };
export const time = (description: string) => text(description, '2026-11-21T02:03:09.770Z', TIME);
export const timeOrNull = (description: string) => textOrNull(description, null, TIME);

export const word = <const Word extends string>(values: readonly Word[]): Schema<Word> => ({
  type: 'string',
  enum: values,
});
export const oneOf = <const Word extends string>(
  description: string,
  values: readonly Word[],
  example: NoInfer<Word> | undefined = values[0],
): Schema<Word> => ({ ...word(values), description, examples: [example] });
/** Creates a named enum that later versions may extend. Clients must therefore accept any string. */
export const openWord = <const Word extends string>(
  title: string,
  ...own: Parameters<typeof oneOf<Word>>
): Schema<Word> => ({ ...oneOf(...own), title });
export const oneOfOrNull = <const Word extends string>(
  description: string,
  values: readonly Word[],
): Schema<Word | null> => ({
  type: ['string', 'null'],
  enum: [...values, null],
  description,
  examples: [null],
});

/** Creates the schema of an object whose fields are always present, except those in `optional`. */
export function object<
  Fields extends Readonly<Record<string, JsonSchema>>,
  Optional extends keyof Fields & string = never,
>(properties: Fields, optional: readonly Optional[] = []) {
  const required = Object.keys(properties).filter((name) => !optional.some((each) => each === name));
  return { type: 'object', required, properties } as {
    readonly type: 'object';
    readonly required: readonly string[];
    readonly properties: Fields;
  } & Schema<
    { readonly [Name in Exclude<keyof Fields, Optional>]: ValueOf<Fields[Name]> } & {
      readonly [Name in Optional]?: ValueOf<Fields[Name]>;
    }
  >;
}

/** Creates the schema of a nested object with a separate component in the OpenAPI document. */
export const named =
  (title: string) =>
  <Fields extends Readonly<Record<string, JsonSchema>>>(properties: Fields) => ({
    ...object(properties),
    title,
  });

export const list = <Item>(
  description: string,
  items: Schema<Item>,
  example: readonly NoInfer<Item>[] = [],
): Schema<readonly Item[]> => ({ type: 'array', description, items, examples: [example] });

export const orNull = <Value>(description: string, schema: Schema<Value>): Schema<Value | null> => ({
  anyOf: [schema, { type: 'null' }],
  description,
  examples: [null],
});

export const reference = <Described>(name: string): Schema<ValueOf<Described>> => ({
  $ref: `#/components/schemas/${name}`,
});

/** Request parameter. The parser takes limits and patterns from here, and the OpenAPI document publishes them. */
export interface RequestParameter {
  readonly isRequired?: boolean;
  /** Whether `null` in JSON means the same as omission. */
  readonly isNullable?: boolean;
  readonly schema: JsonSchema;
  /** Schema in a query, where every value is text; omitted if it equals `schema`. */
  readonly querySchema?: JsonSchema;
  /** Value if absent. Not in the schema, because generators take a `default` to mean that the field is present. */
  readonly default?: string | boolean;
  /** One or two sentences in Markdown. */
  readonly description: string;
  readonly example: string | number | boolean | object;
}
export type RequestParameters = Readonly<Record<string, RequestParameter>>;

export function bodyOf(parameters: RequestParameters): JsonSchema {
  const entries = Object.entries(parameters);
  const required = entries.filter(([, { isRequired }]) => isRequired).map(([name]) => name);
  const properties = entries.map(([name, parameter]) => {
    const { schema, isNullable, example } = parameter;
    const { enum: values } = schema as { readonly enum?: readonly unknown[] };
    const orNull = { type: [schema['type'], 'null'], ...(values && { enum: [...values, null] }) };
    const more = { description: describe(parameter), examples: [example] };
    return [name, { ...schema, ...(isNullable && orNull), ...more }];
  });
  return {
    type: 'object',
    ...(required.length > 0 && { required }),
    properties: Object.fromEntries(properties),
  };
}

export function describe({ description, default: fallback }: RequestParameter): string {
  return fallback === undefined ? description : `${description} Default: \`${fallback}\`.`;
}
