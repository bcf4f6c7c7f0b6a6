import type { Address } from './address.ts';

/** Returns an ERC-681 URI, for a link or QR code that opens a wallet. `units` are the token's smallest units. */
export function paymentUri(transfer: {
  readonly token: Address;
  readonly chainId: number;
  readonly to: Address;
  readonly units: bigint;
}): string {
  const { token, chainId, to, units } = transfer;
  return `ethereum:${token}@${chainId}/transfer?address=${to}&uint256=${units}`;
}
