import type { FastifyInstance } from 'fastify';
import { createPasswords } from '../accounts/passwords.ts';
import type { Config } from '../config.ts';
import type { Clock } from '../domain/ports/clock.ts';
import { createDashboardLimits } from '../http/dashboard/limits.ts';
import { registerDashboard } from '../http/dashboard/routes.ts';
import type { Store } from '../store/store.ts';

/** The merchants' dashboard on the public server. */
export function openDashboard(
  server: FastifyInstance,
  {
    config,
    store,
    clock,
    isSandbox,
  }: {
    readonly config: Config;
    readonly store: Store;
    readonly clock: Clock;
    readonly isSandbox: boolean;
  },
): void {
  registerDashboard(server, {
    ...store,
    passwords: createPasswords(),
    limits: createDashboardLimits(clock.monotonicMs),
    nowMs: clock.nowMs,
    baseUrl: config.baseUrl,
    isSandbox,
  });
}
