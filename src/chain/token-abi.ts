import { parseAbi, toEventSelector } from 'viem/utils';

/** The part of Circle's token that we use. */
export const tokenAbi = parseAbi([
  'function balanceOf(address account) view returns (uint256)',
  'function isBlacklisted(address account) view returns (bool)',
  'function transfer(address to, uint256 amount) returns (bool)',
]);

/** topics[0] of `Transfer(from, to, value)`; topics[2] is the recipient. */
export const TRANSFER_TOPIC = toEventSelector('Transfer(address,address,uint256)');
