import { EventEmitter } from 'node:events';
import { expect, it } from 'vitest';
import { signalToStop } from './stop-signals.ts';

function listen() {
  const signals = new EventEmitter();
  const clock = { ms: 5_000 };
  const ended: number[] = [];
  const stopped = signalToStop(
    signals,
    () => clock.ms,
    (exitCode) => ended.push(exitCode),
  );
  return { signals, clock, ended, stopped };
}

it('stops in order when the terminal and npm send the same Ctrl-C', async () => {
  const { signals, clock, ended, stopped } = listen();
  signals.emit('SIGINT');
  clock.ms += 20;
  signals.emit('SIGINT');
  await stopped;
  expect(ended).toEqual([]);
});

it.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
])('ends at once with a second wish, %s', async (signal, exitCode) => {
  const { signals, clock, ended, stopped } = listen();
  signals.emit('SIGTERM');
  await stopped;
  clock.ms += 1_000;
  signals.emit(signal);
  expect(ended).toEqual([exitCode]);
});
