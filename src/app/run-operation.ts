import { join } from 'node:path';
import { CONTROL_SOCKET, callServer, type Following, NoServerError } from '../cli/control-socket.ts';
import type { OperationArguments } from '../cli/operations-context.ts';
import type { Config, RpcAccess } from '../config/config.ts';

/** Time for which a starting server may hold the store before it accepts commands. */
const STARTING_SERVER_MS = 15_000;

interface RunOptions extends Following {
  readonly patienceMs?: number;
  /** RPC endpoints for use when no server runs. Default null. */
  readonly access?: RpcAccess | null;
}

/**
 * Runs a command's operation in the server of this data folder, or on the store itself if no server runs. Throws if
 * there is no database, and `StoreInUseError` if another process holds it and accepts no commands within `patienceMs`.
 */
export async function runOperationAnywhere(
  config: Config,
  name: string,
  args: OperationArguments,
  { patienceMs = STARTING_SERVER_MS, access = null, ...following }: RunOptions = {},
): Promise<unknown> {
  const askServer = async () => {
    try {
      return { result: await callServer(join(config.dataDir, CONTROL_SOCKET), name, args, following) };
    } catch (error) {
      if (error instanceof NoServerError) return null;
      throw error;
    }
  };
  const answer = await askServer();
  if (answer !== null) return answer.result;
  // Loaded on demand, because loading the store's code takes longer than a server needs for most commands.
  const { retryWhileInUse } = await import('./open-store.ts');
  const { runOnStore } = await import('./run-on-store.ts');
  return retryWhileInUse(patienceMs, async () => {
    const late = await askServer();
    return late === null ? runOnStore(config, access, name, args, following.onProgress) : late.result;
  });
}
