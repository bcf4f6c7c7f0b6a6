import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, cp, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from 'pg';
import { freePorts } from './free-ports.ts';
import { platformBinary } from './platform-binary.ts';

/** A PostgreSQL server of its own, on a free port of the loopback interface, with its data in a temporary folder. */
export interface PostgresServer {
  createDatabase(): Promise<string>;
  /** Copies a database that nobody is connected to, and returns the URL of the copy. */
  copyDatabase(url: string): Promise<string>;
  /** Removes a database, whoever is still connected to it. */
  dropDatabase(url: string): Promise<void>;
  /** Runs one statement on a connection of its own. */
  query(url: string, sql: string): Promise<Record<string, unknown>[]>;
  /** Kills the server as a power cut would and starts it again on the same data and port. */
  crash(): Promise<void>;
  readonly port: number;
  /** Stops the server as an operator does, and starts it again after this time. */
  restart(pauseMs: number): Promise<void>;
  /** Kills the server for good, with `kill -9`. It still has to be stopped. */
  kill(): Promise<void>;
  /**
   * Starts a second server, with a database folder of its own, on a copy of this one: a standby of it. It has the settings
   * of this one and then these; its stream comes from `port`.
   */
  startStandby(settings?: readonly string[], port?: number): Promise<PostgresServer>;
  stop(): Promise<void>;
}

/** PostgreSQL refuses to run as root: there it runs as the user "nobody", to whom copies of its files are given. */
const NOBODY = 65_534;
const START_TIMEOUT_MS = 90_000;
const OWNER = 'checkout';

/** Nothing has to survive the machine here, only the server's own end: that needs no flush to the disk. */
const quickSettings = ['fsync=off', 'full_page_writes=off', 'shared_buffers=32MB', 'max_connections=200'];

/** @param parent the folder that its temporary folder is made in; the user "nobody" must be able to enter it */
export async function startPostgres(
  settings: readonly string[] = quickSettings,
  parent = tmpdir(),
): Promise<PostgresServer> {
  const folder = await mkdtemp(join(parent, 'card-checkout-postgres-'));
  try {
    const installation = await prepareInstallation(folder);
    const options = `--username ${OWNER} --auth trust --encoding UTF8 --locale C --no-sync --no-instructions`;
    await run(installation, 'initdb', ['--pgdata', join(folder, 'data'), ...options.split(' ')]);
    return await serve(installation, folder, settings, parent);
  } catch (error) {
    await rm(folder, { recursive: true });
    throw error;
  }
}

/** What a copy of a data folder does not take over. */
const notCopied = /\/(?:postmaster\.(?:pid|opts)|pg_replslot\/.+|pg_wal\/.+)$/;

interface Installation {
  readonly binFolder: string;
  /** Whom the server runs as, where that is not ourselves. */
  readonly identity: { readonly uid?: number; readonly gid?: number };
}

async function prepareInstallation(folder: string): Promise<Installation> {
  const binary = platformBinary('postgres');
  if (process.getuid?.() !== 0) return { binFolder: dirname(binary), identity: {} };
  // The project may lie below a folder that only root may enter.
  const copy = join(folder, 'postgres');
  await chmod(folder, 0o755);
  await cp(dirname(dirname(binary)), copy, { recursive: true, verbatimSymlinks: true });
  await mkdir(join(folder, 'data'), { mode: 0o700 });
  await chown(join(folder, 'data'), NOBODY, NOBODY);
  return { binFolder: join(copy, 'bin'), identity: { uid: NOBODY, gid: NOBODY } };
}

async function serve(
  installation: Installation,
  folder: string,
  settings: readonly string[],
  parent: string,
): Promise<PostgresServer> {
  const [port] = (await freePorts(1)) as [number];
  const start = () => startServer(installation, folder, port, settings);
  const urlOf = (database: string) => `postgres://${OWNER}@127.0.0.1:${port}/${database}`;
  const administer = (sql: string) => queryPostgres(urlOf('postgres'), sql);
  let running = await start();
  let databases = 0;
  async function create(options: string): Promise<string> {
    const name = `test_${++databases}`;
    await administer(`CREATE DATABASE ${name} ${options}`);
    return urlOf(name);
  }

  return {
    createDatabase: () => create(''),
    copyDatabase: (url) => create(`TEMPLATE ${new URL(url).pathname.slice(1)}`),
    async dropDatabase(url) {
      await administer(`DROP DATABASE ${new URL(url).pathname.slice(1)} WITH (FORCE)`);
    },
    query: queryPostgres,
    async crash() {
      // SIGQUIT is the server's "immediate" end: every connection breaks off, nothing is written any more.
      await running.end('SIGQUIT');
      running = await start();
    },
    port,
    async restart(pauseMs) {
      await running.end('SIGINT');
      await delay(pauseMs);
      running = await start();
    },
    kill: () => running.end('SIGKILL'),
    async startStandby(more = [], streamPort = port) {
      const own = await mkdtemp(join(parent, 'card-checkout-postgres-'));
      try {
        const copied = await prepareInstallation(own);
        await copyRunning(urlOf('postgres'), join(folder, 'data'), join(own, 'data'));
        await writeFile(join(own, 'data', 'standby.signal'), '');
        if (copied.identity.uid !== undefined) await giveAway(join(own, 'data'));
        const stream = `primary_conninfo=host=127.0.0.1 port=${streamPort} user=${OWNER} application_name=standby`;
        return await serve(copied, own, [...settings, stream, ...more], parent);
      } catch (error) {
        await rm(own, { recursive: true });
        throw error;
      }
    },
    async stop() {
      await running.end('SIGINT');
      await rm(folder, { recursive: true });
    },
  };
}

/** A base backup by the low-level interface: pg_basebackup does not come with the package. */
async function copyRunning(url: string, from: string, to: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query("SELECT pg_backup_start('standby', true)");
    await cp(from, to, { recursive: true, filter: (path) => !notCopied.test(path) });
    const { rows } = await client.query<{ labelfile: string }>('SELECT labelfile FROM pg_backup_stop(false)');
    await writeFile(join(to, 'backup_label'), rows[0]?.labelfile ?? '');
  } finally {
    await client.end();
  }
  await chmod(to, 0o700);
}

async function giveAway(folder: string): Promise<void> {
  await chown(folder, NOBODY, NOBODY);
  for (const name of await readdir(folder, { recursive: true }))
    await chown(join(folder, name), NOBODY, NOBODY);
}

interface RunningServer {
  end(signal: 'SIGINT' | 'SIGQUIT' | 'SIGKILL'): Promise<void>;
}

async function startServer(
  { binFolder, identity }: Installation,
  folder: string,
  port: number,
  settings: readonly string[],
): Promise<RunningServer> {
  const all = [...settings, `port=${port}`, 'listen_addresses=127.0.0.1', 'unix_socket_directories='];
  const server = spawn(
    join(binFolder, 'postgres'),
    ['-D', join(folder, 'data'), ...all.flatMap((setting) => ['-c', setting])],
    { ...identity, cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] },
  );
  const guard = guardServer(server.pid as number, folder);
  try {
    await untilReady(server);
  } catch (error) {
    await end(server, 'SIGQUIT');
    await end(guard, 'SIGKILL');
    throw error;
  }
  return {
    async end(signal) {
      await end(server, signal);
      await end(guard, 'SIGKILL');
    },
  };
}

/**
 * Ends the server and removes its folder when this process is gone without having done so, also after a kill -9: it
 * waits for the end of a pipe that this process alone holds open.
 */
function guardServer(serverPid: number, folder: string): ChildProcess {
  // The end is awaited for some seconds only: a dead process that nobody buries still answers to its id.
  const script = `trap '' INT TERM; cat >/dev/null; kill -QUIT "$1"
    tries=0; while kill -0 "$1" && [ $tries -lt 50 ]; do sleep 0.1; tries=$((tries + 1)); done; rm -rf "$2"`;
  return spawn('sh', ['-c', script, 'guard', String(serverPid), folder], {
    stdio: ['pipe', 'ignore', 'ignore'],
  });
}

async function untilReady(server: ChildProcess): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const timer = setTimeout(() => reject(new Error('PostgreSQL did not start in time')), START_TIMEOUT_MS);
  let output = '';
  let isReady = false;
  server.stderr?.on('data', (chunk: Buffer) => {
    // Later output is read and dropped, so that it never blocks the server.
    if (isReady) return;
    output += chunk.toString();
    isReady = /ready to accept (?:read-only )?connections/.test(output);
    if (isReady) resolve();
  });
  server.once('error', reject);
  server.once('exit', (code) => reject(new Error(`PostgreSQL ended with ${code} at its start:\n${output}`)));
  await promise.finally(() => clearTimeout(timer));
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill(signal);
  await exited;
}

async function run(
  { binFolder, identity }: Installation,
  program: string,
  args: readonly string[],
): Promise<void> {
  const child = spawn(join(binFolder, program), args, {
    ...identity,
    cwd: binFolder,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let output = '';
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new Error(`${program} ended with ${code}:\n${output}`);
}

/** Runs one statement on a connection of its own. */
export async function queryPostgres(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    const answers = await client.query(sql);
    return [answers].flat().at(-1)?.rows as Record<string, unknown>[];
  } finally {
    await client.end();
  }
}
