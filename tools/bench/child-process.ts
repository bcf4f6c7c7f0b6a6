import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import type { Pin } from './load/run-load.ts';

/** Child process of the bench, which answers one request at a time (see `answer-parent.ts`). */
export interface Child<Ready> {
  /** Its message on becoming ready. */
  readonly ready: Ready;
  ask<Answer>(question: unknown): Promise<Answer>;
  /** Pauses it, so that its background work takes no CPU from the others. */
  pause(): void;
  resume(): void;
  stop(): Promise<void>;
}

export interface ChildOptions {
  readonly pin: Pin;
  /** Options of Node itself, such as the profiler's. */
  readonly nodeFlags?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
}

/** Starts `node SCRIPT PARAMETERS`, a script below this folder; resolves when it is ready. */
export async function startChild<Ready>(
  script: string,
  parameters: readonly string[],
  { pin, nodeFlags = [], environment = {} }: ChildOptions,
): Promise<Child<Ready>> {
  const file = join(import.meta.dirname, script);
  const [program = '', ...rest] = pin([process.execPath, ...nodeFlags, file, ...parameters]);
  const child = spawn(program, rest, {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    serialization: 'advanced',
    env: { ...process.env, ...environment },
  });
  // Logs go into a pipe, as under a service manager, and are discarded.
  child.stdout?.resume();
  return {
    ready: (await nextMessage(child, script)) as Ready,
    async ask<Answer>(question: unknown) {
      child.send(question as object);
      return (await nextMessage(child, script)) as Answer;
    },
    pause: () => void child.kill('SIGSTOP'),
    resume: () => void child.kill('SIGCONT'),
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exited = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGCONT');
      child.send('stop');
      await exited;
    },
  };
}

function nextMessage(child: ChildProcess, script: string): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const onExit = (code: number | null, signal: string | null) =>
      reject(new Error(`${script} ended (${code ?? signal})`));
    child.once('exit', onExit);
    child.once('message', (message) => {
      child.off('exit', onExit);
      resolve(message);
    });
  });
}
