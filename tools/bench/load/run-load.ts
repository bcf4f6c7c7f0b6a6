import { execFileSync, spawn } from 'node:child_process';
import { join } from 'node:path';

export interface LoadResult {
  /** Requests that succeeded. */
  readonly requests: number;
  readonly durationMicroseconds: number;
  readonly p50Microseconds: number;
  readonly p99Microseconds: number;
  /** Failed requests: other answers and socket errors. */
  readonly failures: number;
}

export interface LoadOptions {
  readonly port: number;
  /** Written by `writeRequests`. */
  readonly requestsFile: string;
  readonly connections: number;
  readonly seconds: number;
}

export interface LoadGenerator {
  readonly name: string;
  run(options: LoadOptions): Promise<LoadResult>;
}

/** Pins a command to a core if the machine has `taskset`, so that server and load do not share one. */
export type Pin = (command: readonly string[]) => readonly string[];

/** `wrk` if installed, otherwise our own client, which uses several times the CPU. */
export function findLoadGenerator(pin: Pin): LoadGenerator {
  return isInstalled('wrk') ? wrk(pin) : ownClient(pin);
}

export function isInstalled(program: string): boolean {
  try {
    execFileSync('sh', ['-c', `command -v ${program}`], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

function wrk(pin: Pin): LoadGenerator {
  return {
    name: 'wrk',
    run: ({ port, requestsFile, connections, seconds }) =>
      runForResult(
        pin([
          'wrk',
          '-t1',
          `-c${connections}`,
          // wrk accepts whole seconds only.
          `-d${Math.ceil(seconds)}s`,
          '--timeout',
          '5s',
          '-s',
          join(import.meta.dirname, 'requests.lua'),
          `http://127.0.0.1:${port}`,
          '--',
          requestsFile,
        ]),
      ),
  };
}

function ownClient(pin: Pin): LoadGenerator {
  return {
    name: 'own client (wrk is not installed: `apt-get install wrk`)',
    run: (options) =>
      runForResult(
        pin([process.execPath, join(import.meta.dirname, 'socket-client.ts'), JSON.stringify(options)]),
      ),
  };
}

/** Runs a generator to its end and reads the line `RESULT {…}` from its output. */
function runForResult([program = '', ...parameters]: readonly string[]): Promise<LoadResult> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, parameters, { stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text;
      });
    }
    child.once('error', reject);
    child.once('close', () => {
      const result = /^RESULT (\{.*\})$/m.exec(output)?.[1];
      if (result === undefined) reject(new Error(`${program} gave no result:\n${output}`));
      else resolve(JSON.parse(result) as LoadResult);
    });
  });
}
