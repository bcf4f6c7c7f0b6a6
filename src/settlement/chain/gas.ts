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
    // Not "pending", because that state may already include the transaction that this call replaces.
    gas = await rpc.call('eth_estimateGas', [to === null ? { from, data } : { from, to, data }, 'latest']);
  } catch (error) {
    const reason = revertReasonOf(error);
    if (reason === null) throw error;
    return new CallRevertedError(`the call would fail: ${reason}`, { cause: error });
  }
  if (gas <= MAXIMUM_TRANSACTION_GAS) return gas;
  return new CallRevertedError(`the call needs ${gas} gas, a transaction may use ${MAXIMUM_TRANSACTION_GAS}`);
}

/** Returns the gas limit for one host's estimate. Throws `CallRevertedError` if the call would fail. */
export function limitOf(estimate: Estimate): bigint {
  if (typeof estimate !== 'bigint') throw estimate;
  return gasLimitFor(estimate);
}

function isPlausible(estimate: Estimate, figure: bigint): boolean {
  return typeof estimate === 'bigint' && estimate >= leastPlausibleGas(figure) && estimate <= figure * 3n;
}

/**
 * Returns the gas limit for a call, where `figure` is our own estimate. Uses one host's estimate if it is between half
 * and three times the figure. Any other estimate, or a failure, needs a second host. If hosts contradict each other,
 * uses the figure. Throws `CallRevertedError` for a confirmed failure, `ChainUnavailableError` for an unconfirmed one.
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

/** Returns whether hosts agree on a failure, or on the gas to within an eighth. Their newest blocks may differ. */
function isSame(one: Estimate, other: Estimate): boolean {
  if (typeof one !== 'bigint' || typeof other !== 'bigint') return typeof one === typeof other;
  const [less, more] = one < other ? [one, other] : [other, one];
  return (more - less) * 8n <= more;
}

export const WEI_PER_POL = 10n ** 18n;
const WEI_PER_MILLIONTH_POL = 10n ** 12n;

/** Gas per batch, and per release to a wallet that never held USDC (measured since PIP-88: 52,697 and 93,797). */
export const SHARED_GAS = 55_000n;
export const RELEASE_GAS = 95_500n;

/** Returns our gas figure for this many releases in one transaction. Only empty deposits need less than half. */
export function releaseGas(count: number): bigint {
  return SHARED_GAS + RELEASE_GAS * BigInt(count);
}

/** Returns the lowest gas limit that can be enough for a call, where `figure` is our own estimate. */
export function leastPlausibleGas(figure: bigint): bigint {
  return figure / 2n;
}

/** Polygon's cap on the gas of a transaction (EIP-7825). */
export const MAXIMUM_TRANSACTION_GAS = 2n ** 25n;

/** Adds a quarter, up to the network's cap, because the state may change before the call is mined. */
export function gasLimitFor(gas: bigint): bigint {
  return smaller((gas * 5n) / 4n, MAXIMUM_TRANSACTION_GAS);
}

const RELEASES_OF_FULL_BATCH = 100n;
/** Gas limit of a full batch: a hundred releases to wallets that never held USDC, plus a quarter. */
const FULL_BATCH_GAS = gasLimitFor(releaseGas(Number(RELEASES_OF_FULL_BATCH)));

/** Full batches that the relayer's balance should cover at any time. */
const BATCHES_IN_RESERVE = 3n;

/** Returns the balance below which the relayer needs POL: `BATCHES_IN_RESERVE` full batches at the current fee. */
export function lowGasWei({ maxFeePerGas }: Pick<FeeQuote, 'maxFeePerGas'>): bigint {
  return BATCHES_IN_RESERVE * FULL_BATCH_GAS * maxFeePerGas;
}

/** Returns about how many payments a balance can release at the current fee, in full batches. */
export function releasesPaidBy(balanceWei: bigint, { maxFeePerGas }: Pick<FeeQuote, 'maxFeePerGas'>): number {
  return Number((balanceWei * RELEASES_OF_FULL_BATCH) / (FULL_BATCH_GAS * maxFeePerGas));
}

/** Converts wei to POL for display, truncated after six decimals. */
export function polOf(wei: bigint): number {
  return Number(wei / WEI_PER_MILLIONTH_POL) / 1e6;
}
