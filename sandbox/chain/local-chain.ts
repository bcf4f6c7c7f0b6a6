import type { ChildProcess } from 'node:child_process';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createJsonRpcClient, type JsonRpcClient } from '../../src/settlement/chain/json-rpc.ts';
import { SANDBOX_CHAIN_ID } from '../development-keys.ts';
import { claimLoopbackPort, preferLoopbackPort } from '../loopback-port.ts';
import { repeat } from '../repeat.ts';
import type { SandboxLog } from '../sandbox-log.ts';
import { chainLogExcerpt, endChain, endOrphanedChain, spawnChain } from './chain-process.ts';
import { prepareChainState, saveChainState } from './chain-state-file.ts';
import { findAnvil } from './find-anvil.ts';

interface LocalChainOptions {
  /** Absolute path of the folder for all files of the chain. */
  readonly directory: string;
  /** Port of the chain, which must be free. */
  readonly port?: number | undefined;
  /** Port to use if it is free and `port` is absent. Default 0, for any port. */
  readonly preferredPort?: number | undefined;
  readonly log: SandboxLog;
}

/** Running anvil, which is restarted if it dies. */
export interface LocalChain {
  readonly url: string;
  readonly rpc: JsonRpcClient;
  pid(): number;
  /** Writes the whole state to disk, so that it survives a kill. */
  save(): Promise<void>;
  /** Saves the state, ends the node and waits until it is gone. */
  stop(): Promise<void>;
}

/** Time limit of a startup, long enough for busy machines. An exit of anvil is noticed immediately. */
const READY_MS = 60_000;
/** Number of new blocks after startup before `finalized` works, because earlier states are missing. */
const BLOCKS_UNTIL_FINALIZED = 3;
const RESTART_DELAY_MS = 200;
const MAXIMUM_RESTARTS = 5;
const RESTART_WINDOW_MS = 60_000;

async function choosePort({ port, preferredPort = 0, log }: LocalChainOptions): Promise<number> {
  const taken = "the local chain's port is taken and a free one is used";
  const claimed = await claimLoopbackPort(port ?? (await preferLoopbackPort(preferredPort, log, taken)));
  if (claimed !== null) return claimed;
  throw new Error(
    `port ${port} for the local chain is in use: change SANDBOX_CHAIN_PORT, or leave it out for a free one`,
  );
}

async function waitUntilReady(rpc: JsonRpcClient, child: ChildProcess, directory: string): Promise<void> {
  const deadlineMs = performance.now() + READY_MS;
  for (;;) {
    if (child.exitCode !== null || child.signalCode !== null) {
      throw new Error(`the local chain ended while starting: ${chainLogExcerpt(directory)}`);
    }
    try {
      const chainId = Number(await rpc.call('eth_chainId', []));
      if (chainId !== SANDBOX_CHAIN_ID) throw new Error(`the local chain has the id ${chainId}`);
      return;
    } catch (cause) {
      if (performance.now() > deadlineMs) {
        throw new Error(
          `the local chain did not start within ${READY_MS / 1000} s; if this machine is busy, run the command again: ` +
            `${chainLogExcerpt(directory)}`,
          { cause },
        );
      }
      await delay(20);
    }
  }
}

async function launch(options: LocalChainOptions, rpc: JsonRpcClient, port: number): Promise<ChildProcess> {
  const { directory } = options;
  await rm(join(directory, 'chain-cache'), { recursive: true, force: true });
  await prepareChainState(directory, options.log);
  const child = await spawnChain(findAnvil(), directory, port);
  try {
    await waitUntilReady(rpc, child, directory);
    for (let count = 0; count < BLOCKS_UNTIL_FINALIZED; count++) await rpc.call('evm_mine', []);
    return child;
  } catch (error) {
    await endChain(child.pid as number, directory, options.log);
    throw error;
  }
}

/** Ends any chain that an earlier run left behind, and starts the chain. A restarted node keeps its port. */
export async function startLocalChain(options: LocalChainOptions): Promise<LocalChain> {
  const { directory, log } = options;
  await mkdir(directory, { recursive: true, mode: 0o700 });
  await endOrphanedChain(directory, log);
  const port = await choosePort(options);
  const url = `http://127.0.0.1:${port}`;
  const rpc = createJsonRpcClient({ url, timeoutMs: 30_000 });

  let isStopping = false;
  let saving: Promise<void> | null = null;
  let restarting: Promise<void> = Promise.resolve();
  let restartTimesMs: number[] = [];
  let child = await launch(options, rpc, port);

  /** Restarts a dead node from the last saved state, a limited number of times. */
  async function restart(): Promise<void> {
    const nowMs = performance.now();
    restartTimesMs = restartTimesMs.filter((timeMs) => nowMs - timeMs < RESTART_WINDOW_MS);
    if (restartTimesMs.length >= MAXIMUM_RESTARTS) {
      log.error(
        { excerpt: chainLogExcerpt(directory) },
        'the local chain keeps ending and is not started again',
      );
      return;
    }
    restartTimesMs.push(nowMs);
    log.error(
      { signal: child.signalCode, code: child.exitCode },
      'the local chain ended unexpectedly; restarting it',
    );
    await delay(RESTART_DELAY_MS);
    if (isStopping) return;
    try {
      child = await launch(options, rpc, port);
      watch(child);
    } catch (error) {
      log.error({ err: error }, 'the local chain could not be started again');
      await restart();
    }
  }

  function watch(running: ChildProcess): void {
    running.once('exit', () => {
      if (!isStopping) restarting = restart();
    });
  }

  function save(): Promise<void> {
    saving ??= saveChainState(url, directory).finally(() => {
      saving = null;
    });
    return saving;
  }

  watch(child);
  await save();

  return {
    url,
    rpc,
    pid: () => child.pid as number,
    save,
    async stop() {
      if (isStopping) return;
      isStopping = true;
      await restarting;
      try {
        await save();
      } catch (error) {
        log.warn({ err: error }, 'the local chain could not be saved before its end');
      }
      await endChain(child.pid as number, directory, log);
      await rpc.close();
    },
  };
}

interface BlockProducerOptions {
  readonly log: SandboxLog;
  /** Interval between checks, and thus between blocks while transactions are pending. */
  readonly intervalMs?: number | undefined;
  /** Maximum time without a block, because payments expire only with later finalized blocks. */
  readonly keepAliveMs?: number;
}

const INTERVAL_MS = 1_000;
/** Half of the clock skew at which `doctor` warns. */
const KEEP_ALIVE_MS = 15_000;
/** Number of blocks by which `finalized` trails the newest block. */
const BLOCKS_BEHIND = 2;

async function readCount(chain: LocalChain, method: string, block: string): Promise<number> {
  const count = Number(await chain.rpc.call(method, [block]));
  if (!Number.isSafeInteger(count)) throw new Error(`the local chain answered ${method} without a number`);
  return count;
}

/** Returns whether a transaction is pending or in a block that is not finalized. */
async function hasUnfinishedTransaction(chain: LocalChain, height: number): Promise<boolean> {
  const pool = (await chain.rpc.call('txpool_status', [])) as { pending?: unknown } | null;
  if (Number(pool?.pending) > 0) return true;
  for (let number = Math.max(height - BLOCKS_BEHIND + 1, 0); number <= height; number++) {
    const block = `0x${number.toString(16)}`;
    if ((await readCount(chain, 'eth_getBlockTransactionCountByNumber', block)) > 0) return true;
  }
  return false;
}

/**
 * Mines on demand, so that an idle sandbox hardly grows. Mines once per interval while a transaction is pending or not
 * final, otherwise only every `keepAliveMs`. Saves every block before the next one, so that finalized blocks are always
 * on disk and a kill loses at most the newest block.
 */
export function startBlockProducer(
  chain: LocalChain,
  options: BlockProducerOptions,
): { stop(): Promise<void> } {
  const intervalMs = options.intervalMs ?? INTERVAL_MS;
  const keepAliveMs = options.keepAliveMs ?? KEEP_ALIVE_MS;
  let lastHeight = -1;
  let lastBlockAtMs = performance.now();

  async function produce(): Promise<void> {
    const height = Number(await chain.rpc.call('eth_blockNumber', []));
    const isDue =
      performance.now() - lastBlockAtMs >= keepAliveMs || (await hasUnfinishedTransaction(chain, height));
    if (isDue) await chain.rpc.call('evm_mine', []);
    const newHeight = isDue ? height + 1 : height;
    if (newHeight === lastHeight) return;
    await chain.save(); // Saves blocks that another process mined, too.
    lastHeight = newHeight;
    lastBlockAtMs = performance.now();
  }

  // Logs failures and repeats the work, because the chain may be restarting.
  return repeat(intervalMs, produce, options.log, 'the local chain could not be asked for a block');
}
