import { onFirstUse } from './on-first-use.ts';

/** Day in a time zone, such as `2026-11-21`. It starts at local midnight and has 23 to 25 hours. */
export type LocalDay = ReturnType<typeof lastDays>[number];

export const DAY_MS = 86_400_000;
/** Pattern of dates from the year 1000 on, because `Intl.DateTimeFormat` formats earlier years differently. */
const datePattern = /^[1-9]\d{3}-\d{2}-\d{2}$/;

export function dateAt(timeMs: number, timeZone: string): string {
  return localTextAt(timeMs, timeZone).slice(0, 10);
}

/** Returns the time at which a date starts in the time zone; null for an invalid date. */
export function startOfDate(date: string, timeZone: string): number | null {
  if (!datePattern.test(date)) return null;
  const midnightMs = Date.parse(`${date}T00:00:00Z`);
  if (!Number.isFinite(midnightMs) || new Date(midnightMs).toISOString().slice(0, 10) !== date) return null;
  // Computes the start twice, because the first estimate may be on the other side of a clock change.
  let startMs = midnightMs - offsetAt(midnightMs, timeZone);
  startMs = midnightMs - offsetAt(startMs, timeZone);
  // Adds an hour if the clocks skip midnight.
  return dateAt(startMs, timeZone) < date ? startMs + 3_600_000 : startMs;
}

export function nextDate(date: string): string {
  return new Date(Date.parse(`${date}T00:00:00Z`) + DAY_MS).toISOString().slice(0, 10);
}

export type LocalMonth = NonNullable<ReturnType<typeof monthOf>>;

/** Parses a month such as `2026-11`; null for other text. */
export function monthOf(month: string, timeZone: string) {
  const first = `${month}-01`;
  const startMs = startOfDate(first, timeZone);
  if (startMs === null) return null;
  // Four days after the 28th is always in the next month.
  const next = new Date(Date.parse(`${month}-28T00:00:00Z`) + 4 * DAY_MS).toISOString().slice(0, 7);
  return { month, startMs, endMs: startOfDate(`${next}-01`, timeZone) as number };
}

/** Returns the last `count` days including today, oldest first. */
export function lastDays(count: number, nowMs: number, timeZone: string) {
  const today = Date.parse(`${dateAt(nowMs, timeZone)}T00:00:00Z`);
  const dates = Array.from({ length: count + 1 }, (_, index) =>
    new Date(today - (count - 1 - index) * DAY_MS).toISOString().slice(0, 10),
  );
  const starts = dates.map((date) => startOfDate(date, timeZone) as number);
  return dates
    .slice(0, count)
    .map((date, index) => ({ date, startMs: starts[index] as number, endMs: starts[index + 1] as number }));
}

function offsetAt(timeMs: number, timeZone: string): number {
  const seconds = timeMs - (((timeMs % 1000) + 1000) % 1000);
  return Date.parse(`${localTextAt(timeMs, timeZone).replace(' ', 'T')}Z`) - seconds;
}

/** Formats the local time, such as `2026-11-21 23:59:59`. */
function localTextAt(timeMs: number, timeZone: string): string {
  return formatOf(timeZone).format(timeMs);
}

const formatOf = onFirstUse(
  (timeZone: string) =>
    new Intl.DateTimeFormat('sv-SE', {
      timeZone,
      hourCycle: 'h23',
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
    }),
);
