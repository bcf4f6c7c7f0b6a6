/** Runs one step of the check as a process of its own, collects what it prints and limits how long it takes. */
import { type ChildProcess, spawn } from 'node:child_process';
import { setPriority } from 'node:os';
import { join } from 'node:path';

/** A command to run in the project's root. */
export interface Step {
  name: string;
  command: [string, ...string[]];
  timeoutMs: number;
  /** It and its children give way to the other steps, which wait for deadlines. */
  isBackground?: true;
}

/** What came of a step; `problem` says in words why it failed, and is undefined when it did not. */
export interface StepResult {
  step: Step;
  output: string;
  durationMs: number;
  problem: string | undefined;
}

/** More than any step prints unless it runs away; what comes after is dropped. */
const outputLimitBytes = 16 * 1024 * 1024;
const graceMs = 5_000;
/** A third of the processor where others want it. */
const BACKGROUND_PRIORITY = 5;
const running = new Set<ChildProcess>();

/** Runs the step to its end. Never rejects: whatever goes wrong is the result's `problem`. */
export async function runStep(step: Step): Promise<StepResult> {
  const started = performance.now();
  const [file, ...parameters] = step.command;
  const child = spawn(file, parameters, {
    cwd: join(import.meta.dirname, '..'),
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, NO_COLOR: '1', FORCE_COLOR: undefined },
  });
  running.add(child);
  if (step.isBackground && child.pid !== undefined) setPriority(child.pid, BACKGROUND_PRIORITY);
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  const collect = (chunk: Buffer) => {
    sizeBytes += chunk.length;
    if (sizeBytes <= outputLimitBytes) chunks.push(chunk);
  };
  child.stdout.on('data', collect);
  child.stderr.on('data', collect);
  const { promise: ended, resolve } = Promise.withResolvers<string | undefined>();
  let timedOut = false;
  const timer = setTimeout(() => {
    timedOut = true;
    child.kill('SIGTERM');
    setTimeout(() => child.kill('SIGKILL'), graceMs).unref();
  }, step.timeoutMs);
  child.on('error', (error) => resolve(error.message));
  child.on('close', (code, signal) => {
    if (timedOut) resolve(`took longer than ${step.timeoutMs / 1000} s`);
    else resolve(code === 0 ? undefined : `exit ${code ?? signal}`);
  });
  const problem = await ended;
  clearTimeout(timer);
  running.delete(child);
  return { step, output: Buffer.concat(chunks).toString(), durationMs: performance.now() - started, problem };
}

/** Passes a signal on to the steps that are running. */
export function stopSteps(signal: NodeJS.Signals): void {
  for (const child of running) child.kill(signal);
}
