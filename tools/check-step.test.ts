import { expect, it } from 'vitest';
import { runStep } from './check-step.ts';

/** A step that runs a line of JavaScript. */
const step = (code: string, timeoutMs = 10_000) => ({
  name: 'a step',
  command: [process.execPath, '--input-type=module', '--eval', code] as [string, ...string[]],
  timeoutMs,
});

it('collects what a step prints and finds nothing wrong with exit 0', async () => {
  const result = await runStep(step("console.log('out'); console.error('err');"));
  expect(result.problem).toBeUndefined();
  expect(result.output.split('\n').sort()).toEqual(['', 'err', 'out']);
});

it('says how a step failed', async () => {
  expect((await runStep(step('process.exit(3);'))).problem).toBe('exit 3');
  expect((await runStep(step("process.kill(process.pid, 'SIGKILL');"))).problem).toBe('exit SIGKILL');
});

it('says when the command does not exist', async () => {
  const missing = { name: 'missing', command: ['./no-such-command'] as [string], timeoutMs: 10_000 };
  expect((await runStep(missing)).problem).toMatch(/ENOENT/);
});

it('ends a step that takes too long', async () => {
  expect((await runStep(step('setInterval(() => {}, 1000);', 300))).problem).toBe('took longer than 0.3 s');
});
