/** A service whose wall clock jumps by an hour, ahead and behind, while payments are made and paid. Other programs keep theirs. */
import { existsSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Outcome } from './check-proxy.ts';
import {
  collectOutcomes,
  createdBy,
  type HostService,
  requireAnswers,
  seconds,
  startHostService,
} from './host-service.ts';

const LIBRARY = '/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1';
const ANSWERED_MS = 5_000;
/** Long enough for several rounds of each task that reads the clock; the slowest runs every 30 seconds. */
const ROUNDS_MS = 65_000;
const JUMPS = [
  { name: 'an hour ahead', offset: '+3600' },
  { name: 'back again', offset: '+0' },
  { name: 'an hour behind', offset: '-3600' },
  { name: 'right again', offset: '+0' },
] as const;

/** Outcomes, or the reason why it was not checked. */
export async function checkClock(folder: string): Promise<readonly Outcome[] | string> {
  if (!existsSync(LIBRARY)) return 'libfaketime is not installed';
  const file = join(folder, 'clock');
  const setClock = (offset: string) => {
    // Renames the file, so that a partial line is never read.
    writeFileSync(`${file}.new`, `${offset}\n`);
    renameSync(`${file}.new`, file);
  };
  setClock('+0');
  const variables = {
    LD_PRELOAD: LIBRARY,
    FAKETIME_TIMESTAMP_FILE: file,
    FAKETIME_NO_CACHE: '1',
    // As when a machine's wall clock is set: the clock of timers runs on.
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
  };
  const through = ['env', ...Object.entries(variables).map(([name, value]) => `${name}=${value}`)];
  const service = await startHostService(() => ({ CHECKOUT_EXPIRY_HOURS: '1' }), { through });
  try {
    return await checkJumps(service, setClock);
  } finally {
    await service.world.stop();
  }
}

async function checkJumps(
  service: HostService,
  setClock: (offset: string) => void,
): Promise<readonly Outcome[]> {
  const { outcomes, check } = collectOutcomes();
  // Stays unpaid: with a lifetime of an hour, each jump would expire it.
  const waiting = (await service.create()).body['payment_id'] ?? '';
  const ids = [waiting];
  for (const { name, offset } of JUMPS) {
    const open = await service.begin();
    setClock(offset);
    await check(`${name}: the service's clock is set`, async () => {
      const aheadMs = await readAheadMs(service.machine.environment);
      if (Math.abs(aheadMs - Number(offset) * 1_000) > ANSWERED_MS) throw new Error(`${aheadMs} ms ahead`);
      return `${Math.round(aheadMs / 1_000)} s ahead`;
    });
    const creating = service.startCreating(1);
    await check(`${name}: creates and status succeed`, async () => {
      await delay(1_000);
      const answers = [...(await creating.stop()), await service.readStatus(open.id)];
      return requireAnswers(answers, [200], ANSWERED_MS);
    });
    await check(`${name}: a payment from before the jump is paid and settled`, async () => {
      await open.pay();
      return seconds(await service.untilSettled(open.id));
    });
    await check(`${name}: a payment made after it is paid and settled`, async () => {
      const later = await service.begin();
      await later.pay();
      ids.push(later.id);
      return seconds(await service.untilSettled(later.id));
    });
    ids.push(open.id, ...createdBy(creating.answers));
    await check(`${name}: an unpaid payment does not expire early`, async () => {
      await delay(ROUNDS_MS / JUMPS.length);
      const { status } = (await service.readStatus(waiting)).body;
      if (status !== 'unpaid') throw new Error(`it is ${status}`);
      return status;
    });
  }
  await check('nothing answered is lost, and no payment is settled twice', () => service.requireAll(ids));
  return outcomes;
}

/** Lead of the service's clock over this one, by the date of an answer. */
async function readAheadMs(environment: Readonly<Record<string, string>>): Promise<number> {
  // The server formats its date once a second.
  await delay(1_500);
  const { headers } = await fetch(`http://127.0.0.1:${environment['PORT']}/health/live`);
  return Date.parse(headers.get('date') ?? '') - Date.now();
}
