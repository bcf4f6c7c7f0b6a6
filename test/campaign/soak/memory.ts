import { readdirSync, readFileSync } from 'node:fs';

/** What a process held at one moment. */
export interface MemorySample {
  /** Resident memory of the process, MiB. */
  readonly residentMib: number;
  /** Objects of the JavaScript heap, garbage included, MiB. */
  readonly heapMib: number;
  /** Files and sockets. */
  readonly openFiles: number;
}

/** How one figure went over a soak. */
export interface Course {
  readonly second: number;
  readonly last: number;
  /** Whether the last quarter is at most the bound above the second. */
  readonly isFlat: boolean;
}

const MIB = 2 ** 20;

/** Reads the process from outside; null where the system does not show it. */
export async function sampleMemory(pid: number, adminUrl: string): Promise<MemorySample | null> {
  let status: string;
  let openFiles: number;
  try {
    status = readFileSync(`/proc/${pid}/status`, 'utf8');
    openFiles = readdirSync(`/proc/${pid}/fd`).length;
  } catch {
    return null;
  }
  const metrics = await (await fetch(`${adminUrl}/metrics`)).text();
  const heapBytes = Number(/^nodejs_heap_size_used_bytes (\S+)$/m.exec(metrics)?.[1]);
  const residentKib = Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]);
  if (Number.isNaN(heapBytes) || Number.isNaN(residentKib))
    throw new Error('the process does not say what it holds');
  return { residentMib: residentKib / 1024, heapMib: heapBytes / MIB, openFiles };
}

/**
 * Compares the second quarter with the last: the first is the start, in which caches fill and functions are compiled.
 *
 * @param summary of a quarter: the median, or the smallest where garbage that waits for its collection would blur it
 */
export function courseOf(
  values: readonly number[],
  summary: (quarter: readonly number[]) => number,
  bound: number,
): Course {
  const quarter = Math.floor(values.length / 4);
  if (quarter === 0) throw new RangeError('too few samples to compare quarters');
  const second = summary(values.slice(quarter, 2 * quarter));
  const last = summary(values.slice(-quarter));
  return { second, last, isFlat: last - second <= bound };
}

export function medianOf(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] as number;
}

export function leastOf(values: readonly number[]): number {
  return Math.min(...values);
}
