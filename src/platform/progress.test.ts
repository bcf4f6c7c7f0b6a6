import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { showProgress } from './progress.ts';

let written: string[];
beforeEach(() => {
  written = [];
  vi.useFakeTimers();
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => written.push(String(text)) > 0);
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  Object.assign(process.stderr, { isTTY: false });
});

function show({ isTTY = false, isJson = false }) {
  Object.assign(process.stderr, { isTTY, columns: 40 });
  return showProgress('verify', isJson);
}

it('overwrites one line of a terminal, which never wraps, and leaves nothing of it behind', async () => {
  const shown = show({ isTTY: true });
  shown.report({ unit: 'payments', done: 1, total: 100 });
  await vi.advanceTimersByTimeAsync(400);
  shown.report({ unit: 'payments that take a very long time', done: 50, total: 100 });
  await vi.advanceTimersByTimeAsync(200);
  const lines = written.filter((text) => !text.startsWith('\r'));
  expect(lines).toEqual([
    'verify: 1 of 100 payments, 0 s',
    'verify: 1 of 100 payments, 0 s',
    'verify: 50 of 100 payments that take a ',
  ]);
  shown.end();
  expect(written.at(-1)).toBe('\r\x1b[K');
});

it('without a terminal prints a line every ten seconds, and none for what is quick', async () => {
  const shown = show({});
  for (let second = 0; second < 25; second++) {
    shown.report({ unit: 'payments', done: second * 10, total: 1_000 });
    await vi.advanceTimersByTimeAsync(1_000);
  }
  shown.end();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(written).toEqual([
    'verify: 90 of 1000 payments, about 102 s left\n',
    'verify: 190 of 1000 payments, about 86 s left\n',
  ]);
});

it('names no end before there is a rate, and counts only while the total is unknown', async () => {
  const shown = show({});
  shown.report({ unit: 'payments', done: 0, total: 100 });
  await vi.advanceTimersByTimeAsync(10_000);
  shown.report({ unit: 'histories', done: 500, total: null });
  await vi.advanceTimersByTimeAsync(10_000);
  expect(written).toEqual([
    'verify: 0 of 100 payments, 10 s\n',
    'verify: 500 histories, 10 s, 50 a second\n',
  ]);
  shown.end();
});

it('prints JSON, also at the end of each step', async () => {
  const shown = show({ isTTY: true, isJson: true });
  shown.report({ unit: 'journal entries', done: 7, total: 7 });
  shown.report({ unit: 'payments', done: 10, total: 100 });
  await vi.advanceTimersByTimeAsync(10_000);
  shown.end();
  const step = { command: 'verify', unit: 'journal entries', done: 7, total: 7, seconds: 0 };
  expect(written.map((line) => JSON.parse(line).progress)).toEqual([
    { ...step, seconds_left: null },
    { ...step, unit: 'payments', done: 10, total: 100, seconds: 10, seconds_left: 90 },
  ]);
});
