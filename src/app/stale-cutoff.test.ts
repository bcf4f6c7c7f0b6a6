import { expect, it } from 'vitest';
import { createStaleCutoff } from './stale-cutoff.ts';

const WAIT_MS = 120_000;
const HOUR_MS = 3_600_000;

/** A process that has watched for long, asked every half minute. */
function watchFor(minutes: number) {
  const time = { trueMs: 0, skewMs: 10 * HOUR_MS };
  const cutoff = createStaleCutoff(
    { nowMs: () => time.trueMs + time.skewMs, monotonicMs: () => time.trueMs },
    WAIT_MS,
  );
  const pass = (ms: number) => {
    let latest = cutoff();
    for (let passed = 0; passed < ms; passed += 30_000) {
      time.trueMs += 30_000;
      latest = cutoff();
    }
    return latest;
  };
  pass(minutes * 60_000);
  return { time, pass, wallMs: () => time.trueMs + time.skewMs };
}

it('is the wait ago while the clock is right', () => {
  const { pass, wallMs } = watchFor(30);
  expect(pass(30_000)).toBe(wallMs() - WAIT_MS);
});

it('says nothing before this process has watched for as long as the wait', () => {
  expect(watchFor(0).pass(90_000)).toBeNull();
  expect(watchFor(0).pass(120_000)).not.toBeNull();
});

it('a clock that is put forward by an hour gives up nothing that was begun a moment before', () => {
  const { time, pass, wallMs } = watchFor(30);
  const claimedAtMs = wallMs();
  time.skewMs += HOUR_MS;
  expect(pass(90_000)).toBeLessThan(claimedAtMs);
  // But in the end it does.
  expect(pass(60_000)).toBeGreaterThan(claimedAtMs);
});

it('a clock that goes forward and back again gives up nothing that was begun in between', () => {
  const { time, pass, wallMs } = watchFor(30);
  time.skewMs += HOUR_MS;
  pass(60_000);
  time.skewMs -= HOUR_MS;
  const claimedAtMs = wallMs();
  expect(pass(90_000)).toBeLessThan(claimedAtMs);
});

it('keeps a bounded memory and stays right when it is asked very often', () => {
  let trueMs = 0;
  const clock = () => trueMs;
  const cutoff = createStaleCutoff({ nowMs: clock, monotonicMs: clock }, WAIT_MS);
  let latest: number | null = null;
  for (; trueMs < WAIT_MS * 4; trueMs += 50) latest = cutoff();
  expect(latest).toBeGreaterThan(0);
  expect(latest).toBeLessThanOrEqual(trueMs - WAIT_MS);
});
