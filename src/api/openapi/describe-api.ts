import type { JsonSchema, RequestParameters } from '../json-schema.ts';
import { bodies, schemasWith } from './components.ts';
import { type Operation, operations } from './operations.ts';

/** Parts that the features add to the description of the API. */
export interface DescribedFeatures {
  /** Description of the merchant API. */
  readonly merchantTag: string;
  /** Operations, each group after the operation with this id. */
  readonly operations: readonly { readonly after: string; readonly added: readonly Operation[] }[];
  /** JSON bodies by schema name. */
  readonly bodies: Readonly<Record<string, RequestParameters>>;
  readonly schemas: Readonly<Record<string, JsonSchema>>;
  /** Additional fields of each event. */
  readonly eventFields: Readonly<Record<string, JsonSchema>>;
}

/** All operations of the API, with the components that they refer to. */
export type ApiDescription = ReturnType<typeof describeApi>;

/** Composes the description of the API with its features. */
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
