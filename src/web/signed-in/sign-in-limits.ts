import { createLimiters, MINUTE_MS } from '../rate-windows.ts';

const HOUR_MS = 60 * MINUTE_MS;

/** Requests per window. */
const dashboardLimits = {
  /** All requests per address. Far above what users click, because an office may share an address. */
  requests: [300, MINUTE_MS],
  /** Sign-in attempts per address, against guesses for many users from one place. */
  signInsOfAddress: [20, MINUTE_MS],
  /**
   * Requests for an emailed link, per address. Separate from attempts with passwords, which must not block this way
   * around them.
   */
  linksOfAddress: [20, MINUTE_MS],
  /** Passwords for one user, per known browser, otherwise per address. */
  signInsOfUser: [10, 10 * MINUTE_MS],
  /**
   * Sign-in attempts per user from all unknown browsers together: 720 guesses a day at a password of at least twelve
   * characters.
   */
  strangersOfUser: [30, HOUR_MS],
  mailsOfUser: [3, HOUR_MS],
  testMessagesOfUser: [10, HOUR_MS],
  endpointChecksOfAccount: [10, 10 * MINUTE_MS],
  /** Attempts to add a notification channel, per user: each added channel writes an entry in the audit log. */
  channelsOfUser: [20, HOUR_MS],
  invitationsOfAccount: [30, HOUR_MS],
  /**
   * Second factor codes, per user and other credentials (password only, known browser, session): three of a million
   * codes are valid at a time, so a year of guessing succeeds with a probability of 1/4.
   */
  codesOfUser: [10, HOUR_MS],
} as const satisfies Record<string, readonly [limit: number, windowMs: number]>;

export type DashboardLimits = ReturnType<typeof createDashboardLimits>;

export function createDashboardLimits(monotonicMs: () => number) {
  return createLimiters(dashboardLimits, monotonicMs);
}
