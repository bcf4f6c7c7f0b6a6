/**
 * A parameter of a request, said once: the parser takes its limits and patterns from here, and the OpenAPI document
 * publishes the same.
 */
export interface RequestParameter {
  readonly isRequired: boolean;
  /** Whether `null` in JSON means the same as leaving it out. */
  readonly isNullable: boolean;
  /** JSON Schema of a value that is there, as it stands in a JSON body. */
  readonly schema: ParameterSchema;
  /** The same in a query, where there is only text; left out where nothing differs. */
  readonly querySchema?: ParameterSchema;
  /**
   * What counts where it is absent. Not the keyword of the schema: generators of clients take that for a promise that the
   * field is always there.
   */
  readonly default?: string | boolean;
  /** One or two sentences, in Markdown. */
  readonly description: string;
  readonly example: string | boolean;
}

/** What of JSON Schema (2020-12) the parameters need. */
export interface ParameterSchema {
  readonly type?: 'string' | 'number' | 'boolean';
  readonly pattern?: string;
  readonly not?: { readonly pattern: string };
  readonly minLength?: number;
  /** In code points, as JSON Schema counts. */
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly enum?: readonly string[];
  readonly format?: 'email' | 'uuid';
  readonly anyOf?: readonly ParameterSchema[];
}
