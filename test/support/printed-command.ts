import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';

/** Runs a printed `curl` in a shell, as a reader would. Where curl is not installed, this file sends the request. */
export async function runPrintedCommand(command: string): Promise<string> {
  const withoutCurl = 'command -v curl >/dev/null || curl() { "$NODE" "$SCRIPT" "$@"; }';
  const { stdout } = await promisify(execFile)('sh', ['-c', `${withoutCurl}\n${command}`], {
    env: { ...process.env, NODE: process.execPath, SCRIPT: fileURLToPath(import.meta.url) },
  });
  return stdout;
}

/** Sends what curl's options say; an option that is missing here fails the command. */
async function send(words: readonly string[]): Promise<string> {
  const { values, positionals } = parseArgs({
    args: [...words],
    allowPositionals: true,
    options: {
      silent: { type: 'boolean', short: 's' },
      header: { type: 'string', short: 'H', multiple: true },
      data: { type: 'string', short: 'd' },
    },
  });
  // Like curl, which never asks a resolver for `localhost`.
  const url = (positionals[0] ?? '').replace('://localhost:', '://127.0.0.1:');
  const response = await fetch(url, {
    method: values.data === undefined ? 'GET' : 'POST',
    headers: (values.header ?? []).map((line): [string, string] => [
      line.split(':')[0] ?? '',
      line.replace(/^[^:]*:/, ''),
    ]),
    body: values.data ?? null,
  });
  return response.text();
}

if (import.meta.main) process.stdout.write(await send(process.argv.slice(2)));
