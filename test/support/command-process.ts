import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

const program = join(import.meta.dirname, '../../bin/card-checkout.js');

/** Starts a command of this data folder, with `isTerminal` on a pseudo terminal. `printed` is what it has printed. */
export function startCommand(folder: string, words: readonly string[], isTerminal = false) {
  const command = [process.execPath, program, ...words];
  const [name = '', ...rest] = isTerminal
    ? ['script', '--quiet', '--return', '--command', command.join(' '), '/dev/null']
    : command;
  const child = spawn(name, rest, { cwd: folder, env: { PATH: process.env['PATH'], DATA_DIR: folder } });
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (printed += String(chunk)));
  return Object.assign(child, { printed: () => printed });
}

export async function runCommand(folder: string, words: readonly string[]) {
  const child = startCommand(folder, words);
  const texts = [text(child.stdout as never), text(child.stderr as never)] as const;
  const [code] = await once(child, 'close');
  const [stdout, stderr] = await Promise.all(texts);
  return { code, stdout, stderr };
}
