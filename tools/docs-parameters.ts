/** Generates the parts of docs/api.md from the tables of parameters. */
import { describe, type RequestParameter, type RequestParameters } from '../src/api/json-schema.ts';
import { createParameters, statusParameters } from '../src/api/parse-create-request.ts';
import { code, table } from './markdown.ts';

/** Parameters of a create and of a status read. */
export const createParameterTable = () => parameterTable(createParameters);
export const statusParameterTable = () => parameterTable(statusParameters);

function parameterTable(parameters: RequestParameters): string {
  return table(
    ['parameter', 'required', 'rules'],
    Object.entries(parameters).map(([name, parameter]) => [
      code(name),
      parameter.isRequired ? 'yes' : 'no',
      `${describe(parameter)}${allowedValues(parameter)}`,
    ]),
  );
}

function allowedValues({ schema }: RequestParameter): string {
  const { enum: values } = schema as { readonly enum?: readonly string[] };
  return values === undefined ? '' : ` One of ${values.map(code).join(', ')}.`;
}
