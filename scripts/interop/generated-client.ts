/**
 * A TypeScript client that openapi-typescript generates of the sandbox's document, in a program that uses every operation
 * of a merchant. It compiles against the generated types, and runs against Prism.
 */
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

const root = join(import.meta.dirname, '../..');
const run = promisify(execFile);

const program = `import createClient from 'openapi-fetch';
import type { paths } from './schema.d.ts';

const [baseUrl = '', key = '', step = '', paidId = ''] = process.argv.slice(2);
const client = createClient<paths>({ baseUrl, headers: { 'X-API-Key': key } });

function need<Data>({ data, error, response }: { data?: Data; error?: unknown; response: Response }): Data {
  if (data === undefined) throw new Error(response.status + ' ' + JSON.stringify(error));
  return data;
}

if (step === 'create') {
  const body = { address: '0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65', callback: 'https://shop.example.com/webhook', amount: '25.00' };
  const created = need(await client.POST('/api/v1/wallet', { body }));
  console.log(created.payment_id);
} else {
  const path = { payment_id: paidId };
  const status = need(await client.GET('/api/v1/payment-status', { params: { query: path } }));
  const isPaid: boolean = status.status === 'paid';
  if (!isPaid) throw new Error('the payment is ' + status.status);
  const list = need(await client.GET('/merchant/v1/payments', { params: { query: { limit: 10, expand: 'deposits' } } }));
  if (!list.payments.some((payment) => payment.payment_id === paidId)) throw new Error('the list lacks the payment');
  need(await client.GET('/merchant/v1/payments/{payment_id}', { params: { path } }));
  const { events } = need(await client.GET('/merchant/v1/events', { params: { query: { after: 0 } } }));
  if (!events.some(({ type }) => type === 'payment.paid')) throw new Error('no event says that it is paid');
  need(await client.GET('/merchant/v1/days', { params: { query: { days: 7 } } }));
  const month = new Date().toISOString().slice(0, 7);
  need(await client.GET('/merchant/v1/journal.csv', { params: { query: { month } }, parseAs: 'text' }));
  const direct = { address: '0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65', callback: 'https://shop.example.com/webhook', amount: '7.00' };
  const other = need(await client.POST('/merchant/v1/direct-payments', { body: direct }));
  need(await client.POST('/merchant/v1/payments/{payment_id}/cancel', { params: { path: { payment_id: other.payment_id } } }));

  const asked = need(await client.POST('/merchant/v1/payments/{payment_id}/refunds', { params: { path }, body: { amount: '5.00' } }));
  if (asked.status !== 'awaiting_address' || asked.address_url === null) throw new Error('there is no link');
  const destination = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC';
  const form = { method: 'POST', headers: { 'content-type': 'application/x-www-form-urlencoded' }, body: 'address=' + destination };
  await fetch(asked.address_url, form);
  const refund = { path: { refund_id: asked.refund_id } };
  const named = need(await client.GET('/merchant/v1/refunds/{refund_id}', { params: refund }));
  if (named.destination !== destination) throw new Error('the address is not stored');
  need(await client.POST('/merchant/v1/refunds/{refund_id}/confirm', { params: refund, body: { destination } }));
  const transaction = '0x' + '5b'.repeat(32);
  need(await client.POST('/merchant/v1/refunds/{refund_id}/transaction', { params: refund, body: { transaction } }));
  need(await client.POST('/merchant/v1/refunds/{refund_id}/cancel', { params: refund }));
  const again = await client.POST('/merchant/v1/refunds/{refund_id}/cancel', { params: refund });
  if (again.response.status !== 409 || again.error === undefined) throw new Error('a second cancellation is no conflict');
  need(await client.GET('/merchant/v1/payments/{payment_id}/refunds', { params: { path } }));
  console.log('done');
}
`;

/**
 * Generates and compiles the client, and runs it. Rejects with what the compiler or the program said.
 *
 * @param pay pays the payment with this id, and waits until it is paid
 */
export async function runGeneratedClient(
  { url, apiKey, document }: { readonly url: string; readonly apiKey: string; readonly document: string },
  pay: (paymentId: string) => Promise<unknown>,
): Promise<void> {
  mkdirSync(join(root, 'test-output'), { recursive: true });
  // Below the project, so that the program finds the packages.
  const folder = mkdtempSync(join(root, 'test-output', 'generated-client-'));
  const node = (...words: readonly string[]) => run(process.execPath, [...words], { cwd: root });
  try {
    const [documentFile, types, file] = ['openapi.json', 'schema.d.ts', 'program.mts'].map((name) =>
      join(folder, name),
    ) as [string, string, string];
    writeFileSync(documentFile, document);
    writeFileSync(file, program);
    await node('test/openapi/generate-client.ts', documentFile, types);
    const options = ['--ignoreConfig', '--noEmit', '--strict', '--skipLibCheck', '--target', 'es2024'];
    const modules = ['--module', 'nodenext', '--allowImportingTsExtensions', '--types', 'node'];
    await node('node_modules/typescript/bin/tsc', ...options, ...modules, file);
    const { stdout } = await node(file, url, apiKey, 'create');
    await pay(stdout.trim());
    await node(file, url, apiKey, 'use', stdout.trim());
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    throw new Error(`${stdout}${stderr}` || String(error), { cause: error });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
