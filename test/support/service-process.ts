import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import packageFile from '../../package.json' with { type: 'json' };
import { waitFor } from './wait-for.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
/** Where processes are started: no `.env` of a contributor lies there. */
const workingFolder = fileURLToPath(new URL('../', import.meta.url));

/** Environment variables of a service under test; nothing of ours leaks in but the PATH and where Node keeps compiled code. */
export type ServiceEnvironment = Readonly<Record<string, string>>;

/** A real server process. */
export interface ServiceProcess {
  readonly pid: number;
  /** Whether it is gone, by itself or by a signal. */
  hasEnded(): boolean;
  /** All that it printed so far. */
  output(): string;
  /** The API key of the demo account; of a sandbox only. */
  demoKey(): string;
  /** Sends a signal and resolves with the exit code, or null when the signal killed it. */
  end(signal: 'SIGINT' | 'SIGTERM' | 'SIGKILL'): Promise<number | null>;
}

/** What `npm start` tells Node. */
const startFlags =
  /node ((?:--\S+ )*)bin\/card-checkout\.js/.exec(packageFile.scripts.start)?.[1]?.match(/\S+/g) ?? [];

function environmentOf(environment: ServiceEnvironment): NodeJS.ProcessEnv {
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  return { PATH, ...(NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE }), ...environment };
}

/** Starts `card-checkout start` and resolves when it says that it is ready; throws with its output when it ends before. */
export async function startServiceProcess(
  environment: ServiceEnvironment,
  {
    args = [] as readonly string[],
    boundMs = 120_000,
    nodeArgs = [] as readonly string[],
    /** The program that starts Node and becomes it, with its arguments: `prlimit`, for one. */
    through = [] as readonly string[],
    /** Where the service writes its log itself, as it does under systemd; the output is what it adds to this file. */
    logFile = undefined as string | undefined,
    /** The folder of the program; another one for another version. */
    program: folder = root,
  } = {},
): Promise<ServiceProcess> {
  const node = [
    process.execPath,
    ...startFlags,
    ...nodeArgs,
    join(folder, 'bin/card-checkout.js'),
    'start',
    ...args,
  ];
  const [program = '', ...words] = [...through, ...node];
  const log = logFile === undefined ? 'pipe' : openSync(logFile, 'a');
  const logged = logFile === undefined ? 0 : statSync(logFile).size;
  const child = spawn(program, words, {
    cwd: workingFolder,
    env: environmentOf(environment),
    stdio: ['ignore', log, log],
  });
  if (log !== 'pipe') closeSync(log);
  let printed = '';
  child.stdout?.on('data', (chunk: Buffer) => (printed += chunk.toString('utf8')));
  child.stderr?.on('data', (chunk: Buffer) => (printed += chunk.toString('utf8')));
  const readOutput = () =>
    logFile === undefined ? printed : readFileSync(logFile).subarray(logged).toString('utf8');
  const exited = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)));
  await waitFor('the service to be ready', boundMs, () => {
    if (hasEnded(child)) throw new Error(`the service ended:\n${readOutput()}`);
    return /sandbox is ready|"msg":"ready"/.test(readOutput());
  }).catch(async (error: unknown) => {
    child.kill('SIGKILL');
    await exited;
    throw new Error(`${String(error)}\n${readOutput()}`, { cause: error });
  });
  return {
    pid: child.pid as number,
    hasEnded: () => hasEnded(child),
    output: readOutput,
    demoKey: () => /service_live_[\w-]+/.exec(readOutput())?.[0] ?? '',
    end: (signal) => endOf(child, exited, signal),
  };
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

async function endOf(
  child: ChildProcess,
  exited: Promise<number | null>,
  signal: 'SIGINT' | 'SIGTERM' | 'SIGKILL',
): Promise<number | null> {
  if (!hasEnded(child)) child.kill(signal);
  return exited;
}

/** The arguments of a command: its words in one text, and those that may have blanks or come from elsewhere. */
type CommandLine = readonly [words: string, ...more: string[]];

const argumentsOf = ([words, ...more]: CommandLine) => [
  join(root, 'bin/card-checkout.js'),
  ...words.split(' '),
  ...more,
];

/** Runs `card-checkout` with these arguments and returns what it printed; throws when it fails. */
export async function runCommand(environment: ServiceEnvironment, ...line: CommandLine): Promise<string> {
  const options = { cwd: workingFolder, env: environmentOf(environment), timeout: 180_000 };
  return (await promisify(execFile)(process.execPath, argumentsOf(line), options)).stdout;
}

/** The same with `--json`, parsed. */
export async function runJson<T>(environment: ServiceEnvironment, ...line: CommandLine): Promise<T> {
  return JSON.parse(await runCommand(environment, ...line, '--json')) as T;
}

export async function createShop(environment: ServiceEnvironment, name = 'Shop', ...options: string[]) {
  const { account_id: account } = await runJson<{ account_id: string }>(
    environment,
    'account create --name',
    name,
    ...options,
  );
  const key = await runJson<{ key_id: string; api_key: string }>(
    environment,
    'key create --account',
    account,
  );
  return { account, keyId: key.key_id, apiKey: key.api_key };
}

/** A command that goes on until it is ended. */
export interface RunningCommand {
  /** All that it printed so far, on both ways out. */
  output(): string;
  end(): Promise<void>;
}

/** Starts `card-checkout` with these arguments and lets it run. */
export function startCommand(environment: ServiceEnvironment, ...line: CommandLine): RunningCommand {
  const child = spawn(process.execPath, argumentsOf(line), {
    cwd: workingFolder,
    env: environmentOf(environment),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString('utf8')));
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString('utf8')));
  const exited = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)));
  return {
    output: () => output,
    async end() {
      await endOf(child, exited, 'SIGINT');
    },
  };
}
