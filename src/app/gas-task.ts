import { lowGasWei, polOf } from '../domain/gas-money.ts';
import type { Relayer } from '../domain/ports/chain.ts';
import type { WorkerTask } from '../worker.ts';
import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';

const GAS_INTERVAL_MS = 60_000;

interface GasParts {
  readonly world: { readonly relayer: Pick<Relayer, 'address' | 'readGasBalance' | 'quoteFees'> };
  readonly metrics: Pick<Metrics, 'relayerBalancePol' | 'relayerLowBalancePol'>;
  readonly log: Pick<Log, 'error' | 'info'>;
}

/**
 * Keeps the relayer's gas money in the metrics, and logs once when it falls below some full batches at the present fees
 * and once when it no longer is: an empty relayer releases nothing.
 */
export function createGasTask({ world, metrics, log }: GasParts): WorkerTask {
  let isLow = false;
  return {
    name: 'gas',
    intervalMs: GAS_INTERVAL_MS,
    async run() {
      const [balanceWei, fees] = await Promise.all([
        world.relayer.readGasBalance(),
        world.relayer.quoteFees(),
      ]);
      const lowWei = lowGasWei(fees);
      const [balancePol, lowPol] = [polOf(balanceWei), polOf(lowWei)];
      metrics.relayerBalancePol.set(balancePol);
      metrics.relayerLowBalancePol.set(lowPol);
      const wasLow = isLow;
      isLow = balanceWei < lowWei;
      const fields = { relayer: world.relayer.address, balancePol, lowPol };
      if (isLow && !wasLow)
        log.error(fields, 'the relayer runs out of gas money: send it POL, or releases stop');
      if (wasLow && !isLow) log.info(fields, 'the relayer has gas money again');
      return false;
    },
  };
}
