import { type Address, parsePayoutAddress } from './payout-address.ts';

/** An address and its text take some 200 bytes. */
const MAXIMUM_ENTRIES = 10_000;
/** The length of an address: longer texts are not remembered. */
const ADDRESS_CHARACTERS = 42;

/**
 * `parsePayoutAddress` that remembers the addresses it has accepted: merchants have few and send them with each
 * create, and a checksum costs as much as a dozen look-ups. The one remembered longest makes room.
 */
export function createPayoutAddressParser(): (value: unknown) => Address | null {
  const accepted = new Map<string, Address>();
  return (value) => {
    if (typeof value !== 'string' || value.length !== ADDRESS_CHARACTERS) return null;
    const known = accepted.get(value);
    if (known !== undefined) return known;
    const address = parsePayoutAddress(value);
    if (address === null) return null;
    if (accepted.size >= MAXIMUM_ENTRIES) accepted.delete(accepted.keys().next().value as string);
    accepted.set(value, address);
    return address;
  };
}
