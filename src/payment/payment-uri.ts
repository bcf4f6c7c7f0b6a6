import type { Address } from './address.ts';

/** A transfer of a token as wallets read it from a link or a QR code (ERC-681); the units are the token's smallest. */
export function paymentUri(transfer: {
  readonly token: Address;
  readonly chainId: number;
  readonly to: Address;
  readonly units: bigint;
}): string {
  const { token, chainId, to, units } = transfer;
  return `ethereum:${token}@${chainId}/transfer?address=${to}&uint256=${units}`;
}
