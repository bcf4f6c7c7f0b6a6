import type { createOpenApiDocument } from '../../api/openapi/create-openapi-document.ts';
import { dataTable } from '../../web/design/data-table.ts';
import { type Html, html, nothing } from '../../web/design/html.ts';
import { codeBlock, renderInlineMarkdown } from './render-markdown.ts';

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required: boolean;
  readonly description: string;
  readonly example?: unknown;
}
interface Body {
  readonly schema: { readonly $ref: string };
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
}
type Content = Readonly<Record<string, Body>>;
interface DescribedOperation {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly tags?: readonly string[];
  readonly security?: readonly unknown[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly description: string; readonly content?: Content }>>;
}
interface Field {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly anyOf?: readonly Field[];
  readonly items?: Field;
  readonly description?: string;
  readonly enum?: readonly unknown[];
}
interface Schema extends Field {
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Field>>;
}

type Schemas = Readonly<Record<string, Schema>>;
type ApiDocument = ReturnType<typeof createOpenApiDocument>;
type Paths = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

export interface Operation extends DescribedOperation {
  readonly method: string;
  /** Path of the operation; null for an event, which the service sends to the merchant's `callback`. */
  readonly path: string | null;
}

export function operationsOf({ paths, webhooks }: ApiDocument): readonly Operation[] {
  const operations = (named: Paths, isEvent: boolean) =>
    Object.entries(named).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, described]) => ({
        ...(described as DescribedOperation),
        method: method.toUpperCase(),
        path: isEvent ? null : path,
      })),
    );
  return [...operations(paths, false), ...operations(webhooks, true)];
}

export function listOfOperations(operations: readonly Operation[]): Html {
  const groups = [...Map.groupBy(operations, ({ path, tags = [] }) => (path === null ? 'Events' : tags[0]))];
  return html`<h1>API reference</h1>
<p>Made of <a href="/openapi.json">openapi.json</a>, which is made of what the server validates with.
For generators without OpenAPI 3.1: <a href="/openapi-3.0.json">openapi-3.0.json</a>.</p>
${groups.map(
  ([group = 'Other', own]) => html`<h2>${group}</h2><ul>
${own.map((each) => html`<li><a href="/docs/reference/${each.operationId}">${each.summary}</a> ${methodAndPath(each)}</li>`)}</ul>`,
)}`;
}

const methodAndPath = ({ method, path }: Operation) =>
  html`<span class="badge">${method}</span> <code>${path ?? 'your callback'}</code>`;

/** Renders the page of an operation: text and fields, beside a request and its response. */
export function operationContent(document: ApiDocument, operation: Operation, baseUrl: string): Html {
  const { operationId, summary, description, parameters = [], requestBody, responses } = operation;
  const schemas = document.components.schemas as Schemas;
  const body = requestBody?.content;
  const success = Object.values(responses)[0]?.content;
  const examples = (content: Content | undefined) =>
    content === undefined ? [] : examplesOf(content).map(([, value]) => exampleBlock(value, baseUrl));
  const objects = new Set<string>();
  const add = (name: string) => {
    if (objects.has(name)) return;
    objects.add(name);
    const referred = JSON.stringify(schemas[name]).matchAll(/#\/components\/schemas\/(\w+)/g);
    for (const [, inside = ''] of referred) add(inside);
  };
  const contents = [body, ...Object.values(responses).map(({ content }) => content)];
  for (const content of contents) if (content !== undefined) add(nameIn(content));
  if (body !== undefined) objects.delete(nameIn(body));
  return html`<h1 id="${operationId}">${summary}</h1>
<div class="beside"><div>
<p>${methodAndPath(operation)}</p>
<p>${renderInlineMarkdown(description)}</p>
${dataTable({ label: `Parameters of ${operationId}`, empty: nothing }, parameters, {
  parameter: ({ name, in: place, required }) => named(name, place, required),
  rules: ({ description }) => renderInlineMarkdown(description),
})}
${body === undefined ? nothing : html`<h2>Body</h2>${objectSection(nameIn(body), schemas)}`}
<h2>Answers</h2>
${Object.entries(responses).map(
  ([status, { description: words, content }]) => html`<details>
<summary><code>${status}</code> ${renderInlineMarkdown(words)}</summary>
${content === undefined ? nothing : contentDetails(content, baseUrl)}
</details>
`,
)}
<h2>Objects</h2>
${[...objects].map((name) => objectSection(name, schemas))}</div>
<div>${operation.path === null ? nothing : html`<h2>Request</h2>${codeBlock(curlOf(operation, baseUrl), 'sh')}`}
${examples(body).slice(operation.path === null ? 0 : 1)}
${success === undefined ? nothing : html`<h2>Answer</h2>${examples(success).slice(0, 1)}`}</div></div>`;
}

function curlOf(
  { method, path, security, parameters = [], requestBody }: Operation,
  baseUrl: string,
): string {
  const exampleOf = (named: string) =>
    String(parameters.find(({ name }) => name === named)?.example ?? `{${named}}`);
  const filled = (path ?? '').replace(/\{(\w+)\}/g, (_braces, name) => exampleOf(name));
  const query = parameters.filter((each) => each.in === 'query' && each.required);
  const search = query.map(({ name }) => `${name}=${encodeURIComponent(exampleOf(name))}`).join('&');
  const [example] = requestBody === undefined ? [] : examplesOf(requestBody.content);
  return [
    `curl${method === 'POST' && example === undefined ? ' -X POST' : ''} '${baseUrl}${filled}${search === '' ? '' : `?${search}`}'`,
    ...(security?.length === 0 ? [] : ['-H "X-API-Key: $API_KEY"']),
    ...(example === undefined
      ? []
      : [
          "-H 'Content-Type: application/json'",
          `-d '${JSON.stringify(example[1], null, 2).replaceAll("'", "'\\''")}'`,
        ]),
  ].join(' \\\n  ');
}

function bodyIn(content: Content): readonly [type: string, body: Body] {
  return Object.entries(content)[0] as [string, Body];
}

const nameIn = (content: Content): string => bodyIn(content)[1].schema.$ref.split('/').at(-1) ?? '';

function examplesOf(content: Content): readonly (readonly [title: string, value: unknown])[] {
  const { example, examples = {} } = bodyIn(content)[1];
  if (example !== undefined) return [['', example]];
  return Object.entries(examples).map(([title, { value }]) => [title, value]);
}

function exampleBlock(value: unknown, baseUrl: string): Html {
  if (typeof value === 'string') return codeBlock(value, '');
  return codeBlock(JSON.stringify(value, null, 2).replaceAll(EXAMPLE_BASE_URL, `${baseUrl}/`), 'json');
}

/** Base URL in the examples of the OpenAPI document. */
const EXAMPLE_BASE_URL = 'https://pay.example/';

function contentDetails(content: Content, baseUrl: string): Html {
  const name = nameIn(content);
  return html`<p>${bodyIn(content)[0] === 'text/csv' ? 'CSV' : 'JSON'}: <a href="#object-${name}">${name}</a></p>
${examplesOf(content).map(
  ([title, value]) => html`${title === '' ? nothing : html`<p><code>${title}</code></p>`}
${exampleBlock(value, baseUrl)}`,
)}`;
}

function objectSection(name: string, schemas: Schemas): Html {
  const schema = schemas[name];
  if (schema === undefined) return nothing;
  return html`<section><h3 id="object-${name}">${name}</h3>
${schema.description === undefined ? nothing : html`<p>${renderInlineMarkdown(schema.description)}</p>`}
${
  schema.anyOf === undefined
    ? fieldTable(`Fields of ${name}`, schema)
    : html`<p>Any text. Known values: ${allowedValues(schema.anyOf[0]?.enum ?? [])}.</p>`
}</section>`;
}

function fieldTable(label: string, { properties = {}, required = [] }: Schema): Html {
  return dataTable(label, Object.entries(properties), {
    field: ([name, field]) => named(name, typeOf(field), required.includes(name)),
    'what it is': ([, { description = '', enum: allowed }]) =>
      html`${renderInlineMarkdown(description)}${allowed === undefined ? nothing : html` One of: ${allowedValues(allowed)}.`}`,
  });
}

function typeOf({ $ref, type = 'object', anyOf, items }: Field): Html {
  const name = ($ref ?? items?.$ref)?.split('/').at(-1);
  if (name !== undefined)
    return html`${items === undefined ? '' : 'array of '}<a href="#object-${name}">${name}</a>`;
  const types = anyOf?.map(typeOf) ?? [type].flat();
  return html`${types.map((each, index) => html`${index === 0 ? '' : ' or '}${each}`)}`;
}

function named(name: string, kind: string | Html, isRequired: boolean): Html {
  return html`<code>${name}</code><br><span class="small soft">${kind}${isRequired ? '' : ', optional'}</span>`;
}

function allowedValues(allowed: readonly unknown[]): Html[] {
  return allowed.map((value, index) => html`${index === 0 ? '' : ', '}<code>${String(value)}</code>`);
}
