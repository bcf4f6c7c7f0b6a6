import { expect, it } from 'vitest';
import { createGasTask } from './gas-task.ts';

const POL = 10n ** 18n;

/** Runs the task once for each balance and tells what was logged in which run. */
async function logged(balances: readonly bigint[]): Promise<string[]> {
  const lines: string[] = [];
  const shown: number[] = [];
  let run = 0;
  const log = (level: string) => () => void lines.push(`${run}: ${level}`);
  const task = createGasTask({
    world: { relayer: { address: '0xAbc', readGasBalance: async () => balances[run] as bigint } },
    metrics: { relayerBalancePol: { set: (pol: number) => void shown.push(pol) } as never },
    log: { error: log('error'), info: log('info') } as never,
  });
  for (run = 0; run < balances.length; run++) await task.run(new AbortController().signal);
  expect(shown).toEqual(balances.map((balance) => Number(balance / 10n ** 12n) / 1e6));
  return lines;
}

it('low gas money of the relayer is an error, once for each time that it becomes low', async () => {
  expect(await logged([5n * POL, POL, POL - 1n, 0n, 0n, 2n * POL, 3n * POL, 1n])).toEqual([
    '2: error',
    '5: info',
    '7: error',
  ]);
});

it('a relayer that has none from the start is an error at once', async () => {
  expect(await logged([0n, 0n])).toEqual(['0: error']);
});
