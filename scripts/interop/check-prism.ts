/**
 * The whole interface through Prism, a proxy that validates each request and answer against the OpenAPI document. With
 * `--errors` it answers 500 where the document and the service disagree.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { freePorts } from '../../test/support/free-ports.ts';
import { runCommand, startServiceProcess } from '../../test/support/service-process.ts';
import { waitFor } from '../../test/support/wait-for.ts';
import type { Outcome } from './check-proxy.ts';
import { runGeneratedClient } from './generated-client.ts';

/** Installed by `--install`, outside the project's own packages. */
export const prismPackage = '@stoplight/prism-cli@5.16.0';

/** The program in this folder; undefined where it is not installed. */
export function findPrism(folder: string): { readonly file: string; readonly version: string } | undefined {
  try {
    const require = createRequire(join(folder, 'package.json'));
    const file = require.resolve('@stoplight/prism-cli/package.json');
    const { version, bin } = require(file) as { version: string; bin: { prism: string } };
    return { file: join(file, '..', bin.prism), version };
  } catch {
    return undefined;
  }
}

interface Call {
  readonly name: string;
  readonly method?: 'GET' | 'POST';
  readonly path: string;
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
  readonly status: number;
}

const WALLET = '0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65';
const CUSTOMER = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC';
const CALLBACK = 'https://shop.example.com/webhook';

/** Sends each call through the proxy, and says what came instead of the expected answer. */
function callerOf(url: string, apiKey: string, outcomes: Outcome[]) {
  return async ({ name, method = 'GET', path, body, headers = {}, status }: Call) => {
    const response = await fetch(url + path, {
      method,
      headers: {
        'x-api-key': apiKey,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const problem = response.status === status ? null : `${response.status} instead of ${status}: ${text}`;
    const isKnown = problem === null && outcomes.some((outcome) => outcome.name === name);
    if (!isKnown) outcomes.push({ name, problem: problem?.slice(0, 1_500) ?? null });
    return text.startsWith('{') ? (JSON.parse(text) as Record<string, string>) : {};
  };
}

/** A sandbox behind Prism: every operation that a merchant's program uses, and refusals of some. */
export async function checkPrism(file: string, folder: string): Promise<readonly Outcome[]> {
  const [port = 0, adminPort = 0, prismPort = 0] = await freePorts(3);
  const environment = {
    DATA_DIR: join(folder, 'prism'),
    PORT: String(port),
    ADMIN_PORT: String(adminPort),
  };
  const service = await startServiceProcess(environment);
  let prism: ChildProcess | null = null;
  try {
    const own = `http://localhost:${port}`;
    const words = ['proxy', `${own}/openapi.json`, own, '--errors', '--port', String(prismPort)];
    prism = spawn(process.execPath, [file, ...words], { stdio: ['ignore', 'ignore', 'inherit'] });
    const url = `http://127.0.0.1:${prismPort}`;
    await waitFor('Prism', 60_000, () =>
      fetch(`${url}/health/live`).then(
        ({ ok }) => ok,
        () => false,
      ),
    );
    const outcomes: Outcome[] = [];
    const run = (...args: string[]) => runCommand(environment, ...args);
    const apiKey = service.demoKey();
    await callAll(callerOf(url, apiKey, outcomes), run);
    const document = await (await fetch(`${own}/openapi.json`)).text();
    const isPaid = async (id: string) => {
      const status = `${own}/api/v1/payment-status?payment_id=${id}`;
      const read = (await (await fetch(status, { headers: { 'x-api-key': apiKey } })).json()) as object;
      return 'status' in read && read.status === 'paid';
    };
    const problem = await runGeneratedClient({ url, apiKey, document }, async (id) => {
      await run('sandbox', 'pay', id);
      await waitFor('the payment of the generated client to be paid', 60_000, () => isPaid(id));
    }).then(
      () => null,
      (error: Error) => error.message.slice(0, 1_500),
    );
    outcomes.push({ name: 'carries a generated TypeScript client through every operation', problem });
    return outcomes;
  } finally {
    if (prism !== null && prism.exitCode === null) {
      prism.kill();
      await once(prism, 'exit');
    }
    await service.end('SIGTERM');
  }
}

async function callAll(
  call: ReturnType<typeof callerOf>,
  run: (...args: string[]) => Promise<unknown>,
): Promise<void> {
  const order = { address: WALLET, callback: CALLBACK, amount: '25.00' };
  const post = { method: 'POST', path: '/api/v1/wallet' } as const;
  // Prism's own refusal: it validates, and does not only pass on.
  await call({
    ...post,
    name: 'has a request refused that breaks the document',
    body: { ...order, amount: true },
    status: 422,
  });
  const { payment_id: id = '' } = await call({
    ...post,
    name: 'creates a checkout',
    body: order,
    status: 200,
  });
  await call({
    ...post,
    name: 'refuses a key that does not exist',
    body: order,
    headers: { 'x-api-key': 'none' },
    status: 401,
  });
  const other = await call({
    ...post,
    name: 'creates another one',
    body: { ...order, note: 'Ünïcode 🍵' },
    status: 200,
  });
  await run('sandbox', 'pay', id);
  const readStatus = () =>
    call({ name: 'reads a status', path: `/api/v1/payment-status?payment_id=${id}`, status: 200 });
  await waitFor('the payment to be paid', 60_000, async () => (await readStatus())['status'] === 'paid');

  const expanded = 'expand=deposits,releases,sessions,webhooks';
  const merchant = '/merchant/v1';
  await call({ name: 'lists payments', path: `${merchant}/payments?limit=20&${expanded}`, status: 200 });
  await call({ name: 'reads a payment', path: `${merchant}/payments/${id}?${expanded}`, status: 200 });
  await call({ name: 'follows events', path: `${merchant}/events?after=0`, status: 200 });
  await call({ name: 'reads days', path: `${merchant}/days?days=7`, status: 200 });
  const month = new Date().toISOString().slice(0, 7);
  await call({ name: 'reads the journal', path: `${merchant}/journal.csv?month=${month}`, status: 200 });
  const direct = { address: WALLET, callback: CALLBACK, amount: '7.00' };
  await call({
    name: 'creates a direct payment',
    method: 'POST',
    path: `${merchant}/direct-payments`,
    body: direct,
    status: 200,
  });
  await call({
    name: 'cancels a payment',
    method: 'POST',
    path: `${merchant}/payments/${other['payment_id']}/cancel`,
    status: 200,
  });
  await call({
    name: 'refuses to cancel a paid one',
    method: 'POST',
    path: `${merchant}/payments/${id}/cancel`,
    status: 409,
  });
  const refund = { amount: '5.00', destination: CUSTOMER, reason: 'Returned' };
  const refunds = `${merchant}/payments/${id}/refunds`;
  const opened = await call({
    name: 'opens a refund',
    method: 'POST',
    path: refunds,
    body: refund,
    status: 200,
  });
  await call({ name: 'lists refunds', path: refunds, status: 200 });
  const own = `${merchant}/refunds/${opened['refund_id']}`;
  await call({ name: 'reads a refund', path: own, status: 200 });
  await call({
    name: 'confirms no address that the customer did not name',
    method: 'POST',
    path: `${own}/confirm`,
    body: { destination: CUSTOMER },
    status: 409,
  });
  await call({ name: 'cancels a refund', method: 'POST', path: `${own}/cancel`, status: 200 });
  await call({ name: 'refuses a refund twice canceled', method: 'POST', path: `${own}/cancel`, status: 409 });
  await call({
    name: 'knows no other refund',
    path: `${merchant}/refunds/rfd_${'0'.repeat(20)}`,
    status: 404,
  });
  await call({ name: 'publishes its settlement', path: '/.well-known/card-checkout.json', status: 200 });
  await call({ name: 'is ready', path: '/health/ready', status: 200 });
}
