import type { FastifyInstance } from 'fastify';
import type { ApiContext } from './api-context.ts';

/** How late the times of last use may be, and how often they cost a write: one for all keys together. */
const FLUSH_INTERVAL_MS = 60_000;
/** Keys that are remembered until then; a use beyond is not written down, which is better than a slow request. */
const MAXIMUM_REMEMBERED = 10_000;

/**
 * Returns what is told the hash of each key that was used, and writes those down once a minute and when the server
 * closes. It may not cost a request anything, and what it writes is worth no failed one: a failure is logged.
 */
export function recordKeyUses(
  server: FastifyInstance,
  {
    accounts,
    nowMs,
  }: { readonly accounts: Pick<ApiContext['accounts'], 'noteKeyUses'>; readonly nowMs: () => number },
): (hash: string) => void {
  const used = new Set<string>();

  async function flush(): Promise<void> {
    if (used.size === 0) return;
    const hashes = [...used];
    used.clear();
    await accounts
      .noteKeyUses(hashes, nowMs())
      .catch((error: unknown) => server.log.warn({ err: error }, 'the use of keys was not written down'));
  }

  const timer = setInterval(() => void flush(), FLUSH_INTERVAL_MS);
  timer.unref();
  server.addHook('onClose', async () => {
    clearInterval(timer);
    await flush();
  });
  return (hash) => {
    if (used.size < MAXIMUM_REMEMBERED) used.add(hash);
  };
}
