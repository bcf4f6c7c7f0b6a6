import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Pin } from './load/run-load.ts';
import type { ServerMessage, ServerName, Usage } from './servers/bench-server.ts';

/** A server in its own process. */
export interface ServerProcess {
  readonly name: ServerName;
  readonly port: number;
  readonly apiKeys: readonly string[];
  readUsage(): Promise<Usage>;
  /** Payments in its database, as another process sees them; 0 where it has none. */
  countPayments(): number;
  stop(): Promise<void>;
}

/** @param nodeFlags for node itself, such as those of the profiler */
export async function startServerProcess(
  name: ServerName,
  folder: string,
  pin: Pin,
  nodeFlags: readonly string[],
): Promise<ServerProcess> {
  const dataDir = join(folder, name);
  mkdirSync(dataDir, { recursive: true });
  const main = join(import.meta.dirname, 'servers', 'main.ts');
  const [program = '', ...parameters] = pin([process.execPath, ...nodeFlags, main, name, dataDir]);
  const child = spawn(program, parameters, { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] });
  // The log goes into a pipe, as under a service manager; nobody needs to read it here.
  child.stdout?.resume();
  const ready = await nextMessage(child, 'ready');
  return {
    ...{ name, port: ready.port, apiKeys: ready.apiKeys },
    readUsage() {
      child.send('usage');
      return nextMessage(child, 'usage');
    },
    countPayments: () => (ready.databaseFile === null ? 0 : countRows(ready.databaseFile)),
    async stop() {
      const exited = new Promise((resolve) => child.once('exit', resolve));
      child.send('stop');
      await exited;
    },
  };
}

function nextMessage<Kind extends ServerMessage['kind']>(
  child: ChildProcess,
  kind: Kind,
): Promise<Extract<ServerMessage, { kind: Kind }>> {
  return new Promise((resolve, reject) => {
    const onExit = (code: number | null) => reject(new Error(`a server under measurement ended (${code})`));
    child.once('exit', onExit);
    child.once('message', (message) => {
      child.off('exit', onExit);
      const told = message as ServerMessage;
      if (told.kind === kind) resolve(told as Extract<ServerMessage, { kind: Kind }>);
      else reject(new Error(`a server under measurement said ${told.kind} instead of ${kind}`));
    });
  });
}

/** Rows are never deleted, so that the highest number is their count. */
function countRows(file: string): number {
  const database = new DatabaseSync(file, { readOnly: true, timeout: 1_000 });
  try {
    return Number(database.prepare('SELECT coalesce(max(row), 0) AS count FROM payments').get()?.['count']);
  } finally {
    database.close();
  }
}
