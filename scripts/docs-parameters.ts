/** The parts of docs/api.md that follow from the tables of parameters. */
import { describe } from '../docs-site/openapi/json-schema.ts';
import { createParameters, statusParameters } from '../src/http/api/create-parameters.ts';
import type { RequestParameter } from '../src/http/api/request-input.ts';
import { code, table } from './markdown.ts';

/** What a create takes, and what a status read takes. */
export const createParameterTable = () => parameterTable(createParameters);
export const statusParameterTable = () => parameterTable(statusParameters);

function parameterTable(parameters: Readonly<Record<string, RequestParameter>>): string {
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
  return schema.enum === undefined ? '' : ` One of ${schema.enum.map(code).join(', ')}.`;
}
