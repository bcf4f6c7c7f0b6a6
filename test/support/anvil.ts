import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { findAnvil } from '../../sandbox/chain/find-anvil.ts';
import { askChain } from './ask-chain.ts';

/** A local chain of its own process, on a free port of the loopback interface. */
export interface Anvil {
  readonly url: string;
  readonly chainId: number;
  /** One JSON-RPC call; throws with the node's message. */
  rpc(method: string, params?: readonly unknown[]): Promise<unknown>;
  /** Mines n blocks; the block n − 2 below the newest is then final. */
  mine(blocks?: number): Promise<void>;
  blockNumber(): Promise<number>;
  /** Ends the process and waits until it is gone. */
  stop(): Promise<void>;
}

export interface AnvilOptions {
  /** Default 31337. */
  readonly chainId?: number;
  /** `manual`: only `mine` makes blocks. `auto` (default): every transaction makes one. A number: seconds. */
  readonly mining?: 'manual' | 'auto' | number;
  /** The newest final block is twice this below the newest. Default 1. */
  readonly slotsInAnEpoch?: number;
  /** More words of the command line. */
  readonly words?: readonly string[];
}

/** Private keys of the accounts that anvil gives coins at its start; known to everybody. */
export const anvilKeys = [
  '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80',
  '0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d',
  '0x5de4111afa1a4b94908f83103eb1f1706367c2e68ca870fc3fb9a804cdab365a',
] as const;

const START_TIMEOUT_MS = 90_000;
const DEFAULT_CHAIN_ID = 31_337;

/** Starts anvil, by default with `finalized` two blocks below `latest`; resolves when it listens. */
export async function startAnvil(options: AnvilOptions = {}): Promise<Anvil> {
  const chainId = options.chainId ?? DEFAULT_CHAIN_ID;
  const child = spawn(
    findAnvil(),
    [
      ['--host', '127.0.0.1', '--port', '0', '--chain-id', String(chainId)],
      ['--slots-in-an-epoch', String(options.slotsInAnEpoch ?? 1), '--threads', '1'],
      miningArguments(options.mining ?? 'auto'),
      options.words ?? [],
    ].flat(),
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const endWithUs = () => child.kill('SIGKILL');
  process.once('exit', endWithUs);
  const url = `http://127.0.0.1:${await readPort(child)}`;

  const rpc = (method: string, params: readonly unknown[] = []) => askChain(url, method, params);

  return {
    url,
    chainId,
    rpc,
    async mine(blocks = 1) {
      await rpc('anvil_mine', [`0x${blocks.toString(16)}`]);
    },
    async blockNumber() {
      return Number(await rpc('eth_blockNumber'));
    },
    async stop() {
      process.off('exit', endWithUs);
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
    },
  };
}

function miningArguments(mining: 'manual' | 'auto' | number): string[] {
  if (mining === 'auto') return [];
  return mining === 'manual' ? ['--no-mining'] : ['--block-time', String(mining)];
}

/** The port it prints when it listens; afterwards its output is read and dropped, so that it never blocks. */
async function readPort(child: ChildProcess): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const timer = setTimeout(() => reject(new Error('anvil did not start in time')), START_TIMEOUT_MS);
  let output = '';
  let isListening = false;
  child.stdout?.on('data', (chunk: Buffer) => {
    if (isListening) return;
    output += chunk.toString();
    const match = /Listening on [\d.]+:(\d+)/.exec(output);
    if (match === null) return;
    isListening = true;
    resolve(Number(match[1]));
  });
  child.once('error', reject);
  child.once('exit', (code) => reject(new Error(`anvil ended with ${code} at its start:\n${output}`)));
  try {
    return await promise;
  } catch (error) {
    child.kill('SIGKILL');
    throw error;
  } finally {
    clearTimeout(timer);
  }
}
