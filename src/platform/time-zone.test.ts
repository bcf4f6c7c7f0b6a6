import { describe, expect, it } from 'vitest';
import { dateAt, lastDays, nextDate, startOfDate } from './time-zone.ts';

describe('days of a time zone', () => {
  it('begin at its midnight, also where the clocks change and where hours are not whole', () => {
    for (const [date, zone, start] of [
      ['2026-11-21', 'UTC', '2026-11-21T00:00:00Z'],
      ['2026-11-21', 'Asia/Kathmandu', '2026-11-20T18:15:00Z'],
      ['2026-11-21', 'America/St_Johns', '2026-11-21T03:30:00Z'],
      ['2026-03-29', 'Europe/Berlin', '2026-03-28T23:00:00Z'],
      ['2026-03-30', 'Europe/Berlin', '2026-03-29T22:00:00Z'],
      ['2026-10-25', 'Europe/Berlin', '2026-10-24T22:00:00Z'],
      ['2026-10-26', 'Europe/Berlin', '2026-10-25T23:00:00Z'],
      ['2026-09-06', 'America/Santiago', '2026-09-06T04:00:00Z'],
      ['2026-11-21', 'Pacific/Kiritimati', '2026-11-20T10:00:00Z'],
    ] as const) {
      const startMs = startOfDate(date, zone) as number;
      expect([zone, new Date(startMs).toISOString()]).toEqual([zone, new Date(start).toISOString()]);
      expect(dateAt(startMs, zone)).toBe(date);
      expect(dateAt(startMs - 1, zone) < date).toBe(true);
    }
  });

  it('follow on each other without a gap, for a year in any zone', () => {
    for (const zone of ['UTC', 'America/New_York', 'Australia/Lord_Howe', 'Asia/Kolkata']) {
      const days = lastDays(366, Date.UTC(2026, 10, 21, 12), zone);
      expect(days.at(-1)?.date).toBe('2026-11-21');
      for (const [index, day] of days.entries()) {
        expect(day.endMs).toBe(days[index + 1]?.startMs ?? day.endMs);
        expect([23, 23.5, 24, 24.5, 25]).toContain((day.endMs - day.startMs) / 3_600_000);
        expect(nextDate(day.date)).toBe(days[index + 1]?.date ?? '2026-11-22');
      }
    }
  });

  it('are none for what is no date', () => {
    for (const text of [
      '',
      '2026-02-30',
      '2026-13-01',
      '21.11.2026',
      '2026-11-21T00:00',
      '0000-01-01',
      '0999-12-31',
    ]) {
      expect(startOfDate(text, 'UTC')).toBeNull();
    }
  });
});
