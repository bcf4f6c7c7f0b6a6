import { join } from 'node:path';
import { CONTROL_SOCKET, callServer, NoServerError } from '../cli/control-socket.ts';
import type { OperationArguments } from '../cli/operations-context.ts';
import type { Config } from '../config/config.ts';

/** A server that is starting holds the store before it listens for commands. */
const STARTING_SERVER_MS = 15_000;

interface RunOptions {
  readonly patienceMs?: number;
  /** RPC URLs of the chain for use when no server runs; empty for none. */
  readonly rpcUrls?: readonly string[];
}

/**
 * Runs an operation of the command line in the server that serves this data folder, or on the store itself when none
 * runs. SQLite has one writer process, and the store's lock decides which it is. Throws `NoDatabaseError` where there is no
 * database, `StoreInUseError` when the process that holds the lock takes no commands within `patienceMs`.
 */
export async function runOperationAnywhere(
  config: Config,
  name: string,
  args: OperationArguments,
  { patienceMs = STARTING_SERVER_MS, rpcUrls = [] }: RunOptions = {},
): Promise<unknown> {
  const askServer = async () => {
    try {
      return { result: await callServer(join(config.dataDir, CONTROL_SOCKET), name, args) };
    } catch (error) {
      if (error instanceof NoServerError) return null;
      throw error;
    }
  };
  const answer = await askServer();
  if (answer !== null) return answer.result;
  // Loading what works on the store takes longer than most commands do, so none that a server runs waits for it.
  const { retryWhileInUse } = await import('./open-store.ts');
  const { runOnStore } = await import('./run-on-store.ts');
  return retryWhileInUse(patienceMs, async () => {
    const late = await askServer();
    return late === null ? runOnStore(config, rpcUrls, name, args) : late.result;
  });
}
