import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { temporaryFolder } from '../../test/support/temporary-folder.ts';
import { ConfigError } from '../config/config.ts';
import type { Address } from '../payment/address.ts';
import type { Settlement } from './external-services.ts';
import { factoriesOf, rememberSettlement } from './settlements.ts';
import { openSqliteStore } from './store/sqlite-store.ts';
import type { Store } from './store/store.ts';

let folder: string;
let store: Store;
beforeEach(async () => {
  folder = temporaryFolder();
  store = await openSqliteStore({ file: join(folder, 'store.sqlite') });
});
afterEach(async () => {
  await store.close();
});

const address = (digit: string): Address => `0x${digit.repeat(40)}`;

function settlement(factory: string, feeWallet: string, chainId = 137): Settlement {
  return {
    chainId,
    token: address('1'),
    factory: address(factory),
    implementation: address('2'),
    factoryCodeHash: `0x${'a'.repeat(64)}`,
    feeWallet: address(feeWallet),
  };
}

/** Starts with the settlement. Returns the digits of each factory and fee wallet, newest first. */
async function startWith(current: Settlement, nowMs: number): Promise<string[]> {
  const settlements = await rememberSettlement(store, current, nowMs);
  return settlements.map(({ factory, feeWallet }) => `${factory[2]} ${feeWallet[2]}`);
}

it('puts the settlement of new payments first, and keeps every earlier one', async () => {
  expect(await startWith(settlement('3', '4'), 1)).toEqual(['3 4']);
  expect(await startWith(settlement('3', '4'), 2)).toEqual(['3 4']);
  expect(await startWith(settlement('3', '5'), 3)).toEqual(['3 5', '3 4']);
  expect(await startWith(settlement('6', '5'), 4)).toEqual(['6 5', '3 5', '3 4']);
  expect(await startWith(settlement('3', '4'), 5)).toEqual(['3 4', '6 5', '3 5']);
});

it('watches each factory once', async () => {
  await startWith(settlement('3', '4'), 1);
  await startWith(settlement('3', '5'), 2);
  const settlements = await rememberSettlement(store, settlement('6', '5'), 3);
  expect(factoriesOf(settlements)).toEqual([address('6'), address('3')]);
});

it('refuses the data of another chain, and remembers nothing of it', async () => {
  await startWith(settlement('3', '4'), 1);
  const started = startWith(settlement('3', '4', 80_002), 2);
  await expect(started).rejects.toThrow(ConfigError);
  await expect(started).rejects.toThrow(
    'CHAIN_ID is 80002, but the database belongs to chain 137: set DATA_DIR or',
  );
  expect(await startWith(settlement('3', '4'), 3)).toEqual(['3 4']);
});
