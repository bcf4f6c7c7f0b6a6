/**
 * Builds and runs the image with docker or buildah. docker starts containers. buildah starts none that outlive their command, so the built root folder runs here in mount and process namespaces of its own.
 */
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { waitFor } from '../../test/support/wait-for.ts';
import type { BaseArchive } from './base.ts';

const IMAGE = 'localhost/card-checkout-check';
const BASE = 'localhost/card-checkout-base';
const OPEN_FILES = 20_000;
const PULL_TIMEOUT_MS = 120_000;

export interface Result {
  readonly status: number | null;
  readonly output: string;
}

/** The service in a container: root read-only, not as root, no capability, no new privilege, a limit on open files. */
export interface Container {
  /** Runs a command of the image next to the service. */
  exec(...words: readonly string[]): Result;
  output(): string;
  /** Sends SIGTERM and resolves with the exit code. */
  stop(): Promise<number | null>;
}

export interface ImageTool {
  readonly name: string;
  readonly runner: string;
  /** Whether the base can be fetched from its registry. */
  pull(base: string): boolean;
  /** Imports a tar file as an image, and returns its name. */
  importBase(archive: BaseArchive): string;
  build(context: string, base: string): void;
  /** Writes the image with its layers as a tar file. */
  save(archive: string): void;
  /** The command of the image's HEALTHCHECK. */
  healthcheck(): readonly string[];
  run(data: string, environment: Readonly<Record<string, string>>): Promise<Container>;
  clean(): void;
}

interface ImageConfig {
  readonly User: string;
  readonly Env: readonly string[];
  readonly Entrypoint: readonly string[];
  readonly Cmd: readonly string[];
  readonly WorkingDir: string;
  readonly Healthcheck: { readonly Test: readonly string[] };
}

/** First installed tool that works, or undefined. */
export function findTool(folder: string): ImageTool | undefined {
  // `info` fails if the program is installed but its daemon is not running.
  if (spawnSync('docker', ['info'], { stdio: 'ignore' }).status === 0) return dockerTool();
  const { error } = spawnSync('buildah', ['--version'], { stdio: 'ignore' });
  return error === undefined && process.getuid?.() === 0 ? buildahTool(folder) : undefined;
}

function versionOf(program: string): string {
  const version = /\d+\.\d+\.\d+/.exec(execFileSync(program, ['--version'], { encoding: 'utf8' }));
  return `${program} ${version?.[0] ?? 'of unknown version'}`;
}

function run(command: string, words: readonly string[]): string {
  return execFileSync(command, words, { encoding: 'utf8', maxBuffer: 64 * 1_024 * 1_024 });
}

function resultOf(command: string, words: readonly string[]): Result {
  const { status, stdout, stderr } = spawnSync(command, words, { encoding: 'utf8', timeout: 180_000 });
  return { status, output: `${stdout}${stderr}` };
}

function pullWith(command: string, words: readonly string[]): boolean {
  return spawnSync(command, words, { stdio: 'ignore', timeout: PULL_TIMEOUT_MS }).status === 0;
}

/** Resolves when the service reports that it is ready; throws with its output if it exits first. */
async function ready(child: ChildProcess): Promise<() => string> {
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk: Buffer) => (output += chunk.toString('utf8')));
  await waitFor('the service to be ready', 60_000, () => {
    if (child.exitCode !== null) throw new Error(`the service ended:\n${output}`);
    return output.includes('"msg":"ready"');
  }).catch((error: unknown) => {
    child.kill('SIGKILL');
    throw new Error(`${String(error)}\n${output}`, { cause: error });
  });
  return () => output;
}

function dockerTool(): ImageTool {
  const docker = (...words: string[]) => run('docker', words);
  return {
    name: versionOf('docker'),
    runner: 'docker',
    pull: (base) => pullWith('docker', ['pull', base]),
    importBase({ file, environment }) {
      docker('import', ...environment.flatMap((variable) => ['--change', `ENV ${variable}`]), file, BASE);
      return BASE;
    },
    build(context, base) {
      // Lets the build resolve names and reach the registry like this machine.
      const words = ['build', '--network', 'host', '--build-arg', `BASE=${base}`, '-t', IMAGE, context];
      execFileSync('docker', words, { stdio: ['ignore', 'ignore', 'inherit'] });
    },
    save: (archive) => void docker('save', '-o', archive, IMAGE),
    healthcheck: () => JSON.parse(docker('image', 'inspect', IMAGE))[0].Config.Healthcheck.Test.slice(1),
    async run(data, environment) {
      const container = `card-checkout-check-${process.pid}`;
      const volume = ['--volume', `${data}:/data`];
      docker(
        'run',
        '--rm',
        '--user',
        'root',
        ...volume,
        '--entrypoint',
        'chown',
        IMAGE,
        '-R',
        'node:node',
        '/data',
      );
      const place = ['--name', container, '--network', 'host', ...volume, '--ulimit', `nofile=${OPEN_FILES}`];
      const confinement = [
        '--read-only',
        '--tmpfs',
        '/tmp',
        '--cap-drop',
        'ALL',
        '--security-opt',
        'no-new-privileges',
      ];
      const variables = Object.entries(environment).flatMap(([key, value]) => ['--env', `${key}=${value}`]);
      const child = spawn('docker', ['run', '--rm', ...place, ...confinement, ...variables, IMAGE]);
      const output = await ready(child);
      return {
        output,
        exec: (...words) => resultOf('docker', ['exec', container, ...words]),
        async stop() {
          const ended = once(child, 'exit');
          docker('stop', '--time', '30', container);
          return (await ended)[0] as number | null;
        },
      };
    },
    clean: () => void spawnSync('docker', ['rmi', '--force', IMAGE, BASE], { stdio: 'ignore' }),
  };
}

function buildahTool(folder: string): ImageTool {
  const storage = ['--storage-driver', 'vfs', '--root', join(folder, 'storage')];
  const buildah = (...words: string[]) =>
    run('buildah', [...storage, '--runroot', join(folder, 'storage-run'), ...words]).trim();
  const config = () => JSON.parse(buildah('inspect', '--type', 'image', IMAGE)).Docker.config as ImageConfig;
  return {
    name: versionOf('buildah'),
    runner: 'unshare and chroot',
    pull: (base) => pullWith('buildah', [...storage, '--runroot', join(folder, 'storage-run'), 'pull', base]),
    importBase({ file, environment }) {
      const container = buildah('from', 'scratch');
      buildah('add', container, file, '/');
      for (const variable of environment) buildah('config', '--env', variable, container);
      buildah('commit', '--rm', '--quiet', container, BASE);
      return BASE;
    },
    build(context, base) {
      const words = ['--isolation', 'chroot', '--format', 'docker', '--build-arg', `BASE=${base}`];
      buildah('build', '--quiet', ...words, '--tag', IMAGE, context);
    },
    save: (archive) => void buildah('push', '--quiet', IMAGE, `docker-archive:${archive}`),
    healthcheck: () => config().Healthcheck.Test.slice(1),
    run(data, environment) {
      const root = buildah('mount', buildah('from', IMAGE));
      return runRoot({ root, data, environment, config: config(), folder });
    },
    clean() {},
  };
}

interface RootOptions {
  readonly root: string;
  readonly data: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly config: ImageConfig;
  readonly folder: string;
}

/** Runs a root folder like a container runtime: $0 the folder, $1 the data, $2 a file of hosts, then the command. */
const START = `set -e
root=$0; data=$1; hosts=$2; shift 2; shift
mount --bind "$root" "$root"
mount --bind "$data" "$root/data"
mount -t tmpfs -o nosuid,nodev tmpfs "$root/tmp"
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
mount --bind "$hosts" "$root/etc/hosts"
mount -o remount,bind,ro "$root"
exec chroot "$root" "$@"`;

async function runRoot({ root, data, environment, config, folder }: RootOptions): Promise<Container> {
  const hosts = join(folder, 'hosts');
  writeFileSync(hosts, '127.0.0.1 localhost\n');
  writeFileSync(join(root, 'etc/hosts'), '', { flag: 'a' });
  for (const mounted of ['proc', 'dev', 'tmp']) mkdirSync(join(root, mounted), { recursive: true });
  const passwd = readFileSync(join(root, 'etc/passwd'), 'utf8');
  const [, uid = '', gid = ''] = new RegExp(`^${config.User}:[^:]*:(\\d+):(\\d+):`, 'm').exec(passwd) ?? [];
  chownSync(data, Number(uid), Number(gid));
  const user = [`--reuid=${uid}`, `--regid=${gid}`, '--clear-groups'];
  const privileges = ['--no-new-privs', '--bounding-set=-all', '--inh-caps=-all'];
  const variables = Object.entries(environment).map(([key, value]) => `${key}=${value}`);
  const limits = ['prlimit', `--nofile=${OPEN_FILES}:${OPEN_FILES}`];
  const cleared = ['env', '-i', `--chdir=${config.WorkingDir}`];
  const inside = limits.concat('setpriv', user, privileges, cleared, config.Env, variables);
  const command = [...config.Entrypoint, ...config.Cmd];
  const namespaces = ['--mount', '--pid', '--fork', '--kill-child'];
  const child = spawn('unshare', [
    ...namespaces,
    'sh',
    '-c',
    START,
    root,
    data,
    hosts,
    '-',
    ...inside,
    ...command,
  ]);
  const output = await ready(child);
  const pid = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').trim();
  const enter = [`--target=${pid}`, '--mount', '--pid', 'chroot', root, ...inside];
  return {
    output,
    exec: (...words) => resultOf('nsenter', [...enter, ...words]),
    async stop() {
      const ended = once(child, 'exit');
      process.kill(Number(pid), 'SIGTERM');
      return (await ended)[0] as number | null;
    },
  };
}
