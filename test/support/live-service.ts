import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Sandbox, startSandbox } from '../../sandbox/start-sandbox.ts';
import type { CreatedPayment } from './e2e-service.ts';
import { freePorts } from './free-ports.ts';
import { liveEnvironment, switchProviderOn } from './provider-environment.ts';
import {
  runJson,
  type ServiceEnvironment,
  type ServiceProcess,
  startServiceProcess,
} from './service-process.ts';
import { startWebhookReceiver, type WebhookReceiver } from './webhook-receiver.ts';

/** A chain with a factory and on-ramps, in which machines with the service come and go; everything is temporary. */
export interface LiveWorld {
  readonly folder: string;
  readonly sandbox: Sandbox;
  readonly receiver: WebhookReceiver;
  /** Starts the service in live mode on a machine of its own: data folder and ports are new unless they are given. */
  startMachine(environment: ServiceEnvironment, options?: MachineOptions): Promise<Machine>;
  stop(): Promise<void>;
}

/** How the process is started. */
type MachineOptions = Pick<NonNullable<Parameters<typeof startServiceProcess>[1]>, 'through' | 'logFile'>;

/** One machine with the service. */
export interface Machine {
  readonly environment: ServiceEnvironment;
  readonly process: ServiceProcess;
  create(apiKey: string, fields: Readonly<Record<string, unknown>>): Promise<CreatedPayment>;
  /** The answer's status and body. */
  readStatus(
    apiKey: string,
    query: string,
  ): Promise<{ status: number; body: Readonly<Record<string, string>> }>;
  /** The customer's click on a provider; returns the address of the order there. */
  beginSession(paymentId: string): Promise<string>;
  /** Plays the customer to the end of the on-ramp. */
  pay(paymentId: string): Promise<void>;
}

const silent = { debug() {}, info() {}, warn() {}, error() {} };

export async function startLiveWorld(): Promise<LiveWorld> {
  const folder = mkdtempSync(join(tmpdir(), 'card-checkout-world-'));
  const receiver = await startWebhookReceiver();
  writeFileSync(join(folder, 'ca.pem'), receiver.caPem);
  const sandbox = await startSandbox({ dataDir: join(folder, 'world'), log: silent, blockIntervalMs: 300 });
  const common = {
    ...liveEnvironment(sandbox),
    CALLBACK_ALLOWED_HOSTS: receiver.host,
    NODE_EXTRA_CA_CERTS: join(folder, 'ca.pem'),
    RATE_LIMIT_STATUS_PER_MINUTE: '100000',
    RATE_LIMIT_CREATE_PER_MINUTE: '1000',
  };
  const deployed = await runJson<{ deposit_factory_address: string }>(
    { DATA_DIR: join(folder, 'deployment'), ...common },
    'contract deploy',
  );
  const running: ServiceProcess[] = [];

  return {
    folder,
    sandbox,
    receiver,
    async startMachine(changes, options = {}) {
      const [port, adminPort] = (await freePorts(2)) as [number, number];
      const environment = {
        DATA_DIR: join(folder, randomBytes(4).toString('hex')),
        PORT: String(port),
        ADMIN_PORT: String(adminPort),
        ...common,
        DEPOSIT_FACTORY_ADDRESS: deployed.deposit_factory_address,
        ...changes,
      };
      const process = await startServiceProcess(environment, { args: ['--live'], ...options });
      running.push(process);
      await switchProviderOn(environment);
      return machineOf(environment, process, sandbox, receiver);
    },
    async stop() {
      for (const process of running) await process.end('SIGTERM');
      await sandbox.stop();
      await receiver.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function machineOf(
  environment: ServiceEnvironment,
  process: ServiceProcess,
  sandbox: Sandbox,
  receiver: WebhookReceiver,
): Machine {
  const url = `http://127.0.0.1:${environment['PORT']}`;
  const request = (apiKey: string, path: string, init: RequestInit = {}) =>
    fetch(`${url}${path}`, { ...init, headers: { 'content-type': 'application/json', 'x-api-key': apiKey } });
  async function beginSession(paymentId: string): Promise<string> {
    const click = await fetch(`${url}/pay/${paymentId}/providers/moonpay`, {
      method: 'POST',
      redirect: 'manual',
    });
    return click.headers.get('location') as string;
  }
  return {
    environment,
    process,
    async create(apiKey, fields) {
      const body = JSON.stringify({ callback: receiver.url, amount: '80', provider: 'moonpay', ...fields });
      const response = await request(apiKey, '/api/v1/wallet', { method: 'POST', body });
      const answer = (await response.json()) as CreatedPayment;
      if (response.status !== 200) throw new Error(`create answered ${JSON.stringify(answer)}`);
      return answer;
    },
    async readStatus(apiKey, query) {
      const response = await request(apiKey, `/api/v1/payment-status?${query}`);
      return { status: response.status, body: (await response.json()) as Record<string, string> };
    },
    beginSession,
    async pay(paymentId) {
      await sandbox.pay({ order: await beginSession(paymentId) });
    },
  };
}
