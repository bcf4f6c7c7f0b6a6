import { link, open, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { request } from 'undici';
import type { SandboxLog } from '../sandbox-log.ts';

/** Time limit of a save, long enough for the tens of megabytes that accumulate in several hours. */
const SAVE_LIMIT_MS = 60_000;

/** Returns the path of the file that anvil loads at its start and writes at its end. */
export function stateFileOf(directory: string): string {
  return join(directory, 'chain-state.json');
}

/** Returns the path of the last saved state, compressed. */
export function savedFileOf(directory: string): string {
  return `${stateFileOf(directory)}.gz`;
}

/** Returns the path of the saved state before the last one. */
export function previousFileOf(directory: string): string {
  return join(directory, 'chain-state.previous.json.gz');
}

/**
 * Saves the node's whole state and replaces the file atomically. Anvil's own dump overwrites its file in place, so a
 * kill would leave a truncated file. Keeps the previous state in case the disk damages the newest one.
 *
 * Writes the state as it arrives, compressed and in pieces, because a save follows every block. Decompressing it
 * fragmented the memory by 70 MiB in half an hour.
 */
export async function saveChainState(url: string, directory: string): Promise<void> {
  const { body } = await request(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'anvil_dumpState', params: [] }),
    signal: AbortSignal.timeout(SAVE_LIMIT_MS),
  });
  const saved = savedFileOf(directory);
  const next = `${saved}.new`;
  const file = await open(next, 'w', 0o600);
  try {
    await file.writeFile(readHexResult(body));
    await file.sync();
  } finally {
    await file.close();
  }
  await keepAsPrevious(directory);
  await rename(next, saved);
}

/** Start of the result in a JSON-RPC answer, with the first two bytes of every gzip file. */
const RESULT_START = '"0x1f8b';

/** Yields the bytes of the result in a JSON-RPC answer. Throws if the result is missing or cut off. */
async function* readHexResult(answer: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  let isInResult = false;
  let unread = '';
  for await (const piece of answer) {
    unread += Buffer.from(piece).toString('latin1');
    if (!isInResult) {
      const start = unread.indexOf(RESULT_START);
      if (start === -1) continue;
      isInResult = true;
      unread = unread.slice(start + '"0x'.length);
    }
    const end = unread.indexOf('"');
    // Leaves an odd last digit for the next piece, because a byte has two digits.
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
    await link(savedFileOf(directory), previousFileOf(directory));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}

interface ChainState {
  readonly height: number;
  readonly text: string;
}

/** Reads a state. Returns null if there is no file, or 'damaged' if anvil could not load it. */
async function readState(path: string): Promise<ChainState | null | 'damaged'> {
  let bytes: Buffer;
  try {
    bytes = await readFile(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
  try {
    const text = (path.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8');
    const state = JSON.parse(text) as { blocks?: unknown; accounts?: unknown; block?: { number?: unknown } };
    const height = Number(state.block?.number);
    const isComplete =
      Array.isArray(state.blocks) && typeof state.accounts === 'object' && !Number.isNaN(height);
    return isComplete ? { height, text } : 'damaged';
  } catch {
    return 'damaged';
  }
}

/**
 * Puts the newest state where anvil loads it: the state that anvil wrote at its end, or the saved one after a kill.
 * Moves a damaged file aside, so that it does not block the sandbox. If only the previous state is usable, logs that
 * later blocks are lost.
 */
export async function prepareChainState(directory: string, log: SandboxLog): Promise<void> {
  const load = async (file: string) => {
    const state = await readState(file);
    if (state !== 'damaged') return state;
    await rename(file, `${file}.damaged`);
    log.error({ file: `${file}.damaged` }, "the local chain's saved state is damaged and was put aside");
    return state;
  };
  const [ofEnd, saved] = [await load(stateFileOf(directory)), await load(savedFileOf(directory))];
  const isUsable = (state: typeof ofEnd): state is ChainState => state !== null && state !== 'damaged';
  if (isUsable(ofEnd) && !(isUsable(saved) && saved.height > ofEnd.height)) return;
  if (isUsable(saved)) return putInPlace(directory, saved);

  const previous = await readState(previousFileOf(directory));
  if (isUsable(previous)) {
    await putInPlace(directory, previous);
    log.error(
      { block: previous.height },
      'the local chain goes on from an OLDER saved state; later blocks are lost',
    );
  } else if (ofEnd !== null || saved !== null || previous !== null) {
    log.error({}, 'the local chain has no usable saved state and begins anew; its old blocks are lost');
  }
}

async function putInPlace(directory: string, { text }: ChainState): Promise<void> {
  const next = `${stateFileOf(directory)}.new`;
  await writeFile(next, text, { mode: 0o600 });
  await rename(next, stateFileOf(directory));
}
