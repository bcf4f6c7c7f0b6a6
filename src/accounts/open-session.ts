import { SERVICE_LOG } from '../domain/audit-entry.ts';
import {
  SECOND_FACTOR_MS,
  SESSION_LIFETIME_MS,
  SET_UP_MS,
  type SessionArea,
  type SessionStage,
} from '../domain/dashboard-session.ts';
import type { User } from '../domain/person.ts';
import { type Caller, createSession } from './create-session.ts';
import { type PeopleContext, recordAction } from './people-context.ts';

/** A session that was begun just now. */
export interface OpenedSession {
  /** For the browser's cookie, and for nobody else. */
  readonly token: string;
  readonly stage: SessionStage;
  /** Of its user. */
  readonly email: string;
}

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
  const [membership] = area === 'dashboard' ? await context.people.listMemberships(user.id) : [];
  const accountId = membership?.accountId ?? null;
  const token = await createSession(context, {
    userId: user.id,
    accountId,
    area,
    stage,
    lifetimeMs: lifetimes[stage],
    caller,
  });
  const log = area === 'operator' ? SERVICE_LOG : accountId;
  if (stage === 'open' && log !== null) {
    const actor = { name: user.email, userId: user.id, address: caller.address };
    await recordAction(context, log, actor, 'session.opened');
  }
  return { token, stage, email: user.email };
}
