import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Sandbox, startSandbox } from '../../../sandbox/start-sandbox.ts';
import { freePorts } from '../../../test/support/free-ports.ts';
import { liveEnvironment } from '../../../test/support/provider-environment.ts';
import {
  runJson,
  type ServiceEnvironment,
  startServiceProcess,
} from '../../../test/support/service-process.ts';
import { benchSecret } from '../servers/stub-world.ts';
import type { Measurement } from './measurement.ts';

const silent = { info() {}, warn() {}, error() {} };

/**
 * `card-checkout start --live` as an operator starts it, on a store with a million payments, 100,000 of them open, and a
 * local chain. Ready: from the start of the process until it says so. Memory: what the system counts as resident after
 * ten seconds without a request, while watcher and sweep do their work.
 */
export const millionLive: Measurement = {
  name: 'million-live',
  title: 'A live server with a million payments stored',
  async measure({ extent, folder, millionDataDir }) {
    const dataDir = await millionDataDir();
    const external = await startSandbox({
      dataDir: join(folder, 'external'),
      log: silent,
      blockIntervalMs: 2_000,
    });
    const readySeconds: number[] = [];
    const residentMegabytes: number[] = [];
    try {
      const environment = await environmentOf(external, folder, dataDir);
      for (let start = 0; start < extent.starts; start++) {
        const startMs = performance.now();
        const service = await startServiceProcess(environment, { args: ['--live'] });
        readySeconds.push((performance.now() - startMs) / 1000);
        await delay(extent.idleSeconds * 1000);
        residentMegabytes.push(residentBytes(service.pid) / 1_000_000);
        await service.end('SIGTERM');
      }
    } finally {
      await external.stop();
    }
    return [
      { name: 'ready after', unit: 's', values: readySeconds },
      { name: 'resident, idle', unit: 'MB', values: residentMegabytes },
    ];
  },
};

async function environmentOf(
  external: Sandbox,
  folder: string,
  dataDir: string,
): Promise<ServiceEnvironment> {
  const [port, adminPort] = (await freePorts(2)) as [number, number];
  const secretFile = join(folder, 'secret');
  writeFileSync(secretFile, benchSecret);
  const environment = {
    DATA_DIR: dataDir,
    PORT: String(port),
    ADMIN_PORT: String(adminPort),
    SECRET_KEY_FILE: secretFile,
    ...liveEnvironment(external),
  };
  const deployed = await runJson<{ deposit_factory_address: string }>(environment, 'contract', 'deploy');
  return { ...environment, DEPOSIT_FACTORY_ADDRESS: deployed.deposit_factory_address };
}

function residentBytes(pid: number): number {
  const statusFile = `/proc/${pid}/status`;
  const kibibytes = existsSync(statusFile)
    ? /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(statusFile, 'utf8'))?.[1]
    : execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' });
  const bytes = Number(kibibytes) * 1024;
  if (!(bytes > 0)) throw new Error(`the memory of process ${pid} cannot be read`);
  return bytes;
}
