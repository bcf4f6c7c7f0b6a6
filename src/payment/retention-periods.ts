import { DAY_MS } from '../platform/time-zone.ts';

// Periods after which stored data is erased or deleted. Payments and their journal are kept without limit.

/** Days for which the operator keeps data; null for no limit. The configuration checks the minimums. */
export interface Retention {
  readonly auditDays: number | null;
  readonly customerDataDays: number | null;
}

/** Lifetime of an idempotency key, as specified. */
export const IDEMPOTENCY_TTL_MS = DAY_MS;
/** Time after which a customer's email address is erased if the queued email could not be sent. */
export const MAXIMUM_MAIL_DELAY_MS = DAY_MS;
/** Time after which a customer's email address is erased if its payment is still open, so that no email was queued. */
export const MAXIMUM_ADDRESS_AGE_MS = 30 * DAY_MS;
export const EVENT_RETENTION_MS = 30 * DAY_MS;
/** Retention of exchange rates, longer than most countries require for accounting records. */
export const RATE_RETENTION_MS = 11 * 366 * DAY_MS;
