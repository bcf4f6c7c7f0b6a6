/**
 * A soak: a real server process under a steady load of creates, status reads, pages and whole payments, its memory
 * looked at from outside.
 */

import { setTimeout as delay } from 'node:timers/promises';
import { type EndToEndService, startEndToEndService } from '../../support/e2e-service.ts';
import { waitFor } from '../../support/wait-for.ts';
import type { PartOptions, PromiseResult } from '../part.ts';
import { type LoadResult, putUnderLoad } from './load.ts';
import { courseOf, leastOf, type MemorySample, medianOf, sampleMemory } from './memory.ts';

const LONG_MS = 30 * 60_000;
const SHORT_MS = 16_000;
const SAMPLE_EVERY_MS = 1_000;
/** After the load, for payments that are still on their way. */
const SETTLE_MS = 60_000;

/**
 * How much more the last quarter may hold than the second.
 *
 * Between the middle of the second quarter and that of the last lies half of the soak: in the long one about 50,000
 * requests. A service that kept 1 KiB of each would have grown by 50 MiB. What may grow: the address book (34 bytes a
 * payment, 1 MiB), SQLite's page cache (16 MiB at most), and what V8 takes from the system: its young generation and the
 * buffers that wait with it for a collection were seen to swing by 60 MiB, and what was taken at a peak is kept.
 */
const RESIDENT_BOUND_MIB = 48;
/** In 16 seconds V8 is still taking what it needs, and has hardly collected: only a landslide shows. */
const SHORT_RESIDENT_BOUND_MIB = 64;
/** The smallest heap of a quarter is close to what is in use, so it shows less: 160 bytes of each request. */
const HEAP_BOUND_MIB = 8;
const SHORT_HEAP_BOUND_MIB = 24;
/** Connections of the load and of deliveries come and go. */
const OPEN_FILES_BOUND = 16;

/** Runs a soak of 30 minutes, or of 16 seconds; `durationMs` is for looking closer. */
export async function runSoak(
  options: PartOptions & { readonly durationMs?: number },
): Promise<PromiseResult[]> {
  const durationMs = options.durationMs ?? (options.long ? LONG_MS : SHORT_MS);
  const { seed, log } = options;
  const service = await startEndToEndService({ RATE_LIMIT_CREATE_PER_MINUTE: '100000' });
  try {
    const over = new AbortController();
    const load = putUnderLoad(service, seed, over.signal);
    const samples = await sampleFor(service, durationMs, log).finally(() => over.abort());
    const result = await load;
    const settled = await countSettled(service, result);
    log(`asked: ${[...result.asked].map(([kind, times]) => `${kind} ${times}`).join(', ')}`);
    for (const mistake of result.mistakes) log(mistake);
    return [...memoryRows(samples, options.long, log), ...answerRows(result, settled)];
  } finally {
    await service.stop();
  }
}

async function sampleFor(
  service: EndToEndService,
  durationMs: number,
  log: (line: string) => void,
): Promise<readonly MemorySample[]> {
  const adminUrl = `http://127.0.0.1:${service.environment['ADMIN_PORT']}`;
  const samples: MemorySample[] = [];
  const endMs = performance.now() + durationMs;
  while (performance.now() < endMs) {
    const sample = await sampleMemory(service.process().pid, adminUrl);
    if (sample === null) return [];
    samples.push(sample);
    if (samples.length % 60 === 0) log(`${samples.length} samples: ${shown(sample)}`);
    await delay(SAMPLE_EVERY_MS);
  }
  return samples;
}

function shown({ residentMib, heapMib, openFiles }: MemorySample): string {
  return `${residentMib.toFixed(0)} MiB resident, ${heapMib.toFixed(0)} MiB heap, ${openFiles} files`;
}

function memoryRows(
  samples: readonly MemorySample[],
  isLong: boolean,
  log: (line: string) => void,
): PromiseResult[] {
  const residentBound = isLong ? RESIDENT_BOUND_MIB : SHORT_RESIDENT_BOUND_MIB;
  const heapBound = isLong ? HEAP_BOUND_MIB : SHORT_HEAP_BOUND_MIB;
  const figures = [
    { what: 'resident memory (MiB, median)', of: 'residentMib', summary: medianOf, bound: residentBound },
    { what: 'heap (MiB, smallest)', of: 'heapMib', summary: leastOf, bound: heapBound },
    { what: 'open files (median)', of: 'openFiles', summary: medianOf, bound: OPEN_FILES_BOUND },
  ] as const;
  return figures.map(({ what, of, summary, bound }) => {
    const promise = `Flat over a soak: ${what}`;
    if (samples.length === 0) {
      return { promise, cases: 0, violations: 0, unchecked: 'this system has no /proc' };
    }
    const values = samples.map((sample) => sample[of]);
    const { second, last, isFlat } = courseOf(values, summary, bound);
    log(
      `${what}: ${second.toFixed(1)} in the second quarter, ${last.toFixed(1)} in the last; bound +${bound}`,
    );
    return { promise, cases: samples.length, violations: isFlat ? 0 : 1 };
  });
}

/** How many of the payments that were made are paid, with exactly one webhook received. */
async function countSettled(service: EndToEndService, { paid }: LoadResult): Promise<number> {
  const isSettled = async (id: string) =>
    (await service.readStatus(`payment_id=${id}`))['status'] === 'paid' &&
    service.receiver.received.filter(({ rawBody }) => rawBody.includes(id)).length === 1;
  let settled = 0;
  await waitFor('every payment of the soak to be settled', SETTLE_MS, async () => {
    settled = 0;
    for (const { payment_id: id } of paid) if (await isSettled(id)) settled++;
    return settled === paid.length;
  }).catch(() => undefined);
  return settled;
}

function answerRows({ asked, mistakes, paid }: LoadResult, settled: number): PromiseResult[] {
  const requests = [...asked.values()].reduce((sum, times) => sum + times, 0);
  return [
    {
      promise: 'Every request of the soak is answered as specified',
      cases: requests,
      violations: mistakes.length,
    },
    {
      promise: 'Every payment of the soak ends paid, with one webhook',
      cases: paid.length,
      violations: paid.length - settled,
    },
  ];
}
