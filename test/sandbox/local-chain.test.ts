import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { endOrphanedChain, spawnChain } from '../../sandbox/chain/chain-process.ts';
import {
  previousFileOf,
  saveChainState,
  savedFileOf,
  stateFileOf,
} from '../../sandbox/chain/chain-state-file.ts';
import { deploySandboxContracts } from '../../sandbox/chain/deploy-sandbox-contracts.ts';
import { findAnvil } from '../../sandbox/chain/find-anvil.ts';
import { type LocalChain, startLocalChain } from '../../sandbox/chain/local-chain.ts';
import { developmentKeys } from '../../sandbox/development-keys.ts';
import { claimLoopbackPort } from '../../sandbox/loopback-port.ts';
import { MULTICALL3 } from '../../src/settlement/chain/token-reader.ts';
import { listenOnLoopback } from '../support/listen-on-loopback.ts';
import { createRecordingLog, makeFolder, someAddress, WAIT } from './fixture.ts';

let folder: Awaited<ReturnType<typeof makeFolder>>;
let directory: string;
let log: ReturnType<typeof createRecordingLog>;
let chains: LocalChain[];

beforeEach(async () => {
  folder = await makeFolder();
  directory = join(folder.path, 'chain');
  log = createRecordingLog();
  chains = [];
});

afterEach(async () => {
  for (const chain of chains) await chain.stop();
  await folder.remove();
});

async function start(port?: number): Promise<LocalChain> {
  const chain = await startLocalChain({ directory, log, ...(port === undefined ? {} : { port }) });
  chains.push(chain);
  return chain;
}

async function mark(chain: LocalChain, digit: string): Promise<void> {
  await chain.rpc.call('anvil_setBalance', [someAddress(digit), '0x7']);
  await chain.rpc.call('evm_mine', []);
}

async function isMarked(chain: LocalChain, digit: string, block = 'latest'): Promise<boolean> {
  return (await chain.rpc.call('eth_getBalance', [someAddress(digit), block])) === '0x7';
}

function isRunning(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8') !== '';
  } catch {
    return false;
  }
}

describe('the local chain', () => {
  it('keeps everything over a stop, also what was not saved before, and has it final at once', async () => {
    const first = await start();
    await mark(first, '1');
    const pid = first.pid();
    await first.stop();
    expect(isRunning(pid)).toBe(false);
    const second = await start();
    for (const block of ['latest', 'finalized']) expect(await isMarked(second, '1', block)).toBe(true);
    expect(log.lines).toEqual([]);
  });

  it('leads its own process group, so that Ctrl-C does not reach it behind our back', async () => {
    const chain = await start();
    const group = (await readFile(`/proc/${chain.pid()}/stat`, 'utf8')).split(') ')[1]?.split(' ')[2];
    expect(Number(group)).toBe(chain.pid());
  });

  it('comes back on the same port when it is killed, with what was saved', async () => {
    const chain = await start();
    await mark(chain, '1');
    await chain.save();
    await mark(chain, '2');
    const killed = chain.pid();
    process.kill(killed, 'SIGKILL');
    await vi.waitFor(async () => {
      expect(chain.pid()).not.toBe(killed);
      expect(await isMarked(chain, '1')).toBe(true);
    }, WAIT);
    expect(await isMarked(chain, '2')).toBe(false);
    expect(log.lines[0]).toContain('ended unexpectedly');
  });

  it('of a sandbox has Multicall3, also after a restart', async () => {
    const first = await start();
    await deploySandboxContracts(first.rpc, developmentKeys());
    await first.stop();
    const { rpc } = await start();
    expect(await rpc.call('eth_getCode', [MULTICALL3, 'latest'])).not.toBe('0x');
  });

  it('refuses a port that is taken', async () => {
    const chain = await start();
    const port = Number(new URL(chain.url).port);
    const other = startLocalChain({ directory: join(folder.path, 'other'), log, port });
    await expect(other).rejects.toThrow(`port ${port} for the local chain is in use`);
  });

  const damages: [string, (bytes: Buffer) => Buffer][] = [
    ['cut short', (bytes) => bytes.subarray(0, bytes.length / 2)],
    ['emptied', () => Buffer.alloc(0)],
    ['replaced by something else', () => gzipSync('{"hello":"world"}')],
  ];
  const damage = async (file: string, by: (bytes: Buffer) => Buffer) =>
    await writeFile(file, by(await readFile(file)));

  it.each(damages)(
    'loses nothing when the state of its end was %s: it takes the saved one',
    async (_, by) => {
      const first = await start();
      await mark(first, '1');
      await first.stop();
      await damage(stateFileOf(directory), by);
      expect(await isMarked(await start(), '1')).toBe(true);
      expect(log.lines).toEqual([expect.stringMatching(/^error.*damaged/)]);
    },
  );

  it.each(damages)('takes the state before when both newer ones were %s, and says so', async (_, by) => {
    const first = await start();
    await mark(first, '1');
    await first.save();
    await mark(first, '2');
    await first.stop();
    await damage(stateFileOf(directory), by);
    await damage(savedFileOf(directory), by);
    const second = await start();
    expect(await isMarked(second, '1')).toBe(true);
    expect(await isMarked(second, '2')).toBe(false);
    expect(log.lines.filter((line) => line.startsWith('error'))).toEqual([
      expect.stringContaining('damaged'),
      expect.stringContaining('damaged'),
      expect.stringContaining('OLDER'),
    ]);
  });

  it('begins anew, loudly, when no state can be used', async () => {
    await mkdir(directory, { recursive: true });
    for (const file of [stateFileOf(directory), savedFileOf(directory), previousFileOf(directory)])
      await writeFile(file, '{');
    const chain = await start();
    expect(Number(await chain.rpc.call('eth_blockNumber', []))).toBe(3);
    expect(log.lines.some((line) => line.includes('begins anew'))).toBe(true);
  });
});

describe('the saved state', () => {
  const state = '{"block":{"number":7},"blocks":[],"accounts":{}}';
  const answer = JSON.stringify({ jsonrpc: '2.0', id: 1, result: `0x${gzipSync(state).toString('hex')}` });

  /** Saves what a node answers with these pieces, and then hangs up. */
  async function save(pieces: readonly string[]): Promise<void> {
    await mkdir(directory, { recursive: true });
    const node = createServer(async (_request, response) => {
      for (const piece of pieces) await new Promise((written) => response.write(piece, written));
      response.end();
    });
    await saveChainState(await listenOnLoopback(node), directory);
  }
  const saved = async () => gunzipSync(await readFile(savedFileOf(directory))).toString('utf8');

  it('is whole, wherever the pieces of the answer end', async () => {
    await save([...answer]);
    expect(await saved()).toBe(state);
    for (let at = 30; at < 50; at++) await save([answer.slice(0, at), answer.slice(at)]);
    expect(await saved()).toBe(state);
  });

  it.each([
    ['is cut short', answer.slice(0, -9)],
    ['is a refusal', '{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"Method not found"}}'],
    ['is no state', '{"jsonrpc":"2.0","id":1,"result":"0x1234"}'],
    ['is empty', ''],
  ])('is the one before when the answer %s', async (_what, text) => {
    await save([answer]);
    await expect(save([text])).rejects.toThrow();
    expect(await saved()).toBe(state);
  });
});

describe('a chain that an earlier run left behind', () => {
  /** A node without anyone who looks after it, as after kill -9 of the server. */
  async function leaveOrphan(): Promise<{ pid: number; mine: (digit: string) => Promise<void> }> {
    await mkdir(directory, { recursive: true });
    const port = (await claimLoopbackPort(0)) as number;
    const child = await spawnChain(findAnvil(), directory, port);
    const call = async (method: string, params: unknown[]) =>
      await fetch(`http://127.0.0.1:${port}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
      });
    await vi.waitFor(() => call('eth_chainId', []), WAIT);
    return {
      pid: child.pid as number,
      mine: async (digit) => {
        await call('anvil_setBalance', [someAddress(digit), '0x7']);
        await call('evm_mine', []);
      },
    };
  }

  it('is ended, and what it knew is kept', async () => {
    const orphan = await leaveOrphan();
    await orphan.mine('1');
    const chain = await start();
    expect(isRunning(orphan.pid)).toBe(false);
    expect(await isMarked(chain, '1')).toBe(true);
    expect(log.lines[0]).toContain('earlier run');
  });

  it('is found with ps where there is no /proc, as on macOS', async () => {
    const orphan = await leaveOrphan();
    const real = Object.getOwnPropertyDescriptor(process, 'platform') as PropertyDescriptor;
    Object.defineProperty(process, 'platform', { value: 'darwin' });
    try {
      await endOrphanedChain(join(folder.path, 'another'), log);
      expect(isRunning(orphan.pid)).toBe(true);
      await endOrphanedChain(directory, log);
      expect(isRunning(orphan.pid)).toBe(false);
    } finally {
      Object.defineProperty(process, 'platform', real);
    }
    expect(log.lines[0]).toContain('earlier run');
  });

  it('is found where an emulator of the processor runs it', async () => {
    const program = join(folder.path, 'anvil');
    await mkdir(directory, { recursive: true });
    await writeFile(program, 'setInterval(() => {}, 1000)');
    const words = [program, '--state', join(directory, 'chain-state.json'), '--quiet'];
    const emulator = spawn(process.execPath, words, { stdio: 'ignore' });
    const ended = once(emulator, 'exit');
    await writeFile(join(directory, 'chain.pid'), `${emulator.pid}\n`);
    await endOrphanedChain(directory, log);
    expect(await ended).toEqual([null, 'SIGINT']);
  });

  it('is killed when it does not listen', async () => {
    const orphan = await leaveOrphan();
    process.kill(orphan.pid, 'SIGSTOP');
    const chain = await start();
    expect(isRunning(orphan.pid)).toBe(false);
    expect(log.lines.some((line) => line.includes('killed'))).toBe(true);
    expect(Number(await chain.rpc.call('eth_chainId', []))).toBe(31_337);
  }, 30_000);

  it('is not mistaken for another process that has its number now', async () => {
    const bystander = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
    await once(bystander, 'spawn');
    try {
      await mkdir(directory, { recursive: true });
      await writeFile(join(directory, 'chain.pid'), `${bystander.pid}\n`);
      await endOrphanedChain(directory, log);
      await start();
      expect(isRunning(bystander.pid as number)).toBe(true);
      expect(bystander.signalCode).toBeNull();
    } finally {
      bystander.kill('SIGKILL');
      await once(bystander, 'exit');
    }
  });

  it('is not mistaken for the chain of another sandbox', async () => {
    const other = await startLocalChain({ directory: join(folder.path, 'other'), log });
    chains.push(other);
    await mkdir(directory, { recursive: true });
    await writeFile(join(directory, 'chain.pid'), `${other.pid()}\n`);
    await start();
    expect(Number(await other.rpc.call('eth_chainId', []))).toBe(31_337);
    expect(log.lines).toEqual([]);
  });

  it.each(['', 'garbage', '-1', '0', '1'])('is not looked for under the number %j', async (text) => {
    await mkdir(directory, { recursive: true });
    await writeFile(join(directory, 'chain.pid'), text);
    await endOrphanedChain(directory, log);
    expect(log.lines).toEqual([]);
  });
});
