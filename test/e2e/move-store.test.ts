import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Sandbox, startSandbox } from '../../simulators/start-sandbox.ts';
import { freePorts } from '../support/free-ports.ts';
import { type PostgresServer, startPostgres } from '../support/postgres.ts';
import { providerEnvironment, switchProviderOn } from '../support/provider-environment.ts';
import {
  runJson,
  type ServiceEnvironment,
  type ServiceProcess,
  startServiceProcess,
} from '../support/service-process.ts';
import { waitFor } from '../support/wait-for.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../support/webhook-receiver.ts';

const silent = { debug() {}, info() {}, warn() {}, error() {} };

describe('a service that is moved from SQLite to PostgreSQL', () => {
  let folder: string;
  let postgres: PostgresServer;
  let world: Sandbox;
  let receiver: WebhookReceiver;
  let environment: ServiceEnvironment;
  let running: ServiceProcess | undefined;
  let key: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'card-checkout-moved-'));
    postgres = await startPostgres();
    receiver = await startWebhookReceiver();
    writeFileSync(join(folder, 'ca.pem'), receiver.caPem);
    world = await startSandbox({ dataDir: join(folder, 'world'), log: silent, blockIntervalMs: 300 });
    const [port, adminPort] = (await freePorts(2)) as [number, number];
    environment = {
      DATA_DIR: join(folder, 'data'),
      PORT: String(port),
      ADMIN_PORT: String(adminPort),
      SECRET_KEY: 'the same secret key before and after',
      CHAIN_ID: String(world.chainId),
      POLYGON_RPC_URL: world.rpcUrl,
      SETTLEMENT_TOKEN_ADDRESS: world.usdc,
      RELAYER_PRIVATE_KEY: world.relayerPrivateKey,
      DEPOSIT_FACTORY_ADDRESS: world.factory,
      FEE_WALLET: world.feeWallet,
      ...providerEnvironment(world),
      CALLBACK_ALLOWED_HOSTS: receiver.host,
      NODE_EXTRA_CA_CERTS: join(folder, 'ca.pem'),
      RATE_LIMIT_STATUS_PER_MINUTE: '100000',
    };
  });

  afterAll(async () => {
    await running?.end('SIGTERM');
    await world?.stop();
    await receiver?.stop();
    await postgres?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  async function start(): Promise<void> {
    running = await startServiceProcess(environment, { args: ['--live'], boundMs: 60_000 });
  }

  function request(path: string, body?: unknown): Promise<Response> {
    const headers = { 'content-type': 'application/json', 'x-api-key': key };
    const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
    return fetch(`http://127.0.0.1:${environment['PORT']}${path}`, { headers, ...init });
  }

  async function create(): Promise<string> {
    const terms = {
      address: world.merchantWallet,
      callback: receiver.url,
      amount: '80',
      provider: 'moonpay',
    };
    const response = await request('/api/v1/wallet', terms);
    expect(response.status).toBe(200);
    return ((await response.json()) as { payment_id: string }).payment_id;
  }

  /** Begins the visit at the provider, whose order can be paid later. */
  async function beginSession(id: string): Promise<string> {
    const url = `http://127.0.0.1:${environment['PORT']}/pay/${id}/providers/moonpay`;
    const click = await fetch(url, { method: 'POST', redirect: 'manual' });
    return click.headers.get('location') as string;
  }

  async function readStatus(id: string): Promise<Readonly<Record<string, unknown>>> {
    const response = await request(`/api/v1/payment-status?payment_id=${id}`);
    expect(response.status).toBe(200);
    return (await response.json()) as Record<string, unknown>;
  }

  const webhooksOf = (id: string) => receiver.received.filter(({ rawBody }) => rawBody.includes(id));

  async function untilPaid(id: string): Promise<void> {
    await waitFor('the payment to be paid', 60_000, async () => (await readStatus(id))['status'] === 'paid');
    await waitFor('the webhook', 60_000, () => webhooksOf(id).length > 0);
  }

  it('knows the same key, has what was paid, ends what had begun, and sends no webhook twice', async () => {
    await start();
    await switchProviderOn(environment);
    const account = await runJson<{ account_id: string }>(environment, 'account', 'create', '--name', 'Shop');
    const made = await runJson<{ api_key: string }>(
      environment,
      'key',
      'create',
      '--account',
      account.account_id,
    );
    key = made.api_key;
    const [paid, begun] = [await create(), await create()];
    await world.pay({ order: await beginSession(paid) });
    const order = await beginSession(begun);
    await untilPaid(paid);
    const before = await readStatus(paid);

    await running?.end('SIGTERM');
    // Paid while nobody watches.
    await world.pay({ order });
    environment = { ...environment, DATABASE_URL: await postgres.createDatabase() };
    const report = await runJson<{ moved: boolean; tables: { table: string; source_rows: number }[] }>(
      environment,
      'move-store',
      '--from',
      'sqlite',
      '--to',
      'postgres',
    );
    expect(report.moved).toBe(true);
    expect(report.tables).toContainEqual(expect.objectContaining({ table: 'payments', source_rows: 2 }));

    await start();
    expect(await readStatus(paid)).toEqual(before);
    await untilPaid(begun);
    const later = await create();
    await world.pay({ order: await beginSession(later) });
    await untilPaid(later);
    for (const id of [paid, begun, later]) expect(webhooksOf(id)).toHaveLength(1);
  });
});
