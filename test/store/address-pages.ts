import { expect, it } from 'vitest';
import type { AddressPage } from '../../src/domain/ports/settlement-store.ts';
import type { StoreContext } from './fixtures.ts';

const page = (afterRow: number, ...entries: readonly [number, number][]): AddressPage => ({
  afterRow,
  rows: Uint32Array.from(entries, ([row]) => row),
  prefixes: Uint32Array.from(entries, ([, prefix]) => prefix),
});

/** What every engine promises of the pages of the address book. */
export function addressPagePromises(context: StoreContext): void {
  it('are listed in the order of their rows, bit by bit as they were kept', async () => {
    const { addressPages } = context.store;
    const first = page(0, [1, 0xdead_beef], [3, 0]);
    const second = page(3, [4, 0xffff_ffff], [0xffff_ffff, 1]);
    await addressPages.keepAddressPage(second);
    await addressPages.keepAddressPage(first);
    expect(await addressPages.listAddressPages(0, 10)).toEqual([first, second]);
    expect(await addressPages.listAddressPages(0, 1)).toEqual([first]);
    expect(await addressPages.listAddressPages(1, 10)).toEqual([second]);
  });

  it('stay as they were first kept, as several processes make the same ones', async () => {
    const { addressPages } = context.store;
    const kept = page(0, [1, 7]);
    await Promise.all([kept, kept, kept].map((twin) => addressPages.keepAddressPage(twin)));
    await addressPages.keepAddressPage(page(0, [1, 8]));
    expect(await addressPages.listAddressPages(0, 10)).toEqual([kept]);
  });
}
