import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openSqliteStore } from '../../src/store/sqlite/open-store.ts';
import { freePorts, hasIpv6Loopback } from '../support/free-ports.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

let folder: string;
let holder: Server;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'card-checkout-failed-'));
});
afterEach(async () => {
  await new Promise((resolve) => holder.close(resolve));
  rmSync(folder, { recursive: true, force: true });
});

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
    const ended = await new Promise<{ code: unknown; isKilled: boolean; stderr: string }>((resolve) => {
      const options = { cwd: folder, env, timeout: 180_000, killSignal: 'SIGKILL' as const };
      execFile(process.execPath, [join(root, 'src/main.ts'), 'start'], options, (error, _stdout, stderr) =>
        resolve({ code: error?.code, isKilled: error?.killed ?? false, stderr }),
      );
    });
    expect(ended).toEqual({
      code: 1,
      isKilled: false,
      stderr: `card-checkout: port ${taken} on ${address} is in use: stop the program that uses it, or change ${hint}\n`,
    });
    // The store's lock is free again.
    await (await openSqliteStore({ file: join(dataDir, 'card-checkout.sqlite') })).close();
  },
);
