import { encodeFunctionData, parseAbi, toEventSelector } from 'viem/utils';
import type { DepositTerms } from '../domain/deposit-address.ts';
import type { RelayCall } from '../domain/ports/chain.ts';

/** The deposit factory's interface, as in contracts/src/DepositFactory.sol. */
export const depositFactoryAbi = parseAbi([
  'struct Terms { address merchant; uint16 feeBps; address feeTo; bytes32 ref; }',
  'function depositOf(Terms terms) view returns (address)',
  'function forward(Terms[] payments)',
  'function rescue(Terms terms, address other)',
  'function token() view returns (address)',
  'function implementation() view returns (address)',
]);

/** topics[0] of `Forwarded`; topics[1] is the deposit address, the data are the merchant's part and the fee. */
export const FORWARDED_TOPIC = toEventSelector('Forwarded(address,bytes32,address,uint256,uint256)');

/** topics[0] of `Rescued`; topics[1] is the deposit address, topics[2] the token, the data are the amount. */
export const RESCUED_TOPIC = toEventSelector('Rescued(address,address,uint256)');

function toTuple(terms: DepositTerms) {
  return {
    merchant: terms.merchant,
    feeBps: terms.feeBasisPoints,
    feeTo: terms.feeWallet,
    ref: terms.reference,
  };
}

export function encodeDepositOf(terms: DepositTerms): `0x${string}` {
  return encodeFunctionData({ abi: depositFactoryAbi, functionName: 'depositOf', args: [toTuple(terms)] });
}

/** Call data of a relay call. Throws `RangeError` without terms, and for a rescue of more than one payment. */
export function encodeRelayCall(call: RelayCall): `0x${string}` {
  const [first] = call.terms;
  if (first === undefined) throw new RangeError('a relay call needs the terms of a payment');
  if (call.kind === 'forward') {
    return encodeFunctionData({
      abi: depositFactoryAbi,
      functionName: 'forward',
      args: [call.terms.map(toTuple)],
    });
  }
  if (call.terms.length > 1) throw new RangeError('the factory rescues one payment at a time');
  return encodeFunctionData({
    abi: depositFactoryAbi,
    functionName: 'rescue',
    args: [toTuple(first), call.token],
  });
}
