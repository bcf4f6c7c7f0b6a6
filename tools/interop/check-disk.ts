/** Fills and empties a small file system with the data folder and log while merchants create payments. */
import { execFileSync } from 'node:child_process';
import { closeSync, existsSync, fstatSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { runCommand, startServiceProcess } from '../../test/support/service-process.ts';
import { waitFor } from '../../test/support/wait-for.ts';
import type { Outcome } from './check-proxy.ts';
import {
  collectOutcomes,
  createdBy,
  type HostService,
  requireAnswers,
  seconds,
  startHostService,
} from './host-service.ts';

const SIZE = '32m';
const LANES = 4;
/** Creates on a full disk are refused at once; this allows for a busy machine. */
const REFUSED_MS = 5_000;
const RECOVERED_MS = 30_000;

/** Outcomes, or the reason why it was not checked. */
export async function checkDisk(folder: string): Promise<readonly Outcome[] | string> {
  if (process.platform !== 'linux' || process.getuid?.() !== 0)
    return 'mounting a file system needs root on Linux';
  const disk = join(folder, 'disk');
  mkdirSync(disk);
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${SIZE},mode=0700`, 'tmpfs', disk]);
  const unmount = () => execFileSync('umount', ['--lazy', disk]);
  process.once('exit', unmount);
  try {
    const logFile = join(disk, 'service.log');
    const service = await startHostService(() => ({ DATA_DIR: join(disk, 'data') }), { logFile });
    try {
      return await checkOn(service, disk, logFile);
    } finally {
      await service.world.stop();
    }
  } finally {
    process.off('exit', unmount);
    unmount();
  }
}

async function checkOn(service: HostService, disk: string, logFile: string): Promise<readonly Outcome[]> {
  const { outcomes, check } = collectOutcomes();
  const { machine } = service;
  const filler = join(disk, 'filler');
  const begun = await service.begin();
  const paidId = begun.id;
  const creating = service.startCreating(LANES);
  await waitFor('creates', RECOVERED_MS, () => creating.answers.length > 50);

  fill(filler);
  const before = creating.answers.length;
  await check('creates answer 500 while the disk is full', async () => {
    await waitFor('100 refused creates', RECOVERED_MS, () => countRefused(creating.answers) >= 100);
    const refused = creating.answers.filter(({ status }) => status === 500);
    if (refused.some(({ body }) => body['error'] === undefined)) throw new Error('a 500 has no text');
    return requireAnswers(creating.answers.slice(before), [200, 500], REFUSED_MS);
  });
  await check('status and health answer while the disk is full', async () => {
    const answers = [await service.readStatus(paidId), await service.get('/health/live')];
    return requireAnswers(answers, [200], REFUSED_MS);
  });
  await check('a backup onto the full disk fails with a sentence and leaves no file', async () => {
    const target = join(disk, 'backup.sqlite');
    const error = await runCommand(machine.environment, 'backup', target).then(
      () => null,
      ({ stderr }: { stderr: string }) => stderr.trim(),
    );
    if (error === null) throw new Error('the backup succeeded');
    if (existsSync(target) || existsSync(`${target}.unfinished`)) throw new Error('a file was left');
    if (error.includes('\n    at ')) throw new Error(error);
    return error.split('\n').at(-1);
  });
  await begun.pay();

  await check('creates succeed again by themselves', async () => {
    const emptiedMs = performance.now();
    const known = creating.answers.length;
    rmSync(filler);
    await waitFor(
      'a create to succeed',
      RECOVERED_MS,
      () => createdBy(creating.answers.slice(known)).length > 0,
    );
    return `${seconds(performance.now() - emptiedMs)} after space was freed`;
  });
  await check('a payment that was paid meanwhile is settled', async () => {
    return seconds(await service.untilSettled(paidId));
  });
  const ids = [paidId, ...createdBy(await creating.stop())];
  await check('nothing answered is lost', () => service.requireAll(ids));
  await check('nor after a kill', async () => {
    await machine.process.end('SIGKILL');
    const again = await startServiceProcess(machine.environment, { args: ['--live'], logFile });
    try {
      return await service.requireAll(ids);
    } finally {
      await again.end('SIGTERM');
    }
  });
  return outcomes;
}

function countRefused(answers: readonly { readonly status: number }[]): number {
  return answers.filter(({ status }) => status === 500).length;
}

/** Fills the remaining space, down to the last byte. */
function fill(file: string): void {
  const descriptor = openSync(file, 'w');
  for (let size = 1024 * 1024; size > 0; ) {
    try {
      if (writeSync(descriptor, Buffer.alloc(size)) < size) throw new Error('the rest did not fit');
    } catch {
      size = Math.floor(size / 16);
    }
  }
  if (fstatSync(descriptor).size === 0) throw new Error('nothing could be filled');
  closeSync(descriptor);
}
