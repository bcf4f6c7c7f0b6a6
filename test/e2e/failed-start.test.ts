import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openSqliteStore } from '../../src/app/store/sqlite-store.ts';
import { freePorts, hasIpv6Loopback } from '../support/free-ports.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

let folder: string;
let holder: Server | null = null;
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(async () => {
  const taken = holder;
  holder = null;
  if (taken !== null) await new Promise((resolve) => taken.close(resolve));
});

/** How a command ends that cannot start. */
function endOf(
  command: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<{ code: unknown; isKilled: boolean; stderr: string }> {
  const options = { cwd: folder, env, timeout: 180_000, killSignal: 'SIGKILL' as const };
  return new Promise((resolve) => {
    execFile(process.execPath, [join(root, 'src/main.ts'), ...command], options, (error, _stdout, stderr) =>
      resolve({ code: error?.code, isKilled: error?.killed ?? false, stderr }),
    );
  });
}

it.each([
  ['PORT', '127.0.0.1'],
  ['ADMIN_PORT', '127.0.0.1'],
  ...(hasIpv6Loopback() ? [['PORT', '::1']] : []),
])(
  'a %s that is taken on %s ends the process with a sentence that names it, and leaves nothing behind',
  async (name, address) => {
    holder = createServer().listen(0, address);
    await once(holder, 'listening');
    const taken = String((holder.address() as AddressInfo).port);
    const [port, adminPort] = (await freePorts(2)).map(String) as [string, string];
    const hint = name === 'PORT' ? 'PORT' : 'ADMIN_PORT (PORT + 1 by default)';
    const dataDir = join(folder, 'data');
    const env = {
      PATH: process.env['PATH'],
      DATA_DIR: dataDir,
      PORT: port,
      ADMIN_PORT: adminPort,
      [name]: taken,
    };
    const ended = await endOf(['start'], env);
    expect(ended).toEqual({
      code: 1,
      isKilled: false,
      stderr: `card-checkout: port ${taken} on ${address} is in use: stop the program that uses it, or change ${hint}\n`,
    });
    await (await openSqliteStore({ file: join(dataDir, 'card-checkout.sqlite') })).close();
  },
);

const live = {
  SECRET_KEY: 's'.repeat(32),
  POLYGON_RPC_URL: 'http://127.0.0.1:1',
  DEPOSIT_FACTORY_ADDRESS: '0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65',
  RELAYER_PRIVATE_KEY: `0x${'1'.repeat(64)}`,
  FEE_WALLET: '0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65',
};

it.each<[name: string, value: string, command: string[], message: string]>([
  ['DATABASE_URL', 'postgres://u:p@127.0.0.1:1/db', ['start', '--live'], 'connect ECONNREFUSED 127.0.0.1:1'],
  [
    'DATABASE_URL',
    'postgres://u:p@127.0.0.1:1/db',
    ['account', 'list', '--json'],
    'connect ECONNREFUSED 127.0.0.1:1',
  ],
  ['DATA_DIR', '/dev/null/data', ['start', '--live'], "ENOTDIR: not a directory, mkdir '/dev/null/data'"],
  [
    'POLYGON_RPC_URL',
    'http://127.0.0.1:1',
    ['start', '--live'],
    '127.0.0.1:1 did not answer eth_chainId: connect ECONNREFUSED 127.0.0.1:1',
  ],
])(
  'a %s that cannot be used is named by the command that needs it: %s, %j',
  async (name, value, command, message) => {
    const env = {
      PATH: process.env['PATH'],
      DATA_DIR: join(folder, 'data'),
      ...live,
      LOG_LEVEL: 'silent',
      [name]: value,
    };
    const ended = await endOf(command, env);
    expect(ended).toEqual({
      code: 1,
      isKilled: false,
      stderr: `card-checkout: ${name} cannot be used: ${message}\n`,
    });
  },
);

it('SIGTERM ends a start that waits for an RPC endpoint within two seconds', async () => {
  const asked = Promise.withResolvers<void>();
  const hanging = createServer((socket) => {
    socket.on('error', () => {}).resume();
    asked.resolve();
  }).listen(0, '127.0.0.1');
  holder = hanging;
  await once(hanging, 'listening');
  const { port } = hanging.address() as AddressInfo;
  const env = {
    PATH: process.env['PATH'],
    DATA_DIR: join(folder, 'data'),
    ...live,
    POLYGON_RPC_URL: `http://127.0.0.1:${port}`,
  };
  const started = spawn(process.execPath, [join(root, 'src/main.ts'), 'start', '--live'], {
    cwd: folder,
    env,
  });
  await asked.promise;
  const signaledAtMs = performance.now();
  started.kill('SIGTERM');
  const [code] = (await once(started, 'exit')) as [number | null];
  expect(performance.now() - signaledAtMs).toBeLessThan(2_000);
  expect(code).toBe(0);
  await (await openSqliteStore({ file: join(folder, 'data', 'card-checkout.sqlite') })).close();
});
