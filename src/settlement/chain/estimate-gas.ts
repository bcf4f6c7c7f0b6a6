import type { Address } from '../../payment/address.ts';
import { gasLimitFor, leastPlausibleGas, MAXIMUM_TRANSACTION_GAS } from '../gas-balance.ts';
import { CallRevertedError, ChainUnavailableError } from './chain.ts';
import type { ChainEndpoint, EndpointRotation } from './endpoint-rotation.ts';
import { revertReasonOf } from './revert-reason.ts';

export interface EstimatedCall {
  readonly from: Address;
  /** Null deploys `data`. */
  readonly to: Address | null;
  readonly data: string;
}

/** One host's answer: the gas that the call needs, or why it would fail. */
type Estimate = bigint | CallRevertedError;

/** Asks one host for the gas that the call needs. */
export async function readEstimate(
  { rpc }: Pick<ChainEndpoint, 'rpc'>,
  call: EstimatedCall,
): Promise<Estimate> {
  const { from, to, data } = call;
  let gas: bigint;
  try {
    // Not on top of pending transactions: one that this call is to replace would already have done its work.
    gas = await rpc.call('eth_estimateGas', [to === null ? { from, data } : { from, to, data }, 'latest']);
  } catch (error) {
    const reason = revertReasonOf(error);
    if (reason === null) throw error;
    return new CallRevertedError(`the call would fail: ${reason}`, { cause: error });
  }
  if (gas <= MAXIMUM_TRANSACTION_GAS) return gas;
  return new CallRevertedError(`the call needs ${gas} gas, a transaction may use ${MAXIMUM_TRANSACTION_GAS}`);
}

/** Gas limit from one host's estimate. Throws `CallRevertedError`. */
export function limitOf(estimate: Estimate): bigint {
  if (typeof estimate !== 'bigint') throw estimate;
  return gasLimitFor(estimate);
}

function isPlausible(estimate: Estimate, figure: bigint): boolean {
  return typeof estimate === 'bigint' && estimate >= leastPlausibleGas(figure) && estimate <= figure * 3n;
}

/**
 * Gas limit for a call, where `figure` is our own estimate. One host's estimate between half and three times the figure
 * counts; any other, and a failure, counts where a second host agrees or there is one host only. While hosts contradict
 * each other, the figure counts. Throws `CallRevertedError`, and `ChainUnavailableError` where one of several hosts
 * reports a failure and no other answers.
 */
export async function estimateGasLimit(
  rotation: EndpointRotation,
  hosts: number,
  call: EstimatedCall,
  figure: bigint,
): Promise<bigint> {
  const ask = (endpoint: ChainEndpoint) => readEstimate(endpoint, call);
  const first = await rotation.useAny(ask);
  if (hosts === 1 || isPlausible(first, figure)) return limitOf(first);
  return limitOf(chooseEstimate(await rotation.useEach(ask, isSame), figure));
}

/** Chooses the estimate that counts; see `estimateGasLimit`. */
function chooseEstimate(estimates: readonly Estimate[], figure: bigint): Estimate {
  const gas = estimates
    .filter((estimate) => typeof estimate === 'bigint')
    .toSorted((one, other) => Number(other - one));
  const [revert, secondRevert] = estimates.filter((estimate) => typeof estimate !== 'bigint');
  const confirmed = gas.slice(1).findIndex((less, index) => isSame(gas[index] as bigint, less));
  if (confirmed >= 0) return gas[confirmed] as bigint;
  if (secondRevert !== undefined) return secondRevert;
  if (revert !== undefined && gas.length === 0) {
    throw new ChainUnavailableError(`no second host confirms that ${revert.message}`, { cause: revert });
  }
  return gas.find((estimate) => isPlausible(estimate, figure)) ?? figure;
}

/** Whether two hosts agree: on a failure, or on the gas within an eighth, as their newest blocks may differ. */
function isSame(one: Estimate, other: Estimate): boolean {
  if (typeof one !== 'bigint' || typeof other !== 'bigint') return typeof one === typeof other;
  const [less, more] = one < other ? [one, other] : [other, one];
  return (more - less) * 8n <= more;
}
