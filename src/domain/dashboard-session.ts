import type { Role } from './person.ts';

/** What a session opens: the merchants' dashboard, the operator's console, or an account's dashboard to an operator. */
export type SessionArea = 'dashboard' | 'operator' | 'viewing';

/**
 * `second_factor`: the password was right, and nothing is open yet but the question for the code. `set_up`: the password
 * was right, a second factor is required, and nothing is open but setting one up.
 */
export type SessionStage = 'second_factor' | 'set_up' | 'open';

/** A sign-in that lasts. Its token is in the browser's cookie, and its hash here. */
export interface DashboardSession {
  /** Public: names the session in the list of sessions. */
  readonly id: string;
  /** SHA-256 of the token, hex. */
  readonly tokenHash: string;
  readonly userId: string;
  /** The account that is being looked at; null for the operator's console, and for who has none. */
  readonly accountId: string | null;
  readonly area: SessionArea;
  readonly stage: SessionStage;
  readonly createdAtMs: number;
  readonly lastSeenAtMs: number;
  /** Of the session as a whole; it ends earlier when it is not used (`SESSION_IDLE_MS`). */
  readonly expiresAtMs: number;
  /** From where it was begun, for the list of sessions. */
  readonly address: string;
  readonly userAgent: string;
}

/** A session lasts at most this long. */
export const SESSION_LIFETIME_MS = 7 * 24 * 3_600_000;
/** And at most this long without a request. */
export const SESSION_IDLE_MS = 12 * 3_600_000;
/** How long an operator looks at an account's dashboard before they have to ask for it again. */
export const VIEWING_MS = 30 * 60_000;
/** How long the code may take after the password. */
export const SECOND_FACTOR_MS = 5 * 60_000;
/** How long setting up a second factor may take after the password: an app may have to be installed. */
export const SET_UP_MS = 20 * 60_000;
/** How much older than the truth `lastSeenAtMs` may be: not every request is worth a write. */
export const LAST_SEEN_STEP_MS = 5 * 60_000;
/** Beyond it a sign-in ends the user's oldest session; those that wait for a second factor are counted apart. */
export const MAXIMUM_SESSIONS = 20;

/** Whether a session still stands. */
export function isSessionAlive(session: DashboardSession, nowMs: number): boolean {
  return nowMs < session.expiresAtMs && nowMs < session.lastSeenAtMs + SESSION_IDLE_MS;
}

/** A link that somebody is given and that works once. */
export interface OneTimeLink {
  readonly id: string;
  /** SHA-256 of the token in the link, hex. */
  readonly tokenHash: string;
  /**
   * `password`: sets the password of a user. `forgotten`: the same, by an e-mail that anybody may ask for. `invitation`:
   * makes its reader a member of an account.
   */
  readonly kind: 'password' | 'forgotten' | 'invitation';
  /** Whom it is for. */
  readonly email: string;
  /** The user whose password it sets; null for an invitation. */
  readonly userId: string | null;
  /** The account it invites to, and the right there; null for a password. */
  readonly accountId: string | null;
  readonly role: Role | null;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
}

/** E-mailed links of a user at a time; the oldest makes room. More than the limit of such e-mails lets out in a day. */
export const MAXIMUM_FORGOTTEN_LINKS = 100;
/** Open invitations of an account at a time; the oldest makes room. */
export const MAXIMUM_INVITATIONS = 50;
