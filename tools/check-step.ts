/** Runs one step of the check as a process, collects its output and limits its duration. */
import { type ChildProcess, spawn } from 'node:child_process';
import { setPriority } from 'node:os';
import { join } from 'node:path';

/** A command to run in the project's root. */
export interface Step {
  name: string;
  command: [string, ...string[]];
  timeoutMs: number;
  /** Runs it and its children at low priority, because other steps wait for deadlines. */
  isBackground?: true;
}

/** Outcome of a step. `problem` says why it failed; undefined if it passed. */
export interface StepResult {
  step: Step;
  output: string;
  durationMs: number;
  problem: string | undefined;
}

/** Maximum kept output, more than any step prints unless it runs away. */
const outputLimitBytes = 16 * 1024 * 1024;
const graceMs = 5_000;
/** About a third of the CPU while others compete for it. */
const BACKGROUND_PRIORITY = 5;
/** Processes of the steps that run, with their names. */
export const running = new Map<ChildProcess, string>();

/** Runs the step to its end. Never rejects: every failure is the result's `problem`. */
export async function runStep(step: Step): Promise<StepResult> {
  const started = performance.now();
  const [file, ...parameters] = step.command;
  const child = spawn(file, parameters, {
    cwd: join(import.meta.dirname, '..'),
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, NO_COLOR: '1', FORCE_COLOR: undefined },
    // Leads a process group, so that its children end with it and do not hold its output open.
    detached: true,
  });
  running.set(child, step.name);
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
    endGroup(child, 'SIGTERM');
    setTimeout(() => endGroup(child, 'SIGKILL'), graceMs).unref();
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

/** Forwards a signal to the running steps. */
export function stopSteps(signal: NodeJS.Signals): void {
  for (const child of running.keys()) endGroup(child, signal);
}

function endGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  try {
    if (pid !== undefined) process.kill(-pid, signal);
  } catch {}
}
