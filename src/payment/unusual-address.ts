import type { Address } from './address.ts';
import { BRIDGED_USDC, NATIVE_USDC } from './provider-catalog.ts';

/** Token contracts that people mistake for their wallet address: common tokens on Polygon, and USDC on other chains. */
const tokens: ReadonlyMap<string, string> = new Map(
  [
    ['USDC.e', BRIDGED_USDC],
    ['USDC', NATIVE_USDC],
    ['USDC on Ethereum', '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48'],
    ['USDC on Base', '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'],
    ['USDC on Arbitrum', '0xaf88d065e77c8cC2239327C5EDb3A432268e5831'],
    ['USDT', '0xc2132D05D31c914a87C6611C10748AEb04B58e8F'],
    ['USDT on Ethereum', '0xdAC17F958D2ee523a2206206994597C13D831ec7'],
    ['DAI', '0x8f3Cf7ad23Cd3CaDbD9735AFf958023239c6A063'],
    ['WETH', '0x7ceB23fD6bC0adD59E62ac25578270cFf1b9f619'],
    ['WBTC', '0x1BFD67037B42Cf73acF2047067bd4F2C47D9BfD6'],
    ['WPOL', '0x0d500B1d8E8eF31E21C99d1Db9A6444d3ADf1270'],
  ].map(([name = '', address = '']) => [address.toLowerCase(), name]),
);

/** Precompiles, system contracts, 0x…dEaD, and addresses of padded or repeated digits. */
const withoutOwner = /^0x(?:0{32}[0-9a-f]{8}|[0-9a-f]{8}0{32}|(.{1,20}?)\1+|(?:dead)+0{16,}(?:42069)+)$/i;

/** Returns why USDC sent to an address would be lost, or null. Forms require a confirmation; the API does not. */
export function doubtAbout(address: Address): string | null {
  const token = tokens.get(address.toLowerCase());
  if (token !== undefined)
    return `is the contract of the token ${token}, not a wallet: USDC sent there is lost`;
  return withoutOwner.test(address) ? 'is an address without an owner: USDC sent there is lost' : null;
}
