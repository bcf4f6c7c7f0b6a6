import type { JsonSchema, RequestParameters } from '../json-schema.ts';
import { bodies, schemasWith } from './components.ts';
import { type Operation, operations } from './operations.ts';

/** What the features add to the description of the API. */
export interface DescribedFeatures {
  readonly merchantTag: string;
  /** Groups of operations, each with the id of the operation that it follows. */
  readonly operations: readonly { readonly after: string; readonly added: readonly Operation[] }[];
  readonly bodies: Readonly<Record<string, RequestParameters>>;
  readonly schemas: Readonly<Record<string, JsonSchema>>;
  readonly eventFields: Readonly<Record<string, JsonSchema>>;
}

export type ApiDescription = ReturnType<typeof describeApi>;

export function describeApi(features: DescribedFeatures) {
  const addedAfter = (id: string) =>
    features.operations.flatMap(({ after, added }) => (after === id ? added : []));
  return {
    merchantTag: features.merchantTag,
    operations: operations.flatMap((operation) => [operation, ...addedAfter(operation.id)]),
    bodies: { ...bodies, ...features.bodies } as Readonly<Record<string, RequestParameters>>,
    schemas: schemasWith(features.schemas, features.eventFields) as Readonly<Record<string, JsonSchema>>,
  };
}
