import { limitersOf, MINUTE_MS } from '../rate-windows.ts';

const HOUR_MS = 60 * MINUTE_MS;

/** Limits of the dashboard and the operator's console. `countSignIn` in `new-browser-pages.ts` counts sign-ins. */
export const createDashboardLimits = limitersOf({
  /** All requests per IP address. Far above what users click, because an office may share one. */
  requests: [300, MINUTE_MS],
  signInsOfAddress: [20, MINUTE_MS],
  /** Requests for an emailed link, per IP address. Password attempts are separate: they must not block this way in. */
  linksOfAddress: [20, MINUTE_MS],
  /** Passwords for one user, per known browser, otherwise per IP address. */
  signInsOfUser: [10, 10 * MINUTE_MS],
  /** Attempts per user from all unknown browsers together: 720 guesses a day. */
  strangersOfUser: [30, HOUR_MS],
  mailsOfUser: [3, HOUR_MS],
  testMessagesOfUser: [10, HOUR_MS],
  endpointChecksOfAccount: [10, 10 * MINUTE_MS],
  /** Attempts to add a notification channel, per user: each added channel writes an entry in the audit log. */
  channelsOfUser: [20, HOUR_MS],
  invitationsOfAccount: [30, HOUR_MS],
  /**
   * Codes per user, counted separately for a password alone, a known browser and a session. A year of guessing has a
   * probability of success of 1/4, because three of a million codes are valid at a time.
   */
  codesOfUser: [10, HOUR_MS],
});

export type DashboardLimits = ReturnType<typeof createDashboardLimits>;
