import type { Address } from '../domain/payout-address.ts';

/**
 * Circle's native USDC (never the bridged USDC.e). Source: Circle's list of contract addresses,
 * https://developers.circle.com/stablecoins/usdc-contract-addresses, as repeated in public repositories. Other
 * chains, the sandbox among them, name their token in the configuration.
 */
const knownTokens: ReadonlyMap<number, Address> = new Map([
  [137, '0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359'], // Polygon
  [80002, '0x41E94Eb019C0762f9Bfcf9Fb1E58725BfB0e7582'], // Polygon Amoy, the test network
]);

/** The USDC of a chain, or null when we know none. */
export function knownToken(chainId: number): Address | null {
  return knownTokens.get(chainId) ?? null;
}
