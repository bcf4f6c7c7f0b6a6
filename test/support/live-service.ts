import { join } from 'node:path';
import type { Sandbox } from '../../sandbox/start-sandbox.ts';
import type { CreatedPayment } from './e2e-service.ts';
import { type LiveInstance, openLiveInstances, type StartOptions } from './live-instances.ts';
import { liveEnvironment } from './provider-environment.ts';
import { runJson, type ServiceEnvironment } from './service-process.ts';
import type { WebhookReceiver } from './webhook-receiver.ts';

export type LiveWorld = Awaited<ReturnType<typeof startLiveWorld>>;

/** One machine with the service. */
export type Machine = ReturnType<typeof machineOf>;

/** A chain with a factory and on-ramps, in which machines with the service come and go; everything is temporary. */
export async function startLiveWorld() {
  const { folder, world: sandbox, receiver, start, stop } = await openLiveInstances({ hasPostgres: false });
  // Two endpoints, and a factory that the command line deploys.
  const common = { ...liveEnvironment(sandbox), RATE_LIMIT_CREATE_PER_MINUTE: '1000' };
  const deployed = await runJson<{ deposit_factory_address: string }>(
    { DATA_DIR: join(folder, 'deployment'), ...common },
    'contract deploy',
  );
  const settings = { ...common, DEPOSIT_FACTORY_ADDRESS: deployed.deposit_factory_address };
  return {
    folder,
    sandbox,
    receiver,
    /** Starts the service in live mode on a machine of its own: data folder and ports are new unless they are given. */
    async startMachine(changes: ServiceEnvironment, options?: StartOptions) {
      return machineOf(await start('all', { ...settings, ...changes }, options), sandbox, receiver);
    },
    stop,
  };
}

export function machineOf(instance: LiveInstance, sandbox: Sandbox, receiver: WebhookReceiver) {
  const { url } = instance;
  const request = (apiKey: string, path: string, init: RequestInit = {}) =>
    fetch(`${url}${path}`, { ...init, headers: { 'content-type': 'application/json', 'x-api-key': apiKey } });
  /** The customer's click on a provider; returns the address of the order there. */
  async function beginSession(paymentId: string): Promise<string> {
    const click = await fetch(`${url}/pay/${paymentId}/providers/moonpay`, {
      method: 'POST',
      redirect: 'manual',
    });
    return click.headers.get('location') as string;
  }
  return {
    ...instance,
    async create(apiKey: string, fields: Readonly<Record<string, unknown>>) {
      const body = JSON.stringify({ callback: receiver.url, amount: '80', provider: 'moonpay', ...fields });
      const response = await request(apiKey, '/api/v1/wallet', { method: 'POST', body });
      const answer = (await response.json()) as CreatedPayment;
      if (response.status !== 200) throw new Error(`create answered ${JSON.stringify(answer)}`);
      return answer;
    },
    async readStatus(apiKey: string, query: string) {
      const response = await request(apiKey, `/api/v1/payment-status?${query}`);
      return { status: response.status, body: (await response.json()) as Readonly<Record<string, string>> };
    },
    beginSession,
    /** Plays the customer to the end of the on-ramp. */
    async pay(paymentId: string) {
      await sandbox.pay({ order: await beginSession(paymentId) });
    },
  };
}
