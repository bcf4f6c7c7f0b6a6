import { createLimiters, MINUTE_MS } from '../rate-windows.ts';

const HOUR_MS = 60 * MINUTE_MS;

/** How many requests of each kind pass in a window of time. */
const dashboardLimits = {
  /** All requests, by address. Far above what users click; an office may share an address. */
  requests: [300, MINUTE_MS],
  /** Sign-in attempts, by address: many users' passwords from one place. */
  signInsOfAddress: [20, MINUTE_MS],
  /** Requests for a link by email, by address: apart from passwords, whose attempts must not block the way around them. */
  linksOfAddress: [20, MINUTE_MS],
  /** Passwords for one user, by the known browser, or else by the address. */
  signInsOfUser: [10, 10 * MINUTE_MS],
  /**
   * Sign-in attempts, by user, from all unknown browsers together: one user's password from many places. 720 guesses a
   * day, of passwords of twelve characters.
   */
  strangersOfUser: [30, HOUR_MS],
  /** Emails with a link, by user. */
  mailsOfUser: [3, HOUR_MS],
  /** Test messages to notification channels, by user. */
  testMessagesOfUser: [10, HOUR_MS],
  /** Tests of webhook endpoints, by account. */
  endpointChecksOfAccount: [10, 10 * MINUTE_MS],
  /** Notification channels that a user adds: each is an entry of the audit log. */
  channelsOfUser: [20, HOUR_MS],
  /** Invitations, by account. */
  invitationsOfAccount: [30, HOUR_MS],
  /**
   * Codes of the second factor, by user and by the other credentials (only the password, a known browser, a session):
   * three of a million codes are valid at a time, so a year of guessing finds one with one chance in four.
   */
  codesOfUser: [10, HOUR_MS],
} as const satisfies Record<string, readonly [limit: number, windowMs: number]>;

export type DashboardLimits = ReturnType<typeof createDashboardLimits>;

/** One limiter for each kind of request. */
export function createDashboardLimits(monotonicMs: () => number) {
  return createLimiters(dashboardLimits, monotonicMs);
}
