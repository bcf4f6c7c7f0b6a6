/** The side of the process that is killed: a point that is reached looks whether it is the one. */
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { KillPoint } from './points.ts';

/** Files by which the test and the process talk; they are there before and after the process. */
export const killFiles = {
  /** The name of a point, or how many points are left to be passed. */
  armed: 'armed',
  /** The point at which a process was killed, and the process's id. */
  reached: 'reached.json',
  /** While it is there, nothing is broadcast. */
  hold: 'hold',
  /** Made when something was not broadcast. */
  held: 'held',
} as const;

let folder: string | null = null;

/** Where the files are; before it is called, points do nothing. */
export function openKillFolder(path: string): void {
  folder = path;
}

/** Kills this process as `kill -9` does if a test has asked for it at one of these points. */
export function reach(...points: readonly KillPoint[]): void {
  for (const point of points) if (isArmedFor(point)) die(point);
}

/** Whether what is to be broadcast must not be. */
export function isHeld(): boolean {
  if (folder === null || !existsSync(join(folder, killFiles.hold))) return false;
  writeFileSync(join(folder, killFiles.held), '');
  return true;
}

/** From now on broadcasts arrive. */
export function endHold(): void {
  if (folder !== null) rmSync(join(folder, killFiles.hold), { force: true });
}

function isArmedFor(point: KillPoint): boolean {
  if (folder === null) return false;
  const armed = join(folder, killFiles.armed);
  if (!existsSync(armed)) return false;
  const asked = readFileSync(armed, 'utf8');
  if (!/^\d+$/.test(asked)) return asked === point;
  if (asked === '0') return true;
  writeFileSync(armed, String(Number(asked) - 1));
  return false;
}

function die(point: KillPoint): void {
  const own = join(folder as string, `${process.pid}`);
  try {
    // Of several processes that get here, one succeeds.
    renameSync(join(folder as string, killFiles.armed), own);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  writeFileSync(own, JSON.stringify({ point, pid: process.pid }));
  renameSync(own, join(folder as string, killFiles.reached));
  process.kill(process.pid, 'SIGKILL');
  // The signal ends the process before it gets any further; should it not, it must not go on either.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
}
