import { expect, it } from 'vitest';
import { createGasTask } from './gas-task.ts';

const POL = 10n ** 18n;

const GWEI = 10n ** 9n;
/** At 100 gwei, three full batches of 11 million gas. */
const LOW = (33n * POL) / 10n;

/** Runs the task once for each balance, with these fees, and tells what was logged in which run. */
async function logged(balances: readonly bigint[], feesGwei: readonly bigint[] = []): Promise<string[]> {
  const lines: string[] = [];
  const shown: number[] = [];
  const lowest: number[] = [];
  let run = 0;
  const log = (level: string) => () => void lines.push(`${run}: ${level}`);
  const task = createGasTask({
    world: {
      relayer: {
        address: '0xAbc',
        readGasBalance: async () => balances[run] as bigint,
        quoteFees: async () => ({
          maxFeePerGas: (feesGwei[run] ?? 100n) * GWEI,
          maxPriorityFeePerGas: 25n * GWEI,
        }),
      },
    },
    metrics: {
      relayerBalancePol: { set: (pol: number) => void shown.push(pol) } as never,
      relayerLowBalancePol: { set: (pol: number) => void lowest.push(pol) } as never,
    },
    log: { error: log('error'), info: log('info') } as never,
  });
  for (run = 0; run < balances.length; run++) await task.run(new AbortController().signal);
  expect(shown).toEqual(balances.map((balance) => Number(balance / 10n ** 12n) / 1e6));
  expect(lowest).toEqual(balances.map((_, index) => Number((feesGwei[index] ?? 100n) * 33n) / 1_000));
  return lines;
}

it('low gas money of the relayer is an error, once for each time that it becomes low', async () => {
  expect(await logged([5n * POL, LOW, LOW - 1n, 0n, 0n, 4n * POL, 5n * POL, 1n])).toEqual([
    '2: error',
    '5: info',
    '7: error',
  ]);
});

it('a relayer that has none from the start is an error at once', async () => {
  expect(await logged([0n, 0n])).toEqual(['0: error']);
});

it('gas money that no longer covers three full batches because fees have risen is an error', async () => {
  expect(await logged([LOW, LOW, LOW], [100n, 200n, 100n])).toEqual(['1: error', '2: info']);
});
