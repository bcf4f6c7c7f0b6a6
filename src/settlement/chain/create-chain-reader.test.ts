import { expect, it } from 'vitest';
import { createHeadWatch } from './create-chain-reader.ts';

it('takes a head that advances, stays, or falls back as far as a reorganization may', () => {
  const watch = createHeadWatch();
  for (const head of [1_000, 1_000, 1_500, 1_244])
    expect(() => watch.hasHeadStood('node', head)).not.toThrow();
});

it('refuses a head that falls back further for a minute, however rarely it is checked', () => {
  let nowMs = 0;
  const watch = createHeadWatch(() => nowMs);
  watch.hasHeadStood('node', 1_000_000);
  for (nowMs = 1_000; nowMs <= 60_000; nowMs += 20_000) {
    expect(() => watch.hasHeadStood('node', 500)).toThrow('node fell back from block 1000000');
  }
  nowMs = 61_000;
  expect(() => watch.hasHeadStood('node', 530)).not.toThrow();
  expect(() => watch.hasHeadStood('node', 100)).toThrow('fell back from block 530');
});

it('forgets a fall-back when the head is where it was', () => {
  const watch = createHeadWatch();
  watch.hasHeadStood('node', 10_000);
  for (let check = 0; check < 100; check++) {
    watch.hasHeadStood('node', 10_000);
    expect(() => watch.hasHeadStood('node', 1)).toThrow(/fell back/);
  }
});

it.each([
  ['a head', (moving: number, standing: number) => [standing, moving] as const],
  ['a final block', (moving: number, standing: number) => [moving, standing] as const],
])('says that %s stands still after twenty seconds, and again only after twenty more', (_, numbersOf) => {
  let nowMs = 0;
  const watch = createHeadWatch(() => nowMs);
  const stoodStillAtMs: number[] = [];
  for (nowMs = 0; nowMs <= 100_000; nowMs += 2_000) {
    // The standing number advances until 30 s.
    const [head, final] = numbersOf(nowMs / 2_000, Math.min(15, nowMs / 2_000));
    const movements = [watch.hasHeadStood('node', head), watch.hasFinalStood(final)];
    if (movements.includes(true)) stoodStillAtMs.push(nowMs);
  }
  expect(stoodStillAtMs).toEqual([50_000, 70_000, 90_000]);
});
