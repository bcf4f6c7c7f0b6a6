import { randomBytes } from 'node:crypto';
import type { DashboardSession } from '../domain/dashboard-session.ts';
import type { PeopleContext } from './people-context.ts';
import { createSecretToken } from './secret-token.ts';

/** From where somebody signs in. */
export interface Caller {
  readonly address: string;
  readonly userAgent: string;
}

/** What a session is for, for how long, and whose. */
interface NewSession extends Pick<DashboardSession, 'userId' | 'accountId' | 'area' | 'stage'> {
  readonly lifetimeMs: number;
  readonly caller: Caller;
}

const MAXIMUM_USER_AGENT_CHARACTERS = 300;

/** Writes a session down under a token that nobody has seen before, and returns that for the browser's cookie. */
export async function createSession(
  { sessions, nowMs }: Pick<PeopleContext, 'sessions' | 'nowMs'>,
  { lifetimeMs, caller, ...session }: NewSession,
): Promise<string> {
  const { token, tokenHash } = createSecretToken();
  const createdAtMs = nowMs();
  await sessions.createSession({
    ...session,
    id: `ses_${randomBytes(10).toString('hex')}`,
    tokenHash,
    createdAtMs,
    lastSeenAtMs: createdAtMs,
    expiresAtMs: createdAtMs + lifetimeMs,
    address: caller.address,
    userAgent: caller.userAgent.slice(0, MAXIMUM_USER_AGENT_CHARACTERS),
  });
  return token;
}
