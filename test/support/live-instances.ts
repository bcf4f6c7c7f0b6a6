import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startSandbox } from '../../sandbox/start-sandbox.ts';
import { freePorts } from './free-ports.ts';
import { type PostgresServer, startPostgres } from './postgres.ts';
import { liveEnvironment, switchProviderOn } from './provider-environment.ts';
import { type ServiceEnvironment, type ServiceProcess, startServiceProcess } from './service-process.ts';
import { startWebhookReceiver, type WebhookReceiver } from './webhook-receiver.ts';

const silent = { debug() {}, info() {}, warn() {}, error() {} };

export type StartOptions = Pick<
  NonNullable<Parameters<typeof startServiceProcess>[1]>,
  'through' | 'logFile' | 'program'
>;

export interface LiveInstance {
  readonly url: string;
  readonly environment: ServiceEnvironment;
  readonly process: ServiceProcess;
}

type Role = 'all' | 'api' | 'worker';

export type LiveInstances = Awaited<ReturnType<typeof openLiveInstances>>;

/**
 * Opens what processes in live mode share: a local chain with on-ramps, a PostgreSQL and a merchant's endpoint. `nodeArgs` are
 * added to the command line of Node.
 */
export async function openLiveInstances({
  nodeArgs = [] as readonly string[],
  receiver: given = undefined as WebhookReceiver | undefined,
  postgresSettings = undefined as readonly string[] | undefined,
  hasPostgres = true,
  blockIntervalMs = 300,
} = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'card-checkout-live-'));
  const postgres = hasPostgres ? await startPostgres(postgresSettings) : undefined;
  const receiver = given ?? (await startWebhookReceiver());
  writeFileSync(join(folder, 'ca.pem'), receiver.caPem);
  const world = await startSandbox({ dataDir: join(folder, 'world'), log: silent, blockIntervalMs });
  const common = {
    ...liveEnvironment(world),
    POLYGON_RPC_URL: world.rpcUrl,
    DEPOSIT_FACTORY_ADDRESS: world.factory,
    CALLBACK_ALLOWED_HOSTS: receiver.host,
    NODE_EXTRA_CA_CERTS: join(folder, 'ca.pem'),
    RATE_LIMIT_STATUS_PER_MINUTE: '1000000',
  };
  const started: ServiceProcess[] = [];
  let folders = 0;

  async function startAgain(
    role: Role,
    { url, environment }: Omit<LiveInstance, 'process'>,
    options: StartOptions = {},
  ) {
    const args = ['--live', '--role', role];
    const process = await startServiceProcess(environment, { args, boundMs: 60_000, nodeArgs, ...options });
    started.push(process);
    return { url, environment, process };
  }

  return {
    folder,
    world,
    /** Throws where none was asked for. */
    get postgres(): PostgresServer {
      if (postgres === undefined) throw new Error('there is no PostgreSQL');
      return postgres;
    },
    receiver,
    /** Starts a process with a data folder and ports of its own, on SQLite unless the changes name a database. */
    async start(
      role: Role,
      changes: ServiceEnvironment = {},
      options: StartOptions = {},
    ): Promise<LiveInstance> {
      const dataDir = join(folder, `data ${++folders}`);
      const [port, adminPort] = (await freePorts(2)) as [number, number];
      const ports = { PORT: String(port), ADMIN_PORT: String(adminPort) };
      const secret =
        'SECRET_KEY_FILE' in changes ? {} : { SECRET_KEY: 'the same secret key on every instance' };
      const environment = { ...common, ...secret, DATA_DIR: dataDir, ...ports, ...changes };
      const instance = await startAgain(
        role,
        { url: `http://127.0.0.1:${environment.PORT}`, environment },
        options,
      );
      await switchProviderOn(environment);
      return instance;
    },
    startAgain,
    /** Ends everything, also processes that still run. */
    async stop() {
      // Nobody is served any more, so nobody needs webhook.
      await Promise.all(started.map((process) => process.end('SIGKILL')));
      await world.stop();
      await receiver.stop();
      await postgres?.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
