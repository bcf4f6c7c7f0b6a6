import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePorts } from './free-ports.ts';
import { type ServiceEnvironment, startServiceProcess } from './service-process.ts';
import { readTokenBalance } from './token-balance.ts';
import { startWebhookReceiver, type WebhookReceiver } from './webhook-receiver.ts';

export type CreatedPayment = Readonly<Record<string, string>> & {
  readonly payment_id: string;
  readonly ipn_token: string;
  readonly checkout_url: string;
};

/** A payout wallet that nobody has the key of. */
export const SOMEBODY = '0x52908400098527886E0F7030069857D2E4169EE7';

export type EndToEndService = Awaited<ReturnType<typeof startEndToEndService>>;

/** Other endpoints that callbacks may lead to. */
export interface OtherReceivers {
  /** `host:port` of each. */
  readonly hosts: readonly string[];
  /** PEM of the authority that signed their certificates. */
  readonly caPem: string;
}

/** How it is started, where that is not as usual. */
export interface StartOptions {
  /** Arguments of Node itself. */
  readonly nodeArgs?: readonly string[];
  /** The merchant's endpoint, when there is one already. */
  readonly receiver?: WebhookReceiver;
  readonly others?: OtherReceivers;
  /** How long it may take until it is ready. */
  readonly boundMs?: number;
}

/**
 * A sandbox in a process of its own, with a data folder and a merchant's HTTPS endpoint that go with it; `changes` are added to the
 * environment.
 */
export async function startEndToEndService(
  changes: ServiceEnvironment = {},
  { nodeArgs = [], receiver: given, others = { hosts: [], caPem: '' }, boundMs = 120_000 }: StartOptions = {},
) {
  const folder = mkdtempSync(join(tmpdir(), 'card-checkout-e2e-'));
  const receiver = given ?? (await startWebhookReceiver());
  writeFileSync(join(folder, 'ca.pem'), `${receiver.caPem}\n${others.caPem}`);
  const [port, adminPort] = (await freePorts(2)) as [number, number];
  // No name: of its two addresses the service has one, and a client that is held up gives up the right one too early.
  const url = `http://127.0.0.1:${port}`;
  const environment = {
    DATA_DIR: join(folder, 'data'),
    PORT: String(port),
    ADMIN_PORT: String(adminPort),
    CALLBACK_ALLOWED_HOSTS: [receiver.host, ...others.hosts].join(','),
    NODE_EXTRA_CA_CERTS: join(folder, 'ca.pem'),
    // Tests look often and wait briefly.
    RATE_LIMIT_STATUS_PER_MINUTE: '100000',
    ...changes,
  };
  let running = await startServiceProcess(environment, { nodeArgs, boundMs });
  const headers = () => ({ 'x-api-key': running.demoKey(), 'content-type': 'application/json' });

  async function requestCreate(fields: Readonly<Record<string, unknown>>) {
    const body = JSON.stringify({ address: SOMEBODY, callback: receiver.url, amount: '50.00', ...fields });
    const response = await fetch(`${url}/api/v1/wallet`, { method: 'POST', headers: headers(), body });
    return { status: response.status, body: (await response.json()) as CreatedPayment };
  }

  return {
    folder,
    receiver,
    environment: environment as ServiceEnvironment,
    url,
    /** The process that runs now. */
    process: () => running,
    /** Ends the process by this signal and starts it again on the same data. Returns the exit code. */
    async restart(signal: 'SIGINT' | 'SIGKILL') {
      const code = await running.end(signal);
      running = await startServiceProcess(environment, { nodeArgs, boundMs });
      return code;
    },
    requestCreate,
    /** A payment; throws when it was refused. */
    async create(fields: Readonly<Record<string, unknown>> = {}) {
      const { status, body } = await requestCreate(fields);
      if (status !== 200) throw new Error(`create answered ${status}: ${JSON.stringify(body)}`);
      return body;
    },
    async readStatus(query: string) {
      const response = await fetch(`${url}/api/v1/payment-status?${query}`, { headers: headers() });
      if (response.status !== 200) throw new Error(`payment-status answered ${response.status} for ${query}`);
      return (await response.json()) as Record<string, string>;
    },
    /** Test USDC of a wallet on the local chain, 10⁻⁶ units. */
    async readBalance(owner: string) {
      const chainUrl = /Local chain\s+(\S+)/.exec(running.output())?.[1] ?? '';
      const published = await fetch(`${url}/.well-known/card-checkout.json`);
      return readTokenBalance(chainUrl, ((await published.json()) as { token: string }).token, owner);
    },
    async stop() {
      await running.end('SIGINT');
      await receiver.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
