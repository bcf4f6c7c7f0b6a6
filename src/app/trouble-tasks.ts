import type { Trouble } from '../domain/ports/trouble-store.ts';
import { tellOfTrouble } from '../payments/tell-of-trouble.ts';
import type { WorkerTask } from '../worker.ts';
import type { WorkerParts } from './worker-parts.ts';

const TROUBLE_INTERVAL_MS = 30_000;

/** Tells merchants of what they would have to look for; none where mail is not configured. */
export function createTroubleTasks({ store, mailer, baseUrl, nowMs, log }: WorkerParts): WorkerTask[] {
  if (mailer === null) return [];
  const context = {
    ...store,
    mailer,
    dashboardUrl: `${baseUrl}/dashboard`,
    nowMs,
    onFailure: ({ accountId, kind }: Trouble, err: unknown) =>
      log.warn({ err, accountId, kind }, 'an owner was not told of trouble'),
  };
  return [
    { name: 'trouble', intervalMs: TROUBLE_INTERVAL_MS, run: (signal) => tellOfTrouble(context, signal) },
  ];
}
