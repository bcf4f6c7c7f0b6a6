import { createFixedWindowLimiter } from '../rate-limit.ts';
import type { DashboardLimits } from '../signed-in/context.ts';

/** Far above what users click; an office may share an address. */
const REQUESTS_PER_MINUTE = 300;
const SIGN_INS_PER_MINUTE_AND_ADDRESS = 20;
/** In ten minutes, from one known browser or one address. */
const SIGN_INS_PER_USER = 10;
/** In an hour, from all unknown browsers together: 720 guesses a day, of passwords of twelve characters. */
const STRANGERS_PER_USER = 30;
const USER_WINDOW_MS = 10 * 60_000;
const MAILS_PER_USER_AND_HOUR = 3;
const INVITATIONS_PER_ACCOUNT_AND_HOUR = 30;
/**
 * In an hour: three codes are valid at a time, so a year of guessing finds one with one chance in four. Counted apart
 * for requests with only the password, for known browsers, and for signed-in users.
 */
const CODES_PER_USER = 10;
const HOUR_MS = 60 * 60_000;
const MAXIMUM_WINDOWS = 100_000;

/** The limiters in memory: each process counts for itself. */
export function createDashboardLimits(monotonicMs: () => number): DashboardLimits {
  return {
    requests: createFixedWindowLimiter(REQUESTS_PER_MINUTE, monotonicMs),
    signInsOfAddress: createFixedWindowLimiter(SIGN_INS_PER_MINUTE_AND_ADDRESS, monotonicMs),
    signInsOfUser: createFixedWindowLimiter(SIGN_INS_PER_USER, monotonicMs, MAXIMUM_WINDOWS, USER_WINDOW_MS),
    strangersOfUser: createFixedWindowLimiter(STRANGERS_PER_USER, monotonicMs, MAXIMUM_WINDOWS, HOUR_MS),
    mailsOfUser: createFixedWindowLimiter(MAILS_PER_USER_AND_HOUR, monotonicMs, MAXIMUM_WINDOWS, HOUR_MS),
    invitationsOfAccount: createFixedWindowLimiter(
      INVITATIONS_PER_ACCOUNT_AND_HOUR,
      monotonicMs,
      MAXIMUM_WINDOWS,
      HOUR_MS,
    ),
    codesOfUser: createFixedWindowLimiter(CODES_PER_USER, monotonicMs, MAXIMUM_WINDOWS, HOUR_MS),
  };
}
