import { randomBytes } from 'node:crypto';
import { SERVICE_LOG } from '../domain/audit-entry.ts';
import {
  SECOND_FACTOR_MS,
  SESSION_LIFETIME_MS,
  SET_UP_MS,
  type SessionArea,
  type SessionStage,
} from '../domain/dashboard-session.ts';
import type { User } from '../domain/person.ts';
import { type PeopleContext, recordAction } from './people-context.ts';
import { createSecretToken } from './secret-token.ts';

/** From where somebody signs in. */
export interface Caller {
  readonly address: string;
  readonly userAgent: string;
}

/** A session that was begun just now. */
export interface OpenedSession {
  /** For the browser's cookie, and for nobody else. */
  readonly token: string;
  readonly stage: SessionStage;
  /** Of its user. */
  readonly email: string;
}

const MAXIMUM_USER_AGENT_CHARACTERS = 300;

const lifetimes: Record<SessionStage, number> = {
  second_factor: SECOND_FACTOR_MS,
  set_up: SET_UP_MS,
  open: SESSION_LIFETIME_MS,
};

/** Begins a session with a token that nobody has seen before, whatever the browser came with. */
export async function openSession(
  context: PeopleContext,
  user: User,
  options: { readonly area: SessionArea; readonly stage: SessionStage; readonly caller: Caller },
): Promise<OpenedSession> {
  const { area, stage, caller } = options;
  const nowMs = context.nowMs();
  const { token, tokenHash } = createSecretToken();
  const [membership] = area === 'dashboard' ? await context.people.listMemberships(user.id) : [];
  const accountId = membership?.accountId ?? null;
  await context.sessions.createSession({
    id: `ses_${randomBytes(10).toString('hex')}`,
    tokenHash,
    userId: user.id,
    accountId,
    area,
    stage,
    createdAtMs: nowMs,
    lastSeenAtMs: nowMs,
    expiresAtMs: nowMs + lifetimes[stage],
    address: caller.address,
    userAgent: caller.userAgent.slice(0, MAXIMUM_USER_AGENT_CHARACTERS),
  });
  const log = area === 'operator' ? SERVICE_LOG : accountId;
  if (stage === 'open' && log !== null) {
    const actor = { name: user.email, userId: user.id, address: caller.address };
    await recordAction(context, log, actor, 'session.opened');
  }
  return { token, stage, email: user.email };
}
