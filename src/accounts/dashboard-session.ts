import type { Role } from './person.ts';

/** The area of a session: the merchants' dashboard, the operator's console, or an account's dashboard to an operator. */
export type SessionArea = 'dashboard' | 'operator' | 'viewing';

/**
 * `second_factor`: the password was right, and nothing is open yet but the question for the code. `set_up`: the password
 * was right, a second factor is required, and nothing is open but setting one up.
 */
export type SessionStage = 'second_factor' | 'set_up' | 'open';

/** A signed-in session. The browser's cookie holds its token, the store only the hash. */
export interface DashboardSession {
  /** Public: names the session in the list of sessions. */
  readonly id: string;
  /** SHA-256 of the token, hex. */
  readonly tokenHash: string;
  readonly userId: string;
  /** The account that is shown. Null for the operator's console, and for a user without an account. */
  readonly accountId: string | null;
  readonly area: SessionArea;
  readonly stage: SessionStage;
  readonly createdAtMs: number;
  readonly lastSeenAtMs: number;
  /** End of the session as a whole. It ends earlier when it is idle (`SESSION_IDLE_MS`). */
  readonly expiresAtMs: number;
  /** Origin of the sign-in, for the list of sessions. */
  readonly address: string;
  readonly userAgent: string;
}

/** A session lasts at most this long. */
export const SESSION_LIFETIME_MS = 7 * 24 * 3_600_000;
/** Maximum time without a request. */
export const SESSION_IDLE_MS = 12 * 3_600_000;
/** How long an operator may view an account's dashboard before they open it again. */
export const VIEWING_MS = 30 * 60_000;
/** Time limit for the code after the password. */
export const SECOND_FACTOR_MS = 5 * 60_000;
/** Time limit for setting up a second factor after the password: an app may have to be installed. */
export const SET_UP_MS = 20 * 60_000;
/** Maximum delay of `lastSeenAtMs`: not every request is worth a write. */
export const LAST_SEEN_STEP_MS = 5 * 60_000;
/** Maximum sessions of a user: a further sign-in ends the oldest. Sessions that wait for a second factor count separately. */
export const MAXIMUM_SESSIONS = 20;

/** Whether a session is still valid. */
export function isSessionAlive(session: DashboardSession, nowMs: number): boolean {
  return nowMs < session.expiresAtMs && nowMs < session.lastSeenAtMs + SESSION_IDLE_MS;
}

/** A link that works once. */
export interface OneTimeLink {
  readonly id: string;
  /** SHA-256 of the token in the link, hex. */
  readonly tokenHash: string;
  /**
   * `password`: sets the password of a user. `forgotten`: the same, by an email that anyone may request. `invitation`:
   * makes its reader a member of an account. `connect`: is exchanged for an API key (`accounts/connect-shop.ts`).
   */
  readonly kind: 'password' | 'forgotten' | 'invitation' | 'connect';
  /** The recipient's address. */
  readonly email: string;
  /** The user whose password it sets; null for an invitation. */
  readonly userId: string | null;
  /** The account it invites to, and the right there; null for a password. */
  readonly accountId: string | null;
  readonly role: Role | null;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
}

/** Maximum emailed links of a user at a time; the oldest is deleted. More than the limit of such emails allows in a day. */
export const MAXIMUM_FORGOTTEN_LINKS = 100;
/** Maximum open invitations of an account; the oldest is deleted. */
export const MAXIMUM_INVITATIONS = 50;

/** Challenges and secrets that are shown once, kept with one session: more than the keys of an account. */
export const MAXIMUM_CHALLENGES = 16;
