import { expect, it } from 'vitest';
import { StartStoppedError, type UndoSteps, withUndoSteps } from './undo-steps.ts';

/** Adds steps that list their names in `undone` when they are undone. Undoing a step in `broken` fails. */
function addParts(
  steps: UndoSteps,
  undone: string[],
  names: readonly string[],
  broken: readonly string[] = [],
): void {
  for (const name of names) {
    steps.add(name, async (part) => {
      undone.push(part);
      await Promise.resolve();
      if (broken.includes(part)) throw new Error(`${part} is stuck`);
    });
  }
}

it('stops what was started in reverse order, one after the other, and once', async () => {
  const undone: string[] = [];
  const running = await withUndoSteps(async (steps) =>
    addParts(steps, undone, ['store', 'external', 'server']),
  );
  expect(undone).toEqual([]);
  await running.stop();
  expect(undone).toEqual(['server', 'external', 'store']);
  await running.stop();
  expect(undone).toHaveLength(3);
});

it('undoes the earlier steps when one fails, and throws what that one threw', async () => {
  const undone: string[] = [];
  const failure = new TypeError('the port is taken');
  const started = withUndoSteps(async (steps) => {
    addParts(steps, undone, ['store', 'external']);
    throw failure;
  });
  await expect(started).rejects.toBe(failure);
  expect(undone).toEqual(['external', 'store']);
});

it('undoes the rest although one cannot be undone, and says so', async () => {
  const undone: string[] = [];
  const names = ['store', 'external', 'server'];
  const one = await withUndoSteps(async (steps) => addParts(steps, undone, names, ['server']));
  await expect(one.stop()).rejects.toThrow('server is stuck');
  expect(undone).toEqual(['server', 'external', 'store']);

  const two = await withUndoSteps(async (steps) => addParts(steps, undone, names, ['server', 'store']));
  await expect(two.stop()).rejects.toThrow('server is stuck; store is stuck');
});

it('loses neither the reason of the failed start nor that of the failed undoing', async () => {
  const undone: string[] = [];
  const started = withUndoSteps(async (steps) => {
    addParts(steps, undone, ['store', 'external'], ['external']);
    throw new Error('the port is taken');
  });
  await expect(started).rejects.toThrow('the port is taken; external is stuck');
  expect(undone).toEqual(['external', 'store']);
});

it('ends a start that is stopped while it waits, and undoes what comes later', async () => {
  const undone: string[] = [];
  const stopped = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<void>();
  const starting = withUndoSteps(async (steps) => {
    addParts(steps, undone, ['store']);
    await answer.promise;
    addParts(steps, undone, ['external', 'server']);
  }, stopped.promise);
  stopped.resolve();
  await expect(starting).rejects.toThrow(StartStoppedError);
  expect(undone).toEqual(['store']);
  answer.resolve();
  await expect.poll(() => undone).toEqual(['store', 'external']);
});
