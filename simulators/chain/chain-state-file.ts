import { link, open, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { request } from 'undici';
import type { SandboxLog } from '../sandbox-log.ts';

/** A state of some hours has tens of megabytes. */
const SAVE_LIMIT_MS = 60_000;

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
 *
 * Goes to the file in pieces, so that the whole state is never in memory.
 */
export async function saveChainState(url: string, directory: string): Promise<void> {
  const { body } = await request(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'anvil_dumpState', params: [] }),
    signal: AbortSignal.timeout(SAVE_LIMIT_MS),
  });
  const next = `${stateFileOf(directory)}.new`;
  const file = await open(next, 'w', 0o600);
  try {
    await pipeline(body, readHexResult, createGunzip(), (pieces: AsyncIterable<Buffer>) =>
      file.writeFile(pieces),
    );
    await file.sync();
  } finally {
    await file.close();
  }
  await keepAsPrevious(directory);
  await rename(next, stateFileOf(directory));
}

/** The bytes of the text `0x…` in an answer of JSON-RPC, which has no other. Throws where it does not end. */
async function* readHexResult(answer: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  let isInResult = false;
  let unread = '';
  for await (const piece of answer) {
    unread += Buffer.from(piece).toString('latin1');
    if (!isInResult) {
      const start = unread.indexOf('"0x');
      if (start === -1) continue;
      isInResult = true;
      unread = unread.slice(start + 3);
    }
    const end = unread.indexOf('"');
    // Two digits are a byte; a piece may end between them.
    const digits = end === -1 ? unread.length - (unread.length % 2) : end;
    yield Buffer.from(unread.slice(0, digits), 'hex');
    if (end !== -1) return;
    unread = unread.slice(digits);
  }
  throw new Error('the local chain gave no state');
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
