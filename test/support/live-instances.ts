import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Sandbox, startSandbox } from '../../sandbox/start-sandbox.ts';
import { freePorts } from './free-ports.ts';
import { type PostgresServer, startPostgres } from './postgres.ts';
import { liveEnvironment, switchProviderOn } from './provider-environment.ts';
import { type ServiceEnvironment, type ServiceProcess, startServiceProcess } from './service-process.ts';
import { startWebhookReceiver, type WebhookReceiver } from './webhook-receiver.ts';

const silent = { debug() {}, info() {}, warn() {}, error() {} };

/** How a process is started. */
export type StartOptions = Pick<
  NonNullable<Parameters<typeof startServiceProcess>[1]>,
  'through' | 'logFile' | 'program'
>;

/** A server process in live mode. */
export interface LiveInstance {
  readonly url: string;
  readonly environment: ServiceEnvironment;
  readonly process: ServiceProcess;
}

/** A local chain with on-ramps, a PostgreSQL and a merchant's endpoint, for processes in live mode. */
export interface LiveInstances {
  readonly folder: string;
  readonly world: Sandbox;
  /** Throws where none was asked for. */
  readonly postgres: PostgresServer;
  readonly receiver: WebhookReceiver;
  /** Starts a process with a data folder and ports of its own, on SQLite unless the changes name a database. */
  start(
    role: 'all' | 'api' | 'worker',
    changes?: ServiceEnvironment,
    options?: StartOptions,
  ): Promise<LiveInstance>;
  /** Starts a process that has ended again, as it was. */
  startAgain(
    role: 'all' | 'api' | 'worker',
    instance: LiveInstance,
    options?: StartOptions,
  ): Promise<LiveInstance>;
  /** Ends everything, also processes that still run. */
  stop(): Promise<void>;
}

/** Opens the world that the processes share; `nodeArgs` are added to the command line of Node. */
export async function openLiveInstances({
  nodeArgs = [] as readonly string[],
  receiver: given = undefined as WebhookReceiver | undefined,
  postgresSettings = undefined as readonly string[] | undefined,
  hasPostgres = true,
  blockIntervalMs = 300,
} = {}): Promise<LiveInstances> {
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
    role: string,
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
    get postgres() {
      if (postgres === undefined) throw new Error('there is no PostgreSQL');
      return postgres;
    },
    receiver,
    async start(role, changes = {}, options = {}) {
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
