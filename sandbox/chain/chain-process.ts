import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { SANDBOX_CHAIN_ID } from '../development-keys.ts';
import type { SandboxLog } from '../sandbox-log.ts';
import { stateFileOf } from './chain-state-file.ts';

/** Maximum historical states kept on disk, for queries about earlier blocks. */
const MAXIMUM_PERSISTED_STATES = 100;
const WRITE_STATE_MS = 10_000;
const AFTER_KILL_MS = 3_000;
const MAXIMUM_LOG_EXCERPT = 500;

function processFileOf(directory: string): string {
  return join(directory, 'chain.pid');
}

function logFileOf(directory: string): string {
  return join(directory, 'chain.log');
}

/** Starts anvil with the state in `directory`, and records its process id there. */
export async function spawnChain(anvil: string, directory: string, port: number): Promise<ChildProcess> {
  const output = openSync(logFileOf(directory), 'w', 0o600);
  const options = {
    state: stateFileOf(directory),
    port,
    'chain-id': SANDBOX_CHAIN_ID,
    'slots-in-an-epoch': 1, // makes `finalized` latest − 2
    'cache-path': join(directory, 'chain-cache'),
    'max-persisted-states': MAXIMUM_PERSISTED_STATES,
  };
  const words = Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)]);
  try {
    const child = spawn(
      anvil,
      [...words, '--no-mining', '--quiet'],
      // Runs anvil in its own process group, so that Ctrl-C reaches only this process, which first saves the state.
      // Anvil's home is the chain's folder, so that anvil leaves nothing in the user's home.
      { detached: true, stdio: ['ignore', output, output], env: { HOME: directory } },
    );
    await once(child, 'spawn');
    await writeFile(processFileOf(directory), `${child.pid}\n`, { mode: 0o600 });
    child.unref();
    return child;
  } finally {
    closeSync(output);
  }
}

export function chainLogExcerpt(directory: string): string {
  return readFileSync(logFileOf(directory), 'utf8').trim().slice(-MAXIMUM_LOG_EXCERPT);
}

/**
 * Returns a process's command line and, in `programs`, its words before the first option, which may begin with an
 * emulator. Returns null if the process is gone. Reads /proc on Linux, because containers often lack `ps`.
 */
async function commandLineOf(pid: number): Promise<{ programs: readonly string[]; text: string } | null> {
  if (process.platform !== 'linux') {
    const { stdout } = spawnSync('ps', ['-ww', '-o', 'command=', '-p', String(pid)], { encoding: 'utf8' });
    const text = stdout.trim();
    // Splits at the first option, not at spaces, because the program's path may contain spaces.
    return text === '' ? null : { programs: text.split(' --').slice(0, 1), text };
  }
  try {
    const words = (await readFile(`/proc/${pid}/cmdline`, 'utf8')).split('\0');
    const firstOption = words.findIndex((word) => word.startsWith('--'));
    return { programs: words.slice(0, firstOption), text: words.join(' ') };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ESRCH') return null;
    throw error;
  }
}

/** Returns whether the process is an anvil with its state in `directory`. The system may have reused the id. */
async function isOurChain(pid: number, directory: string): Promise<boolean> {
  const command = await commandLineOf(pid);
  if (!command?.programs.some((program) => basename(program) === 'anvil')) return false;
  return command.text.includes(` --state ${stateFileOf(directory)} `);
}

async function isGoneWithin(pid: number, directory: string, timeoutMs: number): Promise<boolean> {
  const deadlineMs = performance.now() + timeoutMs;
  while (await isOurChain(pid, directory)) {
    if (performance.now() > deadlineMs) return false;
    await delay(20);
  }
  return true;
}

function signal(pid: number, name: 'SIGINT' | 'SIGKILL'): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** Interrupts a node, which then writes its state. Kills the node after a timeout. Resolves when it is gone. */
export async function endChain(pid: number, directory: string, log: SandboxLog): Promise<void> {
  if (await isOurChain(pid, directory)) {
    signal(pid, 'SIGINT');
    if (!(await isGoneWithin(pid, directory, WRITE_STATE_MS))) {
      log.warn({ pid }, 'the local chain did not end in time and is killed');
      signal(pid, 'SIGKILL');
      if (!(await isGoneWithin(pid, directory, AFTER_KILL_MS))) {
        throw new Error(`the local chain (process ${pid}) cannot be ended`);
      }
    }
  }
  await rm(processFileOf(directory), { force: true });
}

/**
 * Ends the node that a killed run left behind, because two nodes with one state would overwrite each other's blocks.
 * The caller must hold the data folder's lock. Otherwise, the function would end a running server's chain.
 */
export async function endOrphanedChain(directory: string, log: SandboxLog): Promise<void> {
  let text: string;
  try {
    text = await readFile(processFileOf(directory), 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  const pid = Number(text.trim());
  if (Number.isSafeInteger(pid) && pid > 1) {
    if (await isOurChain(pid, directory)) {
      log.warn({ pid }, 'a local chain of an earlier run is still there; it is ended and its state is kept');
    }
    await endChain(pid, directory, log);
  }
}
