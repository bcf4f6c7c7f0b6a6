import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Sandbox, startSandbox } from '../../sandbox/start-sandbox.ts';
import { checksumAddress } from '../../src/payment/payout-address.ts';
import { freePorts } from '../support/free-ports.ts';
import { providerEnvironment, switchProviderOn } from '../support/provider-environment.ts';
import {
  runCommand,
  runJson,
  type ServiceEnvironment,
  type ServiceProcess,
  startServiceProcess,
} from '../support/service-process.ts';
import { readTokenBalance } from '../support/token-balance.ts';
import { waitFor } from '../support/wait-for.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../support/webhook-receiver.ts';

const silent = { debug() {}, info() {}, warn() {}, error() {} };

describe('live mode against a second local chain, with the simulators as providers', () => {
  let folder: string;
  let world: Sandbox;
  let receiver: WebhookReceiver;
  let environment: ServiceEnvironment;
  let service: ServiceProcess;
  let api: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'card-checkout-live-'));
    receiver = await startWebhookReceiver();
    writeFileSync(join(folder, 'ca.pem'), receiver.caPem);
    writeFileSync(join(folder, 'secret'), `${randomBytes(32).toString('hex')}\n`);
    world = await startSandbox({ dataDir: join(folder, 'world'), log: silent, blockIntervalMs: 300 });
    const [port, adminPort] = (await freePorts(2)) as [number, number];
    api = `http://127.0.0.1:${port}`;
    environment = {
      DATA_DIR: join(folder, 'data'),
      PORT: String(port),
      ADMIN_PORT: String(adminPort),
      SECRET_KEY_FILE: join(folder, 'secret'),
      CHAIN_ID: String(world.chainId),
      POLYGON_RPC_URL: `${world.rpcUrl},${world.anvilUrl}`,
      SETTLEMENT_TOKEN_ADDRESS: world.usdc,
      RELAYER_PRIVATE_KEY: world.relayerPrivateKey,
      FEE_WALLET: world.feeWallet,
      ...providerEnvironment(world),
      CALLBACK_ALLOWED_HOSTS: receiver.host,
      NODE_EXTRA_CA_CERTS: join(folder, 'ca.pem'),
      RATE_LIMIT_STATUS_PER_MINUTE: '100000',
    };
    const deployed = await runJson<{ deposit_factory_address: string }>(environment, 'contract', 'deploy');
    environment = { ...environment, DEPOSIT_FACTORY_ADDRESS: deployed.deposit_factory_address };
    service = await startServiceProcess(environment, { args: ['--live'] });
    await switchProviderOn(environment);
  });

  afterAll(async () => {
    await service?.end('SIGTERM');
    await world?.stop();
    await receiver?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  async function request(path: string, key: string, init: RequestInit = {}): Promise<Response> {
    const headers = { 'content-type': 'application/json', 'x-api-key': key };
    return fetch(`${api}${path}`, { ...init, headers, redirect: 'manual' });
  }

  it('makes a relayer key, and shows the balance of each key and how many payments it releases', async () => {
    const made = await runJson<{ relayer_private_key: string; address: string }>(
      environment,
      'relayer',
      'create',
    );
    expect(made.relayer_private_key).toMatch(/^0x[0-9a-f]{64}$/);
    const keys = `${world.relayerPrivateKey},${made.relayer_private_key}`;
    const shown = await runJson<{ address: string; balance_pol: number; payments: number }[]>(
      { ...environment, RELAYER_PRIVATE_KEY: keys },
      'relayer',
      'show',
    );
    const [funded, empty] = shown;
    expect(funded?.balance_pol).toBeGreaterThan(1);
    expect(funded?.payments).toBeGreaterThan(100);
    expect(empty).toEqual({ address: made.address, balance_pol: 0, payments: 0 });
  });

  it('takes a payment from the customer’s click to paid, with a factory that was deployed by the command line', async () => {
    const { account_id: account } = await runJson<{ account_id: string }>(
      environment,
      'account',
      'create',
      '--name',
      'Live shop',
      '--fee-percent',
      '1.25',
    );
    const { api_key: key } = await runJson<{ api_key: string }>(
      environment,
      'key',
      'create',
      '--account',
      account,
    );
    const merchant = checksumAddress(randomBytes(20).toString('hex'));
    const created = await request('/api/v1/wallet', key, {
      method: 'POST',
      body: JSON.stringify({ address: merchant, callback: receiver.url, amount: '80', provider: 'moonpay' }),
    });
    expect(created.status).toBe(200);
    const { payment_id: id } = (await created.json()) as { payment_id: string };

    const click = await fetch(`${api}/pay/${id}/providers/moonpay`, { method: 'POST', redirect: 'manual' });
    expect(click.status).toBe(303);
    await world.pay({ order: click.headers.get('location') as string });

    const readStatus = async () =>
      (await (await request(`/api/v1/payment-status?payment_id=${id}`, key)).json()) as Record<
        string,
        string
      >;
    const paid = await waitFor('the payment to be paid', 60_000, async () => {
      const status = await readStatus();
      return status['status'] === 'paid' ? status : undefined;
    });
    expect(paid['forward_status']).toBe('completed');
    expect(Number(await readTokenBalance(world.anvilUrl, world.usdc, merchant)) / 1e6).toBe(
      Number(paid['forwarded_amount']),
    );
    await waitFor('the webhook', 60_000, () => receiver.received.some(({ rawBody }) => rawBody.includes(id)));
  });

  it('answers nothing on the admin port that was sent to another site’s name', async () => {
    const statusOf = (path: string, host: string) =>
      new Promise<number | undefined>((resolve, reject) => {
        const at = { host: '127.0.0.1', port: environment['ADMIN_PORT'], path, headers: { host } };
        get(at, (answer) => resolve(answer.resume().statusCode)).on('error', reject);
      });
    for (const path of ['/operator/sign-in', '/metrics'])
      expect([await statusOf(path, 'evil.example'), await statusOf(path, 'localhost:3001')]).toEqual([
        400, 200,
      ]);
  });

  it('refuses to start with a factory that is none, and says so', async () => {
    const [port, adminPort] = (await freePorts(2)) as [number, number];
    const wrong = {
      ...environment,
      DATA_DIR: join(folder, 'other'),
      PORT: String(port),
      ADMIN_PORT: String(adminPort),
      DEPOSIT_FACTORY_ADDRESS: world.merchantWallet,
    };
    await expect(startServiceProcess(wrong, { args: ['--live'] })).rejects.toThrow(
      /no contract at the factory/i,
    );
  });

  it('starts while no RPC endpoint answers, takes payments, and says what is not verified', async () => {
    await service.end('SIGTERM');
    const outage = { ...environment, POLYGON_RPC_URL: 'http://127.0.0.1:1' };
    service = await startServiceProcess(outage, { args: ['--live'] });
    for (const port of [environment['PORT'], environment['ADMIN_PORT']]) {
      const health = await fetch(`http://127.0.0.1:${port}/health/ready`);
      expect(await health.json()).toMatchObject({
        status: 'ready',
        degraded: expect.arrayContaining(['factory_unverified']),
      });
    }
    const metrics = await (await fetch(`http://127.0.0.1:${environment['ADMIN_PORT']}/metrics`)).text();
    expect(metrics).toContain('card_checkout_deployment_verified 0');
    const { account_id: account } = await runJson<{ account_id: string }>(
      environment,
      'account',
      'create',
      '--name',
      'During an outage',
    );
    const { api_key: key } = await runJson<{ api_key: string }>(
      environment,
      'key',
      'create',
      '--account',
      account,
    );
    const body = { address: world.merchantWallet, callback: receiver.url, amount: '80', provider: 'multi' };
    const created = await request('/api/v1/wallet', key, { method: 'POST', body: JSON.stringify(body) });
    expect(created.status).toBe(200);
    const { checks } = JSON.parse(
      await runCommand(outage, 'doctor', '--json').catch((error) => error.stdout),
    ) as {
      checks: { name: string; level: string; detail: string }[];
    };
    const contract = checks.find(({ name }) => name === 'contract');
    expect(contract).toMatchObject({
      level: 'warn',
      detail: expect.stringContaining('an earlier one verified'),
    });
  });

  it('refuses to start on a chain with another id', async () => {
    const wrong = { ...environment, DATA_DIR: join(folder, 'other'), CHAIN_ID: '4242' };
    await expect(startServiceProcess(wrong, { args: ['--live'] })).rejects.toThrow(/serves chain 31337/i);
  });
});
