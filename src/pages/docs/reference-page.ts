import type { createOpenApiDocument } from '../../api/openapi/create-openapi-document.ts';
import { dataTable } from '../../web/design/data-table.ts';
import { type Html, html, nothing } from '../../web/design/html.ts';
import { codeBlock, renderInlineMarkdown } from './render-markdown.ts';

/** Parts of the OpenAPI document that the page shows. */
interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required: boolean;
  readonly description: string;
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
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly description: string; readonly content?: Content }>>;
}
interface Field {
  readonly type?: string | readonly string[];
  readonly anyOf?: readonly { readonly type?: string }[];
  readonly description?: string;
  readonly enum?: readonly unknown[];
}
interface Schema {
  readonly description?: string;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Field>>;
}

type Paths = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

export function referenceContent(document: ReturnType<typeof createOpenApiDocument>): Html {
  const schemas = document.components.schemas as Readonly<Record<string, Schema>>;
  const sections = (named: Paths) =>
    Object.entries(named).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) =>
        operationSection(schemas, method.toUpperCase(), path, operation as DescribedOperation),
      ),
    );
  return html`<h1>API reference</h1>
<p>Made of <a href="/openapi.json">openapi.json</a>, which is made of what the server validates with.</p>
${sections(document.paths)}
<h2 id="events">Events</h2>
<p>What the service sends to your <code>callback</code>.</p>
${sections(document.webhooks)}
<h2 id="objects">Objects</h2>
${Object.entries(schemas).map(([name, schema]) => objectSection(name, schema))}`;
}

function operationSection(
  schemas: Readonly<Record<string, Schema>>,
  method: string,
  path: string,
  { operationId, summary, description, parameters = [], requestBody, responses }: DescribedOperation,
): Html {
  return html`<section>
<h2 id="${operationId}">${summary}</h2>
<p class="operation"><span class="badge">${method}</span> <code>${path}</code></p>
<p>${renderInlineMarkdown(description)}</p>
${dataTable({ label: `Parameters of ${operationId}`, empty: nothing }, parameters, {
  parameter: ({ name }) => html`<code>${name}</code>`,
  in: ({ in: place }) => place,
  required: ({ required }) => yesOrNo(required),
  rules: ({ description }) => renderInlineMarkdown(description),
})}
${requestBody === undefined ? nothing : html`<h3>Body</h3>${contentDetails(requestBody.content)}${fieldsOf(schemas, requestBody.content)}`}
<h3>Answers</h3>
${Object.entries(responses).map(
  ([status, { description: words, content }]) => html`<details>
<summary><code>${status}</code> ${renderInlineMarkdown(words)}</summary>
${content === undefined ? nothing : contentDetails(content)}
</details>
`,
)}
</section>
`;
}

function contentDetails(content: Content): Html {
  const [[type, { schema, example, examples = {} }]] = Object.entries(content) as [[string, Body]];
  const name = schema.$ref.split('/').at(-1) ?? '';
  const shown = example === undefined ? Object.entries(examples) : [['', { value: example }] as const];
  return html`<p>${type === 'text/csv' ? 'CSV' : 'JSON'}: <a href="#object-${name}">${name}</a></p>
${shown.map(
  ([title, { value }]) => html`${title === '' ? nothing : html`<p><code>${title}</code></p>`}
${typeof value === 'string' ? codeBlock(value, '') : codeBlock(JSON.stringify(value, null, 2), 'json')}`,
)}`;
}

function fieldsOf(schemas: Readonly<Record<string, Schema>>, content: Content): Html {
  const name = content['application/json']?.schema.$ref.split('/').at(-1) ?? '';
  const schema = schemas[name];
  return schema === undefined ? nothing : fieldTable(`Fields of the body, ${name}`, schema);
}

function objectSection(name: string, schema: Schema): Html {
  return html`<section><h3 id="object-${name}">${name}</h3>
${schema.description === undefined ? nothing : html`<p>${renderInlineMarkdown(schema.description)}</p>`}
${fieldTable(`Fields of ${name}`, schema)}</section>`;
}

function fieldTable(label: string, { properties = {}, required = [] }: Schema): Html {
  return dataTable(label, Object.entries(properties), {
    field: ([name]) => html`<code>${name}</code>`,
    type: ([, { type = 'object', anyOf }]) =>
      (anyOf?.map((each) => each.type ?? 'object') ?? [type].flat()).join(' or '),
    'always there': ([name]) => yesOrNo(required.includes(name)),
    'what it is': ([, { description = '', enum: allowed }]) =>
      html`${renderInlineMarkdown(description)}${allowed === undefined ? nothing : html` One of: ${allowedValues(allowed)}.`}`,
  });
}

const yesOrNo = (is: boolean) => (is ? 'yes' : 'no');

function allowedValues(allowed: readonly unknown[]): Html[] {
  return allowed.map((value, index) => html`${index === 0 ? '' : ', '}<code>${String(value)}</code>`);
}
