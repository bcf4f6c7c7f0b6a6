import { LOW_GAS_WEI, polOf } from '../domain/gas-money.ts';
import type { Relayer } from '../domain/ports/chain.ts';
import type { WorkerTask } from '../worker.ts';
import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';

const GAS_INTERVAL_MS = 60_000;

interface GasParts {
  readonly world: { readonly relayer: Pick<Relayer, 'address' | 'readGasBalance'> };
  readonly metrics: Pick<Metrics, 'relayerBalancePol'>;
  readonly log: Pick<Log, 'error' | 'info'>;
}

/**
 * Keeps the relayer's gas money in the metrics and says once when it becomes low and once when it no longer is,
 * because an empty relayer releases nothing.
 */
export function createGasTask({ world, metrics, log }: GasParts): WorkerTask {
  let isLow = false;
  return {
    name: 'gas',
    intervalMs: GAS_INTERVAL_MS,
    async run() {
      const balanceWei = await world.relayer.readGasBalance();
      const balancePol = polOf(balanceWei);
      metrics.relayerBalancePol.set(balancePol);
      const wasLow = isLow;
      isLow = balanceWei < LOW_GAS_WEI;
      const fields = { relayer: world.relayer.address, balancePol };
      if (isLow && !wasLow)
        log.error(fields, 'the relayer runs out of gas money: send it POL, or releases stop');
      if (wasLow && !isLow) log.info(fields, 'the relayer has gas money again');
      return false;
    },
  };
}
