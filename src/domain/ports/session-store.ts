import type { DashboardSession, OneTimeLink } from '../dashboard-session.ts';

/** Sessions of the dashboard and the operator's console, and links that work once. */
export interface SessionStore {
  /**
   * Begins a session; the user's oldest beyond `MAXIMUM_SESSIONS` open ones, or as many that are not open yet, and those that
   * are over, are removed.
   */
  createSession(session: DashboardSession): Promise<void>;
  /** By the hash of its token; also one that is over. */
  findSession(tokenHash: string): Promise<DashboardSession | null>;
  /** The user's, in any stage, newest first; also those that are over. */
  listSessions(userId: string): Promise<readonly DashboardSession[]>;
  touchSession(id: string, lastSeenAtMs: number): Promise<void>;
  /** Looks at another account. */
  chooseAccount(id: string, accountId: string): Promise<void>;
  /** Keeps what the session's browser has to sign next, or what its next page shows once, in place of an earlier one. */
  keepChallenge(id: string, challenge: string): Promise<void>;
  /** Takes it, so that it works once; null when there is none. */
  takeChallenge(id: string): Promise<string | null>;
  /** False when the user has no such session. */
  endSession(userId: string, id: string): Promise<boolean>;
  /** Ends the user's sessions but the one with the id `exceptId`. */
  endSessions(userId: string, exceptId: string | null): Promise<void>;

  /**
   * Keeps a link. One of the operator for a password ends the user's earlier ones; one that was asked for by e-mail ends
   * none, because a stranger may have asked. E-mailed links and invitations beyond the most go, oldest first.
   */
  createLink(link: OneTimeLink): Promise<void>;
  /** By the hash of its token; also one that has expired. */
  findLink(tokenHash: string): Promise<OneTimeLink | null>;
  /** Takes a link, so that nobody else can; null when it is gone or expired. */
  takeLink(tokenHash: string, nowMs: number): Promise<OneTimeLink | null>;
  /** Ends all links that set the user's password. */
  endLinks(userId: string): Promise<void>;
  /** Open invitations of an account, the newest first. */
  listInvitations(accountId: string, nowMs: number): Promise<readonly OneTimeLink[]>;
  /** False when the account has no such invitation. */
  removeInvitation(accountId: string, id: string): Promise<boolean>;
}
