import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { startChild } from '../child-process.ts';
import type { Measurement } from './measurement.ts';

/** Cost of creates. */
export interface StoredCreates {
  readonly creates: number;
  readonly cpuMicroseconds: number;
}

/** The store alone, with a million payments: 64 creates in each turn of the event loop, as in a busy service. */
export const storeCreate: Measurement = {
  name: 'store-create',
  title: 'Creates in the store alone, a million payments stored, groups of 64',
  async measure({ machine, extent, folder, millionDataDir }) {
    const file = join(folder, 'card-checkout.sqlite');
    copyFileSync(join(await millionDataDir(), 'card-checkout.sqlite'), file);
    const store = await startChild('children/store-creates.ts', [file], { pin: machine.measuredCore });
    const rounds: StoredCreates[] = [];
    try {
      await store.ask<StoredCreates>(extent.storedCreates);
      for (let round = 0; round < extent.rounds; round++) {
        rounds.push(await store.ask<StoredCreates>(extent.storedCreates));
      }
    } finally {
      await store.stop();
    }
    const values = rounds.map(({ creates, cpuMicroseconds }) => cpuMicroseconds / creates);
    return [{ name: 'CPU a create', unit: 'µs', values }];
  },
};
