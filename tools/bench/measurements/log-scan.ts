import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { startChild } from '../child-process.ts';
import { fillStore } from '../fill-store.ts';
import type { Measurement } from './measurement.ts';

export const OPEN_PAYMENTS = 100_000;
/** A hundred blocks of 40 transfers, about Polygon's USDC traffic; one in a thousand is our deposit. */
export const BLOCKS_A_PAGE = 100;
export const LOGS_A_PAGE = 4_000;
export const DEPOSITS_A_PAGE = 4;

export interface ScannedPages {
  readonly logs: number;
  readonly cpuMicroseconds: number;
  /** Longest time that the event loop was busy, to a millisecond. */
  readonly longestStepMs: number;
}

/**
 * The watcher itself, with its look-ups, reader and observations, against a node in another process whose answers were
 * prepared. The time of the watcher's process counts: how long a node takes to answer is the node's.
 */
export const logScan: Measurement = {
  name: 'log-scan',
  title: `Logs scanned and matched against ${OPEN_PAYMENTS.toLocaleString('en')} open addresses`,
  async measure({ machine, extent, folder }) {
    const dataDir = join(folder, 'store');
    mkdirSync(dataDir, { recursive: true });
    await fillStore(dataDir, OPEN_PAYMENTS, OPEN_PAYMENTS);
    const node = await startChild<{ url: string }>('children/log-node.ts', [], { pin: machine.loadCore });
    const scanner = await startChild('children/log-scanner.ts', [dataDir, node.ready.url], {
      pin: machine.measuredCore,
    });
    const rounds: ScannedPages[] = [];
    try {
      await scanner.ask<ScannedPages>(extent.scannedPages);
      for (let round = 0; round < extent.rounds; round++) {
        rounds.push(await scanner.ask<ScannedPages>(extent.scannedPages));
      }
    } finally {
      await Promise.all([scanner.stop(), node.stop()]);
    }
    return [
      {
        name: 'logs a second of CPU',
        unit: 'a second',
        values: rounds.map(({ logs, cpuMicroseconds }) => (logs * 1_000_000) / cpuMicroseconds),
      },
      { name: 'longest step', unit: 'ms', values: rounds.map(({ longestStepMs }) => longestStepMs) },
    ];
  },
};
