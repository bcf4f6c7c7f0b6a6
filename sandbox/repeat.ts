import { setTimeout as delay } from 'node:timers/promises';
import type { SandboxLog } from './sandbox-log.ts';

/** Repeats the work at the interval until it is stopped. Logs only the first of consecutive failures. */
export function repeat(
  intervalMs: number,
  work: () => Promise<void>,
  log: SandboxLog,
  message: string,
): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const { signal } = stopping;

  async function run(): Promise<void> {
    let isFailing = false;
    while (await delay(intervalMs, true, { signal }).catch(() => false)) {
      try {
        await work();
        isFailing = false;
      } catch (error) {
        if (!isFailing && !signal.aborted) log.warn({ err: error }, message);
        isFailing = true;
      }
    }
  }

  const running = run();
  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
