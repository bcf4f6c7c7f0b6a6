import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { KillPoint } from './points.ts';
import { killFiles } from './reach.ts';

/** The test's side: says where the next process is to be killed. */
export interface KillControl {
  /** For the command line of every process that can be killed. */
  readonly nodeArgs: readonly string[];
  /** The next process to reach the point is killed there; with a number, whoever has passed so many of any. */
  arm(at: KillPoint | number): void;
  disarm(): void;
  /** What is armed now; null for nothing. */
  armed(): string | null;
  /** The point at which a process was killed since it was armed. */
  reached(): { readonly point: KillPoint; readonly pid: number } | null;
  /** Nothing is broadcast until fees are raised. */
  holdBroadcasts(): void;
  /** Whether something was held back. */
  hasHeld(): boolean;
}

export function createKillControl(folder: string): KillControl {
  mkdirSync(folder, { recursive: true });
  const file = (name: keyof typeof killFiles) => join(folder, killFiles[name]);
  const remove = (...names: readonly (keyof typeof killFiles)[]) => {
    for (const name of names) rmSync(file(name), { force: true });
  };
  const register = pathToFileURL(join(import.meta.dirname, 'register.ts'));
  register.searchParams.set('folder', folder);
  return {
    nodeArgs: ['--import', register.href],
    arm(at) {
      remove('reached');
      writeFileSync(file('armed'), String(at));
    },
    disarm: () => remove('armed', 'hold', 'held'),
    armed: () => (existsSync(file('armed')) ? readFileSync(file('armed'), 'utf8') : null),
    reached: () => (existsSync(file('reached')) ? JSON.parse(readFileSync(file('reached'), 'utf8')) : null),
    holdBroadcasts: () => writeFileSync(file('hold'), ''),
    hasHeld: () => existsSync(file('held')),
  };
}
