import { join } from 'node:path';
import { callServer, NoServerError } from '../cli/control-client.ts';
import { CONTROL_SOCKET, runOperation } from '../cli/control-server.ts';
import type { OperationArguments } from '../cli/operations-context.ts';
import type { Config } from '../config.ts';
import { createLog } from './log.ts';
import { openStore } from './open-store.ts';

/**
 * Runs an operation of the command line in the server that serves this data folder, or on the store itself when none
 * runs. SQLite has one writer process, and the store's lock decides which it is.
 */
export async function runOperationAnywhere(
  config: Config,
  name: string,
  args: OperationArguments,
): Promise<unknown> {
  try {
    return await callServer(join(config.dataDir, CONTROL_SOCKET), name, args);
  } catch (error) {
    if (!(error instanceof NoServerError)) throw error;
  }
  const store = await openStore(config, createLog('error'));
  try {
    const context = {
      ...store,
      directory: { adapters: new Map(), settings: store.providers },
      nowMs: Date.now,
      rescue: null,
      sandbox: null,
    };
    return await runOperation(context, name, args);
  } finally {
    await store.close();
  }
}
