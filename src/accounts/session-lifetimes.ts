export type SessionArea = 'dashboard' | 'operator' | 'viewing';

/** Stage of a sign-in. `second_factor` only allows entering a second factor; `set_up` only allows setting one up. */
export type SessionStage = 'second_factor' | 'set_up' | 'open';

/** Session of a browser, whose cookie contains the token. The store has only the token's hash. */
export interface DashboardSession {
  readonly id: string;
  /** SHA-256 of the token, hex. */
  readonly tokenHash: string;
  readonly userId: string;
  /** Current account; null for the operator's console and for a user without an account. */
  readonly accountId: string | null;
  readonly area: SessionArea;
  readonly stage: SessionStage;
  readonly createdAtMs: number;
  readonly lastSeenAtMs: number;
  /** Latest end of the session. `SESSION_IDLE_MS` may end the session earlier. */
  readonly expiresAtMs: number;
  /** IPv4 address or IPv6 /64 network of the sign-in, shown in the list of sessions. */
  readonly address: string;
  readonly userAgent: string;
}

export const SESSION_LIFETIME_MS = 7 * 24 * 3_600_000;
/** Maximum time between two requests of a session. */
export const SESSION_IDLE_MS = 12 * 3_600_000;
/** Time after which an operator's view of an account's dashboard ends. */
export const VIEWING_MS = 30 * 60_000;
export const SECOND_FACTOR_MS = 5 * 60_000;
/** Time limit for setting up a second factor. The user may have to install an app first. */
export const SET_UP_MS = 20 * 60_000;
/** Minimum time between two updates of `lastSeenAtMs`, to save writes. */
export const LAST_SEEN_STEP_MS = 5 * 60_000;
/** Maximum sessions of a user. A further sign-in ends the oldest. Sessions not open yet count separately. */
export const MAXIMUM_SESSIONS = 20;

export function isSessionAlive(session: DashboardSession, nowMs: number): boolean {
  return nowMs < session.expiresAtMs && nowMs < session.lastSeenAtMs + SESSION_IDLE_MS;
}

/** Maximum challenges and one-time secrets of a session, more than an account's maximum of active API keys. */
export const MAXIMUM_CHALLENGES = 16;
