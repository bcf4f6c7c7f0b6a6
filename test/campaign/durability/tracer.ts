import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The calls by which data reaches files and sockets, and by which files reach the disk. */
const TRACED = 'fsync,fdatasync,write,pwrite64,writev,pwritev,pwritev2,sendto,sendmsg';
/** More than is ever handed over at once by the database, so that no row is cut off. */
const LONGEST_STRING_BYTES = 1024 * 1024;
const ATTACH_MS = 30_000;

export interface Trace {
  /** Ends it and returns what it shows. */
  end(): Promise<string>;
}

/** Traces running processes with all their threads. Returns why that cannot be done here, where it cannot. */
export async function traceProcesses(
  pids: readonly number[],
): Promise<Trace | { readonly unchecked: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'card-checkout-trace-'));
  const file = join(folder, 'trace');
  const remove = () => rmSync(folder, { recursive: true });
  const options = [
    '-f',
    '-x',
    '-y',
    '-s',
    String(LONGEST_STRING_BYTES),
    '-e',
    `trace=${TRACED}`,
    '-e',
    'signal=none',
  ];
  const strace = spawn('strace', [...options, '-o', file, ...pids.flatMap((pid) => ['-p', String(pid)])], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const refusal = await untilAttached(strace, pids).catch(async (error: unknown) => {
    await endTracer(strace);
    remove();
    throw error;
  });
  if (refusal !== null) {
    await endTracer(strace);
    remove();
    return { unchecked: refusal };
  }
  return {
    async end() {
      await endTracer(strace);
      const text = readFileSync(file, 'latin1');
      remove();
      return text;
    },
  };
}

/** Null once all are traced, else why they cannot be. Throws for what is nobody's refusal. */
async function untilAttached(strace: ChildProcess, pids: readonly number[]): Promise<string | null> {
  const { promise, resolve, reject } = Promise.withResolvers<string | null>();
  let output = '';
  const timer = setTimeout(
    () => reject(new Error(`strace did not attach in time to ${pids.join(', ')}:\n${output}`)),
    ATTACH_MS,
  );
  strace.once('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') resolve('strace is not installed');
    else reject(error);
  });
  strace.stderr?.on('data', (chunk: Buffer) => {
    output += chunk.toString();
    if (/Operation not permitted/.test(output)) resolve('tracing is not permitted');
    else if (pids.every((pid) => isSettled(pid, output))) resolve(null);
  });
  strace.once('exit', () => reject(new Error(`strace ended:\n${output}`)));
  return promise.finally(() => clearTimeout(timer));
}

/** A connection's process may have ended since it was listed; it then has nothing to show. */
function isSettled(pid: number, output: string): boolean {
  return new RegExp(`Process ${pid} attached|\\(PTRACE_SEIZE, ${pid}\\): No such process`).test(output);
}

async function endTracer(strace: ChildProcess): Promise<void> {
  if (strace.pid === undefined || strace.exitCode !== null || strace.signalCode !== null) return;
  const exited = once(strace, 'exit');
  strace.kill('SIGINT');
  await exited;
}

/** The processes that a process has started and that still run. */
export function childrenOf(parent: number): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => parentOf(pid) === parent);
}

/** Null for a process that is gone. */
export function parentOf(pid: number): number | null {
  try {
    // The name in parentheses may hold anything.
    return Number(/\) \S (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1]);
  } catch (error) {
    if (['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) return null;
    throw error;
  }
}
