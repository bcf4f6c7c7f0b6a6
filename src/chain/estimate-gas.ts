import type { Address } from '../domain/payout-address.ts';
import { CallRevertedError, ChainUnavailableError } from '../domain/ports/chain.ts';
import type { JsonRpcClient } from './json-rpc.ts';
import { revertReasonOf } from './revert-reason.ts';
import { readQuantity } from './rpc-values.ts';

/** Polygon takes no transaction with more gas (EIP-7825). */
const MAXIMUM_TRANSACTION_GAS = 2n ** 25n;

/** The state may change between the estimate and the block: a quarter more. */
function withMargin(gas: bigint): bigint {
  return (gas * 5n) / 4n;
}

/** The endpoint's estimate with a margin, never above the network's cap. Throws `CallRevertedError`. */
export async function estimateGas(
  rpc: JsonRpcClient,
  transaction: { readonly from: Address; readonly to: Address | null; readonly data: string },
): Promise<bigint> {
  const { from, to, data } = transaction;
  let gas: bigint;
  try {
    const call = to === null ? { from, data } : { from, to, data };
    // Not on top of what waits: a transaction that this one is to replace would have done its work already.
    const answer = await rpc.call('eth_estimateGas', [call, 'latest']);
    gas = readQuantity(answer, 'gas estimate');
  } catch (error) {
    const reason = revertReasonOf(error);
    if (reason === null) throw error;
    throw new CallRevertedError(`the call would fail: ${reason}`, { cause: error });
  }
  if (gas > MAXIMUM_TRANSACTION_GAS) {
    throw new CallRevertedError(
      `the call needs ${gas} gas, a transaction may use ${MAXIMUM_TRANSACTION_GAS}`,
    );
  }
  if (gas === 0n) throw new ChainUnavailableError(`${rpc.label} estimated no gas at all`);
  const generous = withMargin(gas);
  return generous < MAXIMUM_TRANSACTION_GAS ? generous : MAXIMUM_TRANSACTION_GAS;
}
