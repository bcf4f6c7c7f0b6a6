import { limitersOf, MINUTE_MS } from '../rate-windows.ts';

const HOUR_MS = 60 * MINUTE_MS;

/** Limits of the dashboard and the operator's console. `countSignIn` in `new-browser-pages.ts` counts sign-ins. */
export const createDashboardLimits = limitersOf({
  /** All requests per IP address. Far more than one user needs, because an office may share an address. */
  requests: [300, MINUTE_MS],
  signInsOfAddress: [20, MINUTE_MS],
  /** Requests for emailed links, per IP address. Separate, so that password attempts cannot block the links. */
  linksOfAddress: [20, MINUTE_MS],
  /** Passwords for one user, per known browser, or else per IP address. */
  signInsOfUser: [10, 10 * MINUTE_MS],
  /** Attempts for one user from all unknown browsers together: 720 guesses a day. */
  strangersOfUser: [30, HOUR_MS],
  mailsOfUser: [3, HOUR_MS],
  testMessagesOfUser: [10, HOUR_MS],
  endpointChecksOfAccount: [10, 10 * MINUTE_MS],
  /** Attempts to add a notification channel, per user. Each new channel adds an entry to the audit log. */
  channelsOfUser: [20, HOUR_MS],
  invitationsOfAccount: [30, HOUR_MS],
  /**
   * Codes per user, counted separately for unknown browsers, known browsers and sessions. A year of guessing succeeds
   * with a probability of 1/4, because three of a million codes are valid at a time.
   */
  codesOfUser: [10, HOUR_MS],
});

export type DashboardLimits = ReturnType<typeof createDashboardLimits>;
