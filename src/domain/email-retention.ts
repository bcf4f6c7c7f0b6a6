import { invalidField } from './errors.ts';

const MAXIMUM_RETENTION_DAYS = 3_650;

/** For how many days customers' e-mail addresses are kept, as people type it. Throws `invalid_request`, naming the field. */
export function parseRetentionDays(text: string, field: string): number {
  const days = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (days < 1 || days > MAXIMUM_RETENTION_DAYS) {
    throw invalidField(field, `must be a number of days from 1 to ${MAXIMUM_RETENTION_DAYS}`);
  }
  return days;
}
