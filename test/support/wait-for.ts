import { setTimeout as delay } from 'node:timers/promises';

/** Waits until `probe` answers with something else than undefined or false; throws after `boundMs`, naming `what`. */
export async function waitFor<T>(
  what: string,
  boundMs: number,
  probe: () => Promise<T | undefined | false> | T | undefined | false,
): Promise<T> {
  const deadlineMs = performance.now() + boundMs;
  for (;;) {
    const found = await probe();
    if (found !== undefined && found !== false) return found;
    if (performance.now() > deadlineMs) throw new Error(`waited ${boundMs} ms in vain for ${what}`);
    await delay(50);
  }
}
