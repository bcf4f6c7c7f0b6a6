import type { JsonSchema, RequestParameters } from '../json-schema.ts';
import { bodies, schemasWith } from './components.ts';
import { type Operation, operations } from './operations.ts';

/** What the features add to the description of the API. */
export interface DescribedFeatures {
  /** Operations, and the id of the operation that they follow. */
  readonly operations: readonly { readonly after: string; readonly added: readonly Operation[] }[];
  /** Parameters of JSON bodies, by the names of their schemas. */
  readonly bodies: Readonly<Record<string, RequestParameters>>;
  readonly schemas: Readonly<Record<string, JsonSchema>>;
  /** What the merchant's interface is for. */
  readonly merchantSummary: string;
  /** Fields of each event. */
  readonly eventFields: Readonly<Record<string, JsonSchema>>;
}

/** Every operation of the API with the components that it refers to. */
export type ApiDescription = ReturnType<typeof describeApi>;

/** The description of the API with its features. */
export function describeApi(features: DescribedFeatures) {
  const addedAfter = (id: string) =>
    features.operations.flatMap(({ after, added }) => (after === id ? added : []));
  return {
    merchantSummary: features.merchantSummary,
    operations: operations.flatMap((operation) => [operation, ...addedAfter(operation.id)]),
    bodies: { ...bodies, ...features.bodies } as Readonly<Record<string, RequestParameters>>,
    schemas: schemasWith(features.schemas, features.eventFields) as Readonly<Record<string, JsonSchema>>,
  };
}
