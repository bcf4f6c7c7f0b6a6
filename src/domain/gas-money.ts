/** What the relayer pays for its transactions with: the chain's own coin, counted in wei. */

const WEI_PER_POL = 10n ** 18n;
const WEI_PER_MILLIONTH_POL = 10n ** 12n;

/** One POL: a full batch takes about seven million gas, so that two of them are left at usual fees (60 gwei). */
export const LOW_GAS_WEI = WEI_PER_POL;

/** An amount in POL, to be read and not to be counted with: cut off after six decimals. */
export function polOf(wei: bigint): number {
  return Number(wei / WEI_PER_MILLIONTH_POL) / 1e6;
}
