import type { FastifyInstance } from 'fastify';
import { createPasswords } from '../accounts/passwords.ts';
import type { Config } from '../config.ts';
import { createKeyedHash } from '../domain/keyed-hash.ts';
import type { CallbackGuard } from '../domain/ports/callback-guard.ts';
import type { Clock } from '../domain/ports/clock.ts';
import type { Mailer } from '../domain/ports/mailer.ts';
import { createSecretBox } from '../domain/secret-box.ts';
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
    secretKey,
    callbacks,
    mailer,
    isSandbox,
  }: {
    readonly config: Config;
    readonly store: Store;
    readonly clock: Clock;
    readonly secretKey: string;
    readonly callbacks: CallbackGuard;
    readonly mailer: Mailer | null;
    readonly isSandbox: boolean;
  },
): void {
  registerDashboard(server, {
    ...store,
    passwords: createPasswords(),
    secondFactor: {
      box: createSecretBox('second factor', secretKey, config.previousSecretKeys),
      recoveryHash: createKeyedHash('recovery codes', secretKey, config.previousSecretKeys),
    },
    callbacks,
    mailer,
    limits: createDashboardLimits(clock.monotonicMs),
    nowMs: clock.nowMs,
    baseUrl: config.baseUrl,
    isSandbox,
  });
}
