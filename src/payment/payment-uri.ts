import type { Address } from './address.ts';

/** Returns a token transfer's URI for wallets, in a link or QR code (ERC-681). `units` are in the smallest unit. */
export function paymentUri(transfer: {
  readonly token: Address;
  readonly chainId: number;
  readonly to: Address;
  readonly units: bigint;
}): string {
  const { token, chainId, to, units } = transfer;
  return `ethereum:${token}@${chainId}/transfer?address=${to}&uint256=${units}`;
}
