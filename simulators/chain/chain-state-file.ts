import { link, open, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import type { JsonRpcClient } from '../../src/chain/json-rpc.ts';
import type { SandboxLog } from '../sandbox-log.ts';

/** The file anvil loads at its start and writes at its end. */
export function stateFileOf(directory: string): string {
  return join(directory, 'chain-state.json');
}

function previousFileOf(directory: string): string {
  return join(directory, 'chain-state.previous.json');
}

/**
 * Asks the node for its whole state and puts it in place of the state file, which is always one complete state or the
 * other: anvil's own periodic dump writes in place, and a kill in the middle of it would leave half a file. The state
 * before is kept, in case the disk or anvil's last words spoil the newest.
 */
export async function saveChainState(rpc: JsonRpcClient, directory: string): Promise<void> {
  const dump = await rpc.call('anvil_dumpState', []);
  if (typeof dump !== 'string' || !dump.startsWith('0x')) throw new Error('the local chain gave no state');
  const next = `${stateFileOf(directory)}.new`;
  const file = await open(next, 'w', 0o600);
  try {
    // In pieces: the state has many megabytes, and the process kept what whole ones took.
    const pieces = Readable.from([Buffer.from(dump.slice(2), 'hex')]).pipe(createGunzip());
    await file.writeFile(pieces);
    await file.sync();
  } finally {
    await file.close();
  }
  await keepAsPrevious(directory);
  await rename(next, stateFileOf(directory));
}

async function keepAsPrevious(directory: string): Promise<void> {
  await rm(previousFileOf(directory), { force: true });
  try {
    await link(stateFileOf(directory), previousFileOf(directory));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}

/** The height of a saved state; null when there is no such file, 'damaged' when anvil could not load it. */
async function readHeight(path: string): Promise<number | null | 'damaged'> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
  try {
    const state = JSON.parse(text) as { blocks?: unknown; accounts?: unknown; block?: { number?: unknown } };
    const height = Number(state.block?.number);
    const isComplete =
      Array.isArray(state.blocks) && typeof state.accounts === 'object' && !Number.isNaN(height);
    return isComplete ? height : 'damaged';
  } catch {
    return 'damaged';
  }
}

/**
 * Makes sure that the state file is absent or loadable, so that a damaged one never bricks the sandbox: the state
 * before takes its place, which is said loudly, because what happened on the chain since then is gone.
 */
export async function prepareChainState(directory: string, log: SandboxLog): Promise<void> {
  const height = await readHeight(stateFileOf(directory));
  if (typeof height === 'number') return;
  const previousHeight = await readHeight(previousFileOf(directory));
  if (height === null && previousHeight === null) return; // a new sandbox

  if (height === 'damaged') {
    const damaged = join(directory, 'chain-state.damaged.json');
    await rename(stateFileOf(directory), damaged);
    log.error({ file: damaged }, "the local chain's saved state is damaged and was put aside");
  }
  if (typeof previousHeight === 'number') {
    await rename(previousFileOf(directory), stateFileOf(directory));
    log.error(
      { block: previousHeight },
      'the local chain goes on from an OLDER saved state; later blocks are lost',
    );
  } else {
    log.error({}, 'the local chain has no usable saved state and begins anew; its old blocks are lost');
  }
}
