export type SessionArea = 'dashboard' | 'operator' | 'viewing';

/** Progress of a sign-in. `second_factor` only allows entering a second factor, and `set_up` only setting one up. */
export type SessionStage = 'second_factor' | 'set_up' | 'open';

/** A browser's session. The cookie holds the token; the store holds only the token's hash. */
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
  /** Latest end of the session; `SESSION_IDLE_MS` may end it earlier. */
  readonly expiresAtMs: number;
  /** IPv4 address or IPv6 /64 network that opened the session, for the list of sessions. */
  readonly address: string;
  readonly userAgent: string;
}

export const SESSION_LIFETIME_MS = 7 * 24 * 3_600_000;
/** Maximum time between two requests of a session. */
export const SESSION_IDLE_MS = 12 * 3_600_000;
/** Time after which an operator must open an account's dashboard again. */
export const VIEWING_MS = 30 * 60_000;
export const SECOND_FACTOR_MS = 5 * 60_000;
/** Time limit for setting up a second factor. The user may have to install an app first. */
export const SET_UP_MS = 20 * 60_000;
/** Maximum delay of `lastSeenAtMs`, to save writes. */
export const LAST_SEEN_STEP_MS = 5 * 60_000;
/** Maximum sessions of a user; another sign-in ends the oldest. Sessions awaiting a second factor count separately. */
export const MAXIMUM_SESSIONS = 20;

export function isSessionAlive(session: DashboardSession, nowMs: number): boolean {
  return nowMs < session.expiresAtMs && nowMs < session.lastSeenAtMs + SESSION_IDLE_MS;
}

/** Maximum challenges and one-time secrets of a session, above the maximum number of an account's API keys. */
export const MAXIMUM_CHALLENGES = 16;
