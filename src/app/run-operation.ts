import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { callServer, NoServerError } from '../cli/control-client.ts';
import { CONTROL_SOCKET, runOperation } from '../cli/control-server.ts';
import type { OperationArguments } from '../cli/operations-context.ts';
import type { Config } from '../config.ts';
import { locationOf } from '../domain/callback-url.ts';
import type { CallbackGuard } from '../domain/ports/callback-guard.ts';
import type { Store } from '../store/store.ts';
import { StoreInUseError } from '../store/store-errors.ts';
import { createTextCallbackGuard } from './callback-guard.ts';
import { createLog } from './log.ts';
import { openStore, requireDatabase } from './open-store.ts';
import { openStoredChain, type StoredChain } from './stored-chain.ts';

/** A server that is starting holds the store before it listens for commands. */
const STARTING_SERVER_MS = 15_000;
const RETRY_MS = 200;

interface RunOptions {
  readonly patienceMs?: number;
  /** Where the chain can be asked when no server runs; empty for nowhere. */
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
  const deadlineMs = performance.now() + patienceMs;
  for (;;) {
    try {
      return await callServer(join(config.dataDir, CONTROL_SOCKET), name, args);
    } catch (error) {
      if (!(error instanceof NoServerError)) throw error;
    }
    await requireDatabase(config);
    try {
      const store = await openStore(config, createLog('error'));
      return await runOnStore(
        config,
        store,
        createTextCallbackGuard({
          allowedHosts: config.callbackAllowedHosts,
          own: locationOf(config.baseUrl),
        }),
        rpcUrls,
        name,
        args,
      );
    } catch (error) {
      if (!(error instanceof StoreInUseError) || performance.now() > deadlineMs) throw error;
    }
    await delay(RETRY_MS);
  }
}

async function runOnStore(
  { baseUrl }: Config,
  store: Store,
  callbacks: CallbackGuard,
  rpcUrls: readonly string[],
  name: string,
  args: OperationArguments,
): Promise<unknown> {
  let chain: StoredChain | null = null;
  try {
    chain = await openStoredChain(store, rpcUrls);
    const context = {
      ...store,
      callbacks,
      chain,
      directory: { adapters: null, settings: store.providers },
      nowMs: Date.now,
      baseUrl,
      rescue: null,
      direct: null,
      sandbox: null,
    };
    return await runOperation(context, name, args);
  } finally {
    await chain?.close();
    await store.close();
  }
}
