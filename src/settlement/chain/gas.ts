import type { Address } from '../../payment/address.ts';
import { smaller } from '../../payment/money.ts';
import { CallRevertedError, ChainUnavailableError, type FeeQuote } from './chain.ts';
import type { ChainEndpoint, EndpointRotation } from './endpoint-rotation.ts';
import { revertReasonOf } from './revert-reason.ts';

export interface EstimatedCall {
  readonly from: Address;
  /** Null to deploy `data`. */
  readonly to: Address | null;
  readonly data: string;
}

/** One host's answer: the gas that the call needs, or why it would fail. */
type Estimate = bigint | CallRevertedError;

export async function readEstimate(
  { rpc }: Pick<ChainEndpoint, 'rpc'>,
  call: EstimatedCall,
): Promise<Estimate> {
  const { from, to, data } = call;
  let gas: bigint;
  try {
    // Not "pending", because there the transaction that this call replaces would already have done its work.
    gas = await rpc.call('eth_estimateGas', [to === null ? { from, data } : { from, to, data }, 'latest']);
  } catch (error) {
    const reason = revertReasonOf(error);
    if (reason === null) throw error;
    return new CallRevertedError(`the call would fail: ${reason}`, { cause: error });
  }
  if (gas <= MAXIMUM_TRANSACTION_GAS) return gas;
  return new CallRevertedError(`the call needs ${gas} gas, a transaction may use ${MAXIMUM_TRANSACTION_GAS}`);
}

/** Gas limit from one host's estimate. Throws `CallRevertedError` if the call would fail. */
export function limitOf(estimate: Estimate): bigint {
  if (typeof estimate !== 'bigint') throw estimate;
  return gasLimitFor(estimate);
}

function isPlausible(estimate: Estimate, figure: bigint): boolean {
  return typeof estimate === 'bigint' && estimate >= leastPlausibleGas(figure) && estimate <= figure * 3n;
}

/**
 * Gas limit for a call, where `figure` is our own estimate. One host's estimate between half and three times the figure
 * is used; any other, and a failure, only if a second host agrees. While hosts contradict each other, the figure
 * is used. Throws `CallRevertedError` for a confirmed failure, `ChainUnavailableError` for an unconfirmed one.
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

/** Whether two hosts agree on a failure, or on the gas within an eighth, because their newest blocks may differ. */
function isSame(one: Estimate, other: Estimate): boolean {
  if (typeof one !== 'bigint' || typeof other !== 'bigint') return typeof one === typeof other;
  const [less, more] = one < other ? [one, other] : [other, one];
  return (more - less) * 8n <= more;
}

export const WEI_PER_POL = 10n ** 18n;
const WEI_PER_MILLIONTH_POL = 10n ** 12n;

/** Gas per batch, and per release to a wallet that never held USDC: measured 52,697 and 93,797 since PIP-88. */
export const SHARED_GAS = 55_000n;
export const RELEASE_GAS = 95_500n;

/** Our estimate of the gas for this many releases in one transaction. Only repeated releases need less than half. */
export function releaseGas(count: number): bigint {
  return SHARED_GAS + RELEASE_GAS * BigInt(count);
}

/** Lowest gas limit that can be enough for a call with this estimate. */
export function leastPlausibleGas(figure: bigint): bigint {
  return figure / 2n;
}

/** Polygon's cap on the gas of a transaction (EIP-7825). */
export const MAXIMUM_TRANSACTION_GAS = 2n ** 25n;

/** Adds a margin of a quarter, because the state may change before the call is mined; at most the network's cap. */
export function gasLimitFor(gas: bigint): bigint {
  return smaller((gas * 5n) / 4n, MAXIMUM_TRANSACTION_GAS);
}

const RELEASES_OF_FULL_BATCH = 100n;
/** Gas that a full batch reserves: a hundred releases to wallets that never held USDC, and a quarter more. */
const FULL_BATCH_GAS = gasLimitFor(releaseGas(Number(RELEASES_OF_FULL_BATCH)));

/** Full batches that the relayer's balance should cover at any time. */
const BATCHES_IN_RESERVE = 3n;

/** Balance below which the relayer needs POL: `BATCHES_IN_RESERVE` full batches at the current fee. */
export function lowGasWei({ maxFeePerGas }: Pick<FeeQuote, 'maxFeePerGas'>): bigint {
  return BATCHES_IN_RESERVE * FULL_BATCH_GAS * maxFeePerGas;
}

/** Approximate number of payments that a balance releases at the current fee, in full batches. */
export function releasesPaidBy(balanceWei: bigint, { maxFeePerGas }: Pick<FeeQuote, 'maxFeePerGas'>): number {
  return Number((balanceWei * RELEASES_OF_FULL_BATCH) / (FULL_BATCH_GAS * maxFeePerGas));
}

/** An amount in POL for display, truncated after six decimals. */
export function polOf(wei: bigint): number {
  return Number(wei / WEI_PER_MILLIONTH_POL) / 1e6;
}
