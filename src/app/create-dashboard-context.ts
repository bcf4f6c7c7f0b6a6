import { createPasswords } from '../accounts/passwords.ts';
import type { Config } from '../config.ts';
import { createKeyedHash } from '../domain/keyed-hash.ts';
import type { Clock } from '../domain/ports/clock.ts';
import { createSecretBox } from '../domain/secret-box.ts';
import type { DashboardContext } from '../http/dashboard/context.ts';
import { createDashboardLimits } from '../http/dashboard/limits.ts';
import type { Store } from '../store/store.ts';

interface DashboardParts
  extends Pick<
    DashboardContext,
    'isSandbox' | 'tokens' | 'token' | 'create' | 'callbacks' | 'mailer' | 'explorerTransactionUrl'
  > {
  readonly config: Config;
  readonly store: Store;
  readonly clock: Clock;
  readonly secretKey: string;
}

/** What the merchants' dashboard needs, on whatever server. */
export function createDashboardContext({
  config,
  store,
  clock,
  secretKey,
  callbacks,
  mailer,
  isSandbox,
  tokens,
  token,
  create,
  explorerTransactionUrl,
}: DashboardParts): DashboardContext {
  return {
    ...store,
    ...{ isSandbox, tokens, token, create, explorerTransactionUrl },
    passwords: createPasswords(),
    secondFactor: {
      box: createSecretBox('second factor', secretKey, config.previousSecretKeys),
      recoveryHash: createKeyedHash('recovery codes', secretKey, config.previousSecretKeys),
    },
    callbacks,
    browsers: createSecretBox('known browsers', secretKey, config.previousSecretKeys),
    shownOnce: createSecretBox('secrets shown once', secretKey, config.previousSecretKeys),
    mailer,
    limits: createDashboardLimits(clock.monotonicMs),
    nowMs: clock.nowMs,
    baseUrl: config.baseUrl,
    passkeyUrl: config.baseUrl,
  };
}
