import { type Address, parsePayoutAddress } from './payout-address.ts';

/** Of one generation. An address and its text take some 200 bytes. */
const MAXIMUM_ENTRIES = 5_000;
/** The length of an address: longer texts are not remembered. */
const ADDRESS_CHARACTERS = 42;

/**
 * `parsePayoutAddress` that remembers the addresses it has accepted: merchants have few and send them with each
 * create, and a checksum costs as much as a dozen look-ups.
 *
 * In two generations: when the younger is full, what was not asked for since the last time goes as a whole. To take
 * the oldest entry out of one map costs 7 µs where every address is new, because a map keeps the places of what was
 * taken out, and its first entry is looked for behind all of them.
 */
export function createPayoutAddressParser(): (value: unknown) => Address | null {
  let younger = new Map<string, Address>();
  let older = new Map<string, Address>();

  function remember(value: string, address: Address): Address {
    if (younger.size >= MAXIMUM_ENTRIES) {
      older = younger;
      younger = new Map();
    }
    younger.set(value, address);
    return address;
  }

  return (value) => {
    if (typeof value !== 'string' || value.length !== ADDRESS_CHARACTERS) return null;
    const known = younger.get(value);
    if (known !== undefined) return known;
    const address = older.get(value) ?? parsePayoutAddress(value);
    return address === null ? null : remember(value, address);
  };
}
