/**
 * A client that a public generator makes of the document: it has to compile, to refuse what the document refuses, and to
 * create a checkout at a real server.
 */
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createOpenApiDocument } from '../../docs-site/openapi/create-openapi-document.ts';
import { root } from '../docs/markdown.ts';
import { type ApiService, createApiService, validRequest } from '../support/api-service.ts';

let folder: string;
let service: ApiService;

beforeAll(async () => {
  mkdirSync(join(root, 'test-output'), { recursive: true });
  // Below the project, so that what is compiled there finds the packages.
  folder = mkdtempSync(join(root, 'test-output', 'openapi-client-'));
  service = await createApiService();
  await service.server.listen({ host: '127.0.0.1', port: 0 });
});
afterAll(async () => {
  await service.close();
  rmSync(folder, { recursive: true });
});

interface Run {
  readonly isSuccess: boolean;
  readonly output: string;
}

function runNode(parameters: readonly string[]): Promise<Run> {
  return new Promise((resolve) => {
    execFile(process.execPath, [...parameters], { cwd: root, timeout: 180_000 }, (error, stdout, stderr) => {
      resolve({ isSuccess: error === null, output: `${stdout}${stderr}` });
    });
  });
}

/** What the compiler says of a program beside the generated types. */
async function compile(name: string, code: string): Promise<string> {
  const file = join(folder, name);
  writeFileSync(file, code);
  const options = ['--ignoreConfig', '--noEmit', '--strict', '--skipLibCheck', '--target', 'es2024'];
  const allowed = ['--module', 'nodenext', '--allowImportingTsExtensions', '--types', 'node'];
  return (await runNode(['node_modules/typescript/bin/tsc', ...options, ...allowed, file])).output;
}

function program(body: object): string {
  const { port } = service.server.server.address() as AddressInfo;
  return `import createClient from 'openapi-fetch';
import type { paths } from './schema.d.ts';

const headers = { 'X-API-Key': '${service.apiKey}' };
const client = createClient<paths>({ baseUrl: 'http://127.0.0.1:${port}', headers });
const { data, error } = await client.POST('/api/v1/wallet', { body: ${JSON.stringify(body)} });
if (error !== undefined) throw new Error(error.code ?? error.error);
const checkoutUrl: string = data.checkout_url;
const original: string | null = data.original_amount;
const query = { payment_id: data.payment_id };
const read = await client.GET('/api/v1/payment-status', { params: { query } });
const isUnpaid: boolean = read.data?.status === 'unpaid';
console.log(JSON.stringify({ checkoutUrl, original, isUnpaid }));
`;
}

it('is generated, compiles, and creates a checkout whose status it reads', async () => {
  const documentFile = join(folder, 'openapi.json');
  writeFileSync(documentFile, JSON.stringify(createOpenApiDocument('https://pay.example.com')));
  const generated = await runNode([
    'test/openapi/generate-client.ts',
    documentFile,
    join(folder, 'schema.d.ts'),
  ]);
  expect(generated).toEqual({ isSuccess: true, output: '' });

  const right = { ...validRequest, currency: 'EUR', passFeeToCustomer: true };
  expect(await compile('right.mts', program(right))).toBe('');
  const { output } = await runNode([join(folder, 'right.mts')]);
  const said = JSON.parse(output) as Record<string, unknown>;
  expect(said).toMatchObject({ original: '100.00', isUnpaid: true });
  expect(said['checkoutUrl']).toMatch(/^https:\/\/pay\.example\.com\/pay\//);

  const { callback: _, ...incomplete } = validRequest;
  expect(await compile('incomplete.mts', program(incomplete))).toContain("'callback' is missing");
  expect(await compile('unknown.mts', program({ ...right, currency: 'GBP' }))).toContain('"GBP"');
  expect(await compile('misspelt.mts', program(right).replace("'unpaid'", "'unpayed'"))).toContain(
    'no overlap',
  );
});
