import { execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { rolldown } from 'rolldown';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ApiService, createApiService, validRequest } from '../support/api-service.ts';
import { freePorts } from '../support/free-ports.ts';
import { waitFor } from '../support/wait-for.ts';
import { type InstalledSdk, installPackedSdk } from './pack-sdk.ts';

/** A runtime that is on this machine: its name with its version, and how it runs a file. */
interface Runtime {
  readonly name: string;
  readonly command: string;
  readonly words: readonly string[];
}

const oldestNode = 18;

/** What a program prints of itself, or null where there is none. */
function versionOf(command: string): string | null {
  const { status, stdout } = spawnSync(command, ['--version'], { encoding: 'utf8', timeout: 20_000 });
  return status === 0 ? (/\d+\.\d+\.\d+/.exec(stdout)?.[0] ?? null) : null;
}

/** Ours first, then every other Node there is on the PATH, one of each version; Bun and Deno. */
function findRuntimes(): Runtime[] {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  const nodes = [process.execPath, ...folders.map((folder) => join(folder, 'node'))].map((command) => {
    return { name: `node ${versionOf(command)}`, command, words: [] };
  });
  const others = [
    { command: 'bun', words: ['run'] },
    { command: 'deno', words: ['run', '--quiet', '--allow-all', '--node-modules-dir=manual'] },
  ].map((other) => ({ ...other, name: `${other.command} ${versionOf(other.command)}` }));
  const found = [...nodes, ...others].filter(({ name }) => !name.endsWith('null'));
  const suitable = found.filter(({ name }) => !name.startsWith('node') || majorOf(name) >= oldestNode);
  return [...new Map(suitable.toReversed().map((runtime) => [runtime.name, runtime])).values()].toReversed();
}

const majorOf = (name: string) => Number(/\d+/.exec(name)?.[0]);

let service: ApiService;
let sdk: InstalledSdk;
let options: string;

beforeAll(async () => {
  [service, sdk] = await Promise.all([createApiService({ requestsPerMinute: 10_000 }), installPackedSdk()]);
  const baseUrl = await service.server.listen({ host: '127.0.0.1', port: 0 });
  const { address, callback } = validRequest;
  options = JSON.stringify({ baseUrl, apiKey: service.apiKey, address, callback });
  cpSync(join(import.meta.dirname, 'runtime-check.mjs'), join(sdk.folder, 'runtime-check.mjs'));
  writeFileSync(
    join(sdk.folder, 'main.mjs'),
    `import { run } from './runtime-check.mjs';\nconsole.log(await run(${options}));\n`,
  );
  writeFileSync(join(sdk.folder, 'package.json'), '{"type":"module"}');
}, 120_000);

afterAll(async () => {
  await service.close();
  sdk.remove();
});

it('does all of its work in every runtime that is on this machine', async () => {
  const runtimes = findRuntimes();
  for (const { name, command, words } of runtimes) {
    const { stdout } = await promisify(execFile)(command, [...words, 'main.mjs'], {
      cwd: sdk.folder,
      timeout: 60_000,
      env: { PATH: process.env['PATH'], HOME: sdk.folder },
    });
    expect([name, stdout]).toEqual([name, expect.stringContaining('fulfilOnce')]);
  }
  // Said in the output of every run: whoever reads it knows what was looked at.
  console.warn(`the SDK ran in ${runtimes.map(({ name }) => name).join(', ')}`);
}, 300_000);

it('does all of its work in the runtime of Cloudflare Workers, where that is on this machine', async () => {
  const version = versionOf('workerd');
  if (version === null && spawnSync('workerd', ['--version']).status !== 0) {
    console.warn('not checked: Cloudflare Workers, because workerd is not installed here');
    return;
  }
  const [port] = (await freePorts(1)) as [number];
  writeFileSync(
    join(sdk.folder, 'worker-entry.mjs'),
    `import { run } from './runtime-check.mjs';
export default { fetch: async () => {
  try { return new Response(await run(${options})); } catch (error) { return new Response(error.stack, { status: 500 }); }
} };`,
  );
  const bundle = await rolldown({
    input: join(sdk.folder, 'worker-entry.mjs'),
    platform: 'neutral',
    external: [/^node:/],
    logLevel: 'silent',
  });
  await bundle.write({ file: join(sdk.folder, 'worker.mjs'), format: 'esm', codeSplitting: false });
  await bundle.close();
  writeFileSync(
    join(sdk.folder, 'config.capnp'),
    `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = (modules = [(name = "worker", esModule = embed "worker.mjs")], compatibilityDate = "2026-01-01", globalOutbound = "here")),
    (name = "here", network = (allow = ["private", "local"])),
  ],
  sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "main")],
);`,
  );
  const child = spawn('workerd', ['serve', 'config.capnp'], { cwd: sdk.folder, stdio: 'inherit' });
  const ended = once(child, 'exit');
  try {
    const answer = await waitFor('the worker', 30_000, () =>
      fetch(`http://127.0.0.1:${port}/`).catch(() => undefined),
    );
    expect(await answer.text()).toContain('fulfilOnce');
  } finally {
    child.kill('SIGKILL');
    await ended;
  }
}, 120_000);
