import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

export interface LiveProcess {
  readonly pid: number;
  /** Resolves when the service is ready. Throws `PortTakenError`, or another error if the service ends or is late. */
  ready(limitMs: number, signal: AbortSignal): Promise<void>;
  log(): readonly string[];
  /** Sends a signal, and SIGKILL after a timeout. Resolves to the exit code. */
  end(signal: 'SIGTERM' | 'SIGKILL'): Promise<number | null>;
}

/** Error for a port that another program has taken since it was chosen. */
export class PortTakenError extends Error {
  override readonly name = 'PortTakenError';
}

const LOG_LINES = 12;
const MAXIMUM_LINE_CHARACTERS = 500;
const POLL_MS = 100;
/** Time to stop before SIGKILL, longer than the drain and the longest webhook delivery. */
const STOP_LIMIT_MS = 45_000;

/**
 * Starts `card-checkout start --live` with this environment. Logs to a file, because a pipe could fill up.
 *
 * @param script file of the command `card-checkout`
 */
export function startLiveProcess(
  script: string,
  environment: NodeJS.ProcessEnv,
  logFile: string,
): LiveProcess {
  const output = openSync(logFile, 'w', 0o600);
  const child = spawn(process.execPath, [...process.execArgv, script, 'start', '--live'], {
    env: environment,
    stdio: ['ignore', output, output],
  });
  closeSync(output);
  const exited = new Promise<number | null>((resolve) => {
    child.once('exit', resolve);
    child.once('error', () => resolve(null));
  });
  const hasEnded = () => child.pid === undefined || child.exitCode !== null || child.signalCode !== null;
  const read = () => readFileSync(logFile, 'utf8');
  return {
    pid: child.pid ?? 0,
    async ready(limitMs, signal) {
      const deadlineMs = performance.now() + limitMs;
      while (!read().includes('"msg":"ready"')) {
        if (hasEnded()) {
          if (/port \d+ on \S+ is in use/.test(read())) throw new PortTakenError('a port is in use');
          throw new Error(`the service ended with ${child.exitCode ?? child.signalCode}`);
        }
        if (performance.now() > deadlineMs) throw new Error(`it is not ready after ${limitMs / 1000} s`);
        await delay(POLL_MS, undefined, { signal });
      }
    },
    log() {
      const lines = read().trim().split('\n').slice(-LOG_LINES);
      return lines.map((line) => line.slice(0, MAXIMUM_LINE_CHARACTERS));
    },
    async end(signal) {
      if (hasEnded()) return exited;
      child.kill(signal);
      const timer = setTimeout(() => child.kill('SIGKILL'), STOP_LIMIT_MS);
      const code = await exited;
      clearTimeout(timer);
      return code;
    },
  };
}
