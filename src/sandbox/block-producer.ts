import type { LocalChain } from './local-chain.ts';
import type { SandboxLog } from './sandbox-log.ts';

export interface BlockProducerOptions {
  readonly log: SandboxLog;
  /** How often it looks, and so the time between blocks while there is something to do. */
  readonly intervalMs?: number;
  /** The longest time without a block: expiry needs later finalized ones. */
  readonly keepAliveMs?: number;
}

export interface BlockProducer {
  stop(): Promise<void>;
}

const INTERVAL_MS = 1_000;
const KEEP_ALIVE_MS = 30_000;
/** `finalized` trails the newest block by this many, so a transaction is final once this many have followed. */
const BLOCKS_BEHIND = 2;

async function readCount(chain: LocalChain, method: string, block: string): Promise<number> {
  const count = Number(await chain.rpc.call(method, [block]));
  if (!Number.isSafeInteger(count)) throw new Error(`the local chain answered ${method} without a number`);
  return count;
}

/** Whether a transaction waits to be mined, or was mined in a block that is not finalized yet. */
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
 * Mines on demand, so that an idle sandbox hardly grows: once an interval while a transaction waits or is not final,
 * else only to keep the chain's time moving. Every block is saved before the next is mined; what the chain calls
 * finalized is therefore always on disk, and a kill loses at most the newest block.
 */
export function startBlockProducer(chain: LocalChain, options: BlockProducerOptions): BlockProducer {
  const intervalMs = options.intervalMs ?? INTERVAL_MS;
  const keepAliveMs = options.keepAliveMs ?? KEEP_ALIVE_MS;
  let lastHeight = -1;
  let lastBlockAtMs = performance.now();
  let isStopped = false;
  let isFailing = false;
  let timer: NodeJS.Timeout;
  let running: Promise<void> = Promise.resolve();

  async function produce(): Promise<void> {
    const height = Number(await chain.rpc.call('eth_blockNumber', []));
    const isDue =
      performance.now() - lastBlockAtMs >= keepAliveMs || (await hasUnfinishedTransaction(chain, height));
    if (isDue) await chain.rpc.call('evm_mine', []);
    const newHeight = isDue ? height + 1 : height;
    if (newHeight === lastHeight) return;
    await chain.save(); // also when somebody else has mined
    lastHeight = newHeight;
    lastBlockAtMs = performance.now();
  }

  async function tick(): Promise<void> {
    try {
      await produce();
      isFailing = false;
    } catch (error) {
      // The chain may just be restarting: said once, tried again at the next tick.
      if (!isFailing && !isStopped)
        options.log.warn({ err: error }, 'the local chain could not be asked for a block');
      isFailing = true;
    }
    if (!isStopped) schedule();
  }

  function schedule(): void {
    timer = setTimeout(() => {
      running = tick();
    }, intervalMs);
  }

  schedule();
  return {
    async stop() {
      isStopped = true;
      clearTimeout(timer);
      await running;
    },
  };
}
