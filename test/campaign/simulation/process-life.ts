import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Draws } from './draws.ts';

/**
 * The life of a simulated process: everything it asks of the outside goes through `pass`. Before and after each of
 * these it gives way to what else is running, and there it may die: what it was waiting for never comes back, and
 * nothing of it runs on, as after kill -9.
 */
export interface ProcessLife {
  /** Does something outside. */
  pass<T>(what: string, act: () => T | Promise<T>): Promise<T>;
  /** Dies after so many further crossings; null calls it off. */
  dieAfter(crossings: number | null): void;
  /** From now on everything runs straight on, without giving way. */
  hurry(): void;
  readonly isDead: boolean;
  /** Resolves with the name of what it was about when it died. */
  readonly death: Promise<string>;
}

const LONGEST_PAUSE_TURNS = 2;

export function createProcessLife(draws: Draws): ProcessLife {
  const { promise: death, resolve } = Promise.withResolvers<string>();
  let crossingsLeft: number | null = null;
  let isDead = false;
  let isHurried = false;

  async function cross(what: string): Promise<void> {
    if (!isDead && crossingsLeft !== null && --crossingsLeft < 0) {
      isDead = true;
      resolve(what);
    }
    if (isDead) return new Promise(() => {});
    const turns = isHurried ? 0 : draws.between(0, LONGEST_PAUSE_TURNS);
    for (let turn = 0; turn < turns; turn++) await nextTurn();
    // Another step of the process may have been the one to die meanwhile.
    if (isDead) return new Promise(() => {});
  }

  return {
    death,
    get isDead() {
      return isDead;
    },
    dieAfter(crossings) {
      crossingsLeft = crossings;
    },
    hurry() {
      isHurried = true;
    },
    async pass(what, act) {
      await cross(`before ${what}`);
      try {
        return await act();
      } finally {
        await cross(`after ${what}`);
      }
    },
  };
}
